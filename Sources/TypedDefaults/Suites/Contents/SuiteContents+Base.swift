import SettingsFile

extension SuiteContents {
    /// The values before the edits: read from the suite on demand during an update, and otherwise
    /// complete.
    final class Base: Sendable {
        private enum Source {
            case suite(DefaultsSuite)
            case values([ByteString: PropertyList], Histories)
        }
        private struct State {
            var source: Source
            /// Why the suite could not be read.
            var failure: DefaultsError?
            /// Values that could not be decoded, in whole or in part.
            var faults: [Fault] = []
            /// What the present step of a migration has read, by key.
            var read: [ByteString: StepReads] = [:]
            /// The keys whose values the backend itself cannot read, and the errors.
            var unreadable: [ByteString: DefaultsError] = [:]
        }
        /// The reads of one key by a step of a migration.
        private struct StepReads {
            var types: Set<ObjectIdentifier> = []
            /// Whether one of them could decode the whole value.
            var isWhole = false
        }
        private let state: Locked<State>
        /// The prefix of the scope that the values come from; `""` if there is none.
        private let prefix: String

        /// Creates a base of complete values.
        ///
        /// - Parameter unreadable: The errors of other values that the backend itself cannot read.
        init(
            _ values: [ByteString: PropertyList], unreadable: [ByteString: DefaultsError] = [:],
            histories: Histories = Histories(isComplete: false), prefix: String = ""
        ) {
            state = Locked(State(source: .values(values, histories), unreadable: unreadable))
            self.prefix = prefix
        }

        /// Creates a base that reads from a suite until ``complete()`` is called. The caller holds
        /// the writer lock of the suite.
        init(reading suite: DefaultsSuite) {
            state = Locked(State(source: .suite(suite)))
            prefix = suite.withPrefix("")
        }

        /// The suite that values are read from; `nil` if the base is complete.
        private var suite: DefaultsSuite? {
            if case .suite(let suite) = state.withLock({ $0.source }) { suite } else { nil }
        }

        /// Returns the value of a key.
        ///
        /// - Parameter includesFallback: Whether to return a fallback value, such as one that was
        ///   registered with `UserDefaults`, if no value is stored.
        func value(_ name: String, includesFallback: Bool) -> PropertyList? {
            switch state.withLock({ $0.source }) {
            case .values(let values, _): return values[ByteString(name)]
            case .suite(let suite):
                let (backend, key) = (suite.core.backend, suite.withPrefix(name))
                guard !Histories.isHistory(key) else { return nil }
                do throws(DefaultsError) {
                    if !includesFallback, try suite.core.isRegistered(key) { return nil }
                    return try backend.value(forKey: key)
                } catch {
                    if error.kind == .unreadable {
                        state.withLock { $0.unreadable[ByteString(name)] = error }
                    } else {
                        fail(error.about(key: key))
                    }
                    return nil
                }
            }
        }

        var values: [ByteString: PropertyList] { all.values }
        var histories: Histories { all.histories }

        private var all: (values: [ByteString: PropertyList], histories: Histories) {
            switch state.withLock({ $0.source }) {
            case .values(let values, let histories): return (values, histories)
            case .suite(let suite):
                do throws(DefaultsError) {
                    let (values, unreadable, histories) = try suite.values()
                    state.withLock { $0.unreadable.merge(unreadable) { $1 } }
                    return (values, histories)
                } catch {
                    fail(error)
                    return ([:], Histories(isComplete: false))
                }
            }
        }

        /// Whether the contents are those of an update that is under way.
        var isOfUpdate: Bool { suite != nil }

        /// Returns the steps of migrations that the values of a scope have been through; `nil` if
        /// they are not known.
        func steps(of scope: ByteString) throws(DefaultsError) -> [String]? {
            switch state.withLock({ $0.source }) {
            case .values(_, let histories): return try histories.steps(of: scope)
            case .suite(let suite):
                let name = Histories.key(ofScope: scope)
                var histories = Histories(isComplete: true)
                if let history = try suite.stored(name) { histories.add(history, of: scope) }
                return try histories.steps(of: scope)
            }
        }

        /// Returns the value of a layer behind the stored ones, which counts while none is stored.
        func behind<Value>(_ name: String, _ declaration: Declaration<Value>) -> LayeredValue.Value? {
            suite.flatMap { $0.core.behind($0.withPrefix(name), declaration.conversion) }
        }

