import SettingsFile

/// The stored values of a suite as one value: what ``DefaultsSuite/update(_:)`` edits, and what a
/// backup or a migration works on.
///
/// ```swift
/// try suite.update { contents in
///     contents[.quality] = 0.5
///     contents["window"] = ["x": 12, "y": 40]
///     contents.remove(.launchCount)
/// }
/// let backup = try suite.contents()
/// ```
///
/// A value of this type is independent of the suite: changing a copy changes nothing else. Keys are
/// compared by their UTF-8 bytes.
///
/// Subscripts cannot throw. The first failure, such as a value that cannot be stored, is kept and
/// thrown by the call that stores the contents, which then stores nothing.
public struct SuiteContents: Sendable {
    var base: Base
    private(set) var edits: [ByteString: PropertyList?] = [:]
    /// The first failure of a subscript.
    private(set) var failure: DefaultsError?
    /// The keys of the copies of values that the edits overwrite, and why these cannot be read.
    private(set) var copies: [(key: String, error: DefaultsError)] = []
    /// Keys whose values were copied and have been written as values of a type since then, which
    /// were never stored.
    private var copied: Set<ByteString> = []
    /// Whether a step of a migration edits the contents. A key that it reads or writes does not
    /// count as declared with that type, and a value that it has read needs no copy.
    var isMigrating = false

    init(base: Base) { self.base = base }
}

extension SuiteContents {
    /// The value that is stored under a key, as it is stored; `nil` if there is none. Assigning
    /// `nil` removes the key.
    public subscript(name: String) -> PropertyList? {
        get {
            let value = stored(name)
            if isMigrating, value != nil { base.noteRead(of: name, as: PropertyList.self, isWhole: true) }
            return value
        }
        set {
            edits[ByteString(name)] = .some(newValue)
            copied.remove(ByteString(name))
        }
    }

    /// The value of a config type. Returns the default if no value is stored, or none that can be
    /// read.
    public subscript<Config: DefaultConfig>(type: Config.Type) -> Config {
        get { self[stored: type] ?? Config.defaultInstance }
        set { self[stored: type] = newValue }
    }

    /// The stored value of a type that names its own key; `nil` if none is stored, or none that can
    /// be read.
    ///
    /// Assigning `nil` removes the key.
    public subscript<Config: DefaultConvertible>(stored type: Config.Type) -> Config? {
        get { read(Config.key, Declaration<Config>.ofType) }
        set {
            let conversion = Conversion<Config>.convertible.optional
            write(newValue, Config.key, Declaration<Config?>(Config.key, conversion, default: nil))
        }
    }

    /// Removes all values.
    public mutating func removeAll() {
        for key in Array(values.keys) + base.allUnknown.keys { edits[key] = .some(nil) }
        (copies, copied) = ([], [])
    }

    /// The keys whose values this version of the library cannot read, because a newer one wrote
    /// them.
    ///
    /// They appear neither in ``keys`` nor in iteration.
    /// ``DefaultsSuite/replaceContents(with:)`` leaves them as they are.
    public var unreadableKeys: [String] {
        base.allUnknown.keys.filter { edits[$0] == nil }.map(\.string).sortedByBytes()
    }

    /// Whether there is no value.
    public var isEmpty: Bool { values.isEmpty }

    /// The stored keys, sorted by their UTF-8 bytes.
    public var keys: [String] { map(\.key) }

    func stored(_ name: String) -> PropertyList? {
        if let edit = edits[ByteString(name)] { return edit }
        return base.value(name, includesFallback: false)
    }

    /// Returns the value of a key; `nil` if none is stored, or none that can be read.
    func read<Value>(_ name: String, _ declaration: Declaration<Value>) -> Value? {
        do throws(DefaultsError) { return try decoded(name, declaration) } catch {
            if base.failure == nil { base.note([error], isWhole: true, of: found(name), name, declaration) }
            return nil
        }
    }

    /// Returns the value of a key; `nil` if none is stored.
    func load<Value>(_ name: String, _ declaration: Declaration<Value>) throws(DefaultsError) -> Value? {
        do throws(DefaultsError) { return try decoded(name, declaration) } catch {
            throw error.about(key: base.key(of: name))
        }
    }

    private func found(_ name: String) -> PropertyList? {
        if let edit = edits[ByteString(name)] { return edit }
        return base.value(name, includesFallback: true)
    }

    private func decoded<Value>(
        _ name: String, _ declaration: Declaration<Value>
    ) throws(DefaultsError) -> Value? {
        if !isMigrating { base.declare(name, declaration) }
        guard let stored = found(name) else {
            if let failure = base.failure { throw failure }
            if edits[ByteString(name)] == nil, let error = base.unknown[ByteString(name)] { throw error }
            return nil
        }
        let box = try declaration.conversion.box(.tree(stored))
        if let errors = box.recovery?.errors, !errors.isEmpty {
            base.note(errors, isWhole: false, of: stored, name, declaration)
        }
        if isMigrating { base.noteRead(of: name, as: Value.self, isWhole: box.recovery == nil) }
        return box.value
    }

    mutating func write<Value>(_ value: Value, _ name: String, _ declaration: Declaration<Value>) {
        if !isMigrating { base.declare(name, declaration) }
        do throws(DefaultsError) {
            var new = try declaration.conversion.encode(value)
            if let old = stored(name), old != new {
                // A step that has read the value as this type edits it. Otherwise it replaces it.
                let isEdit = !isMigrating || base.wasRead(name, onlyAs: Value.self)
                if isEdit, let tree = new, let recovery = declaration.conversion.recovery(of: old) {
                    let merged = recovery.merged(into: tree)
                    new = merged.new
                    if let error = merged.lost { setAside(old, of: name, error) }
                } else {
                    keep(old, of: name, unlessReadableAs: declaration)
                }
            } else if !isMigrating, edits[ByteString(name)] == .some(nil),
                let old = base.value(name, includesFallback: false)
            {
                // It was removed before, and a write does not overwrite what it cannot read.
                keep(old, of: name, unlessReadableAs: declaration)
            }
            edits[ByteString(name)] = .some(new)
        } catch {
            fail(error.about(key: name))
        }
    }

    mutating func fail(_ error: DefaultsError) { failure = failure ?? error }

    mutating func remove<Value>(_ name: String, _ declaration: Declaration<Value>) {
        if base.wasUnreadable(name), let old = stored(name) {
            keep(old, of: name, unlessReadableAs: declaration)
        }
        edits[ByteString(name)] = .some(nil)
    }

    /// Copies a value that cannot be read before it is overwritten.
    private mutating func keep<Value>(
        _ old: PropertyList, of name: String, unlessReadableAs declaration: Declaration<Value>
    ) {
        // A part at fault was not read.
        if isMigrating, base.wasRead(name) { return }
        do throws(DefaultsError) {
            let box = try declaration.conversion.box(.tree(old))
            if isMigrating, let error = box.recovery?.errors.first { setAside(old, of: name, error) }
        } catch {
            setAside(old, of: name, error)
        }
    }

    /// Copies a value that is about to be overwritten, unless the stored one was copied before.
    mutating func setAside(_ old: PropertyList, of name: String, _ error: DefaultsError) {
        guard copied.insert(ByteString(name)).inserted else { return }
        let (first, latest) = base.copyKeys(of: name)
        let copy = (stored(first).map { $0 == old } ?? !base.isUnknown(first)) ? first : latest
        edits[ByteString(copy)] = .some(old)
        copies.append((copy, error.about(key: name)))
    }

    /// All values after the edits.
    var values: [ByteString: PropertyList] {
        var values = base.values
        for (key, value) in edits { values[key] = value }
        return values
    }
}

extension SuiteContents: Equatable {
    /// Returns whether both hold equal values under the same keys.
    public static func == (lhs: SuiteContents, rhs: SuiteContents) -> Bool { lhs.values == rhs.values }
}

extension SuiteContents: ExpressibleByDictionaryLiteral {
    /// Creates contents from keys and values. If a key occurs more than once, its last value is
    /// used.
    public init(dictionaryLiteral elements: (String, PropertyList)...) {
        base = Base(Dictionary(elements.map { (ByteString($0.0), $0.1) }) { _, last in last })
    }
}

extension SuiteContents: Sequence {
    /// Returns an iterator over keys and values, sorted by the UTF-8 bytes of the keys.
    public func makeIterator() -> some IteratorProtocol<(key: String, value: PropertyList)> {
        values.map { (key: $0.key.string, value: $0.value) }.sortedByBytes().makeIterator()
    }
}

extension SuiteContents: DiscreetlyDescribed {
    /// The number of keys, and no key or value.
    var summary: String { "SuiteContents(\(values.count) keys)" }
}

extension SuiteContents {
    /// The values before the edits: read from the suite on demand during an update, and complete in
    /// every other case.
    final class Base: Sendable {
        private enum Source {
            case suite(DefaultsSuite)
            case values([ByteString: PropertyList])
        }
        private struct State {
            var source: Source
            /// Why the suite could not be read.
            var failure: DefaultsError?
            /// Values that could not be decoded, in whole or in part.
            var faults: [Fault] = []
            /// Keys whose values a step of a migration has read, and as what.
            var read: [ByteString: (types: Set<ObjectIdentifier>, isWhole: Bool)] = [:]
            /// Why the backend itself cannot read values.
            var unknown: [ByteString: DefaultsError] = [:]
            /// The whole keys that were read from a suite whose reads may lag; `nil` if all were.
            var keysRead: [String]? = []
        }
        private let state: Locked<State>
        /// The prefix of the scope from which the values are; `""` if there is none.
        private let prefix: String

        /// Creates a base of complete values.
        ///
        /// - Parameter unknown: Why the backend itself cannot read other values.
        init(_ values: [ByteString: PropertyList], unknown: [ByteString: DefaultsError] = [:], prefix: String = "") {
            state = Locked(State(source: .values(values), unknown: unknown))
            self.prefix = prefix
        }