        /// Returns whether a value is stored that the backend itself cannot read.
        func isUnreadable(_ name: String) -> Bool {
            _ = value(name, includesFallback: false)
            return unreadable[ByteString(name)] != nil
        }

        var allUnreadable: [ByteString: DefaultsError] {
            _ = values
            return unreadable
        }

        /// Returns the keys for the first copy of a value that cannot be read, and for the latest.
        func copyKeys(of name: String) -> (first: String, latest: String) {
            guard let suite else { return SetAside.copyKeys(of: name, keyLimit: RecordFormat.keyLimit) }
            let keys = SetAside.copyKeys(of: suite.withPrefix(name), keyLimit: suite.core.traits.keyLimit)
            return (suite.withoutPrefix(keys.first), suite.withoutPrefix(keys.latest))
        }

        /// Returns whether a key is that of a history, which may begin in the prefix of the scope.
        func isHistory(_ name: String) -> Bool { Histories.isHistory(prefix.isEmpty ? name : key(of: name)) }

        /// Returns the key in the suite: with the prefix of a scope.
        func key(of name: String) -> String { prefix + name }

        func withWholeKey(_ error: DefaultsError) -> DefaultsError {
            var error = error
            error.key = error.key.map(key)
            return error
        }

        /// Declares a key to the suite that is read or written as the type of the declaration.
        func declare<Value>(_ name: String, _ declaration: Declaration<Value>) {
            if let suite { suite.core.declare(suite.withPrefix(name), declaration.form) }
        }

        /// Reads everything, so that copies of the contents stay as they are now.
        func complete() {
            let all = all
            state.withLock { $0.source = .values(all.values, all.histories) }
        }

        func noteRead(of name: String, as type: Any.Type, isWhole: Bool) {
            state.withLock { state in
                state.read[ByteString(name), default: StepReads()].types.insert(ObjectIdentifier(unwrapped(type)))
                if isWhole { state.read[ByteString(name)]?.isWhole = true }
            }
        }
        func wasRead(_ name: String) -> Bool { state.withLock { $0.read[ByteString(name)]?.isWhole == true } }
        func wasRead(_ name: String, onlyAs type: Any.Type) -> Bool {
            let type = ObjectIdentifier(unwrapped(type))
            return state.withLock { $0.read[ByteString(name)]?.types == [type] }
        }
        /// Forgets what the previous step has read.
        func beginStep() { state.withLock { $0.read = [:] } }

        /// A value that could not be decoded.
        private struct Fault {
            let name: ByteString
            let isWhole: Bool
            let errors: [DefaultsError]
            /// `nil` if the backend itself cannot read it.
            let stored: PropertyList?
            /// `nil` if the contents were not read from a suite.
            let slot: Slot?
        }

        /// Records why a value, or parts of it, could not be decoded.
        func note<Value>(
            _ errors: [DefaultsError], isWhole: Bool, of stored: PropertyList?, _ name: String,
            _ declaration: Declaration<Value>
        ) {
            let slot = suite.map { $0.core.slot($0.withPrefix(name), declaration.conversion) }
            let fault = Fault(name: ByteString(name), isWhole: isWhole, errors: errors, stored: stored, slot: slot)
            state.withLock { state in
                state.faults.removeAll { $0.name == fault.name && $0.isWhole == isWhole && $0.slot === fault.slot }
                state.faults.append(fault)
            }
        }

        /// Returns whether the value of a key could not be decoded when it was read.
        func wasUnreadable(_ name: String) -> Bool {
            state.withLock { $0.faults.contains { $0.isWhole && $0.name == ByteString(name) } }
        }

        /// Reports values that could not be decoded, each once to all readers of the suite.
        ///
        /// - Parameter copied: The keys whose values were copied. Those copies are reported
        ///   separately.
        func reportFaults(in core: SuiteCore, except copied: [String?]) {
            for fault in state.withLock({ $0.faults }) where !copied.contains(fault.name.string) {
                guard let slot = fault.slot else { continue }
                if let stored = fault.stored {
                    core.reportFaults(fault.errors, of: stored, in: slot)
                } else {
                    core.reportOnce(fault.errors[0].about(key: slot.key), of: slot)
                }
            }
        }

        private func fail(_ error: DefaultsError) { state.withLock { $0.failure = $0.failure ?? error } }

        var failure: DefaultsError? { state.withLock { $0.failure } }
        var unreadable: [ByteString: DefaultsError] { state.withLock { $0.unreadable } }
    }
}