        /// Creates a base that reads from a suite until ``complete()`` is called. The caller holds
        /// the writer lock of the suite.
        init(reading suite: DefaultsSuite) {
            state = Locked(State(source: .suite(suite)))
            prefix = suite.withPrefix("")
        }

        /// Returns the value of a key.
        ///
        /// - Parameter includesFallback: Whether a value counts that is not stored but that the
        ///   backend returns, such as one that was registered with `UserDefaults`.
        func value(_ name: String, includesFallback: Bool) -> PropertyList? {
            switch state.withLock({ $0.source }) {
            case .values(let values): return values[ByteString(name)]
            case .suite(let suite):
                let (backend, key) = (suite.core.backend, suite.withPrefix(name))
                if suite.core.traits.readsMayLag { state.withLock { $0.keysRead?.append(key) } }
                do throws(DefaultsError) {
                    if !includesFallback, suite.core.traits.hasFallbackValues, try !backend.isStored(key) { return nil }
                    return try backend.value(forKey: key)
                } catch {
                    if error.kind == .unreadable {
                        state.withLock { $0.unknown[ByteString(name)] = error }
                    } else {
                        fail(error.about(key: key))
                    }
                    return nil
                }
            }
        }

        var values: [ByteString: PropertyList] {
            switch state.withLock({ $0.source }) {
            case .values(let values): return values
            case .suite(let suite):
                if suite.core.traits.readsMayLag { state.withLock { $0.keysRead = nil } }
                do throws(DefaultsError) {
                    let (values, unknown) = try suite.values()
                    state.withLock { $0.unknown.merge(unknown) { $1 } }
                    return values
                } catch {
                    fail(error)
                    return [:]
                }
            }
        }

        /// Returns whether a value is stored that the backend itself cannot read.
        func isUnknown(_ name: String) -> Bool {
            _ = value(name, includesFallback: false)
            return unknown[ByteString(name)] != nil
        }

        var allUnknown: [ByteString: DefaultsError] {
            _ = values
            return unknown
        }

        /// Returns the keys for the first copy of a value that cannot be read, and for the latest.
        func copyKeys(of name: String) -> (first: String, latest: String) {
            guard case .suite(let suite) = state.withLock({ $0.source }) else {
                return SetAside.copyKeys(of: name, keyLimit: SettingsFile.keyLimit)
            }
            let keys = SetAside.copyKeys(of: suite.withPrefix(name), keyLimit: suite.core.traits.keyLimit)
            return (suite.withoutPrefix(keys.first), suite.withoutPrefix(keys.latest))
        }

        /// Returns the key in the suite: with the prefix of a scope.
        func key(of name: String) -> String { prefix + name }

        func withWholeKey(_ error: DefaultsError) -> DefaultsError {
            var error = error
            error.key = error.key.map(key)
            return error
        }

        /// Declares a key to the suite that is read or written as the type of the declaration.
        func declare<Value>(_ name: String, _ declaration: Declaration<Value>) {
            guard case .suite(let suite) = state.withLock({ $0.source }) else { return }
            suite.core.declare(suite.withPrefix(name), declaration.form)
        }

        /// Reads everything, so that copies of the contents stay as they are now.
        func complete() {
            let values = values
            state.withLock { $0.source = .values(values) }
        }

        func noteRead(of name: String, as type: Any.Type, isWhole: Bool) {
            let type = ObjectIdentifier(unwrapped(type))
            state.withLock { state in
                let known = state.read[ByteString(name)] ?? ([], false)
                state.read[ByteString(name)] = (known.types.union([type]), known.isWhole || isWhole)
            }
        }
        func wasRead(_ name: String) -> Bool { state.withLock { $0.read[ByteString(name)]?.isWhole == true } }
        func wasRead(_ name: String, onlyAs type: Any.Type) -> Bool {
            let type = ObjectIdentifier(unwrapped(type))
            return state.withLock { $0.read[ByteString(name)]?.types == [type] }
        }
        /// What a step has read counts for that step alone.
        func beginStep() { state.withLock { $0.read = [:] } }

        /// A value that could not be decoded.
        private struct Fault {
            let name: ByteString
            let isWhole: Bool
            let errors: [DefaultsError]
            /// `nil` if the backend itself cannot read it.
            let stored: StoredValue?
            /// `nil` in contents of their own.
            let slot: Slot?
        }

        /// Notes why a value, or parts of it, could not be decoded.
        func note<Value>(
            _ errors: [DefaultsError], isWhole: Bool, of stored: PropertyList?, _ name: String,
            _ declaration: Declaration<Value>
        ) {
            var slot: Slot?
            if case .suite(let suite) = state.withLock({ $0.source }) {
                slot = suite.core.slot(suite.withPrefix(name), declaration.conversion)
            }
            let fault = Fault(
                name: ByteString(name), isWhole: isWhole, errors: errors, stored: stored.map(StoredValue.tree),
                slot: slot)
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
        /// - Parameter copied: Keys whose values were copied, which is reported on its own.
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
        var keysRead: [String]? { state.withLock { $0.keysRead } }
        var unknown: [ByteString: DefaultsError] { state.withLock { $0.unknown } }
    }
}
