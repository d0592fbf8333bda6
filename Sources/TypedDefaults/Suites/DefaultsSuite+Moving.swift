import SettingsFile

extension DefaultsSuite {
    /// Moves stored values to another suite, such as one in an app group.
    ///
    /// ```swift
    /// let group = try DefaultsSuite(name: "group.com.example")
    /// let report = try DefaultsSuite.standard.move(.all, to: group)
    /// print(report)
    /// ```
    ///
    /// The values are first stored and flushed in the destination, as one commit, and then removed
    /// from this suite, as one commit. If the process ends in between, both suites have them, and
    /// the next call finishes the move. Call this at each launch, before the first use of the
    /// settings and before ``migrate(_:)``: if there is nothing to move, it only reads. Between a
    /// suite and a scope of it, or two scopes, it is one commit.
    ///
    /// The steps of migrations that this suite has been through stay recorded here as well, as
    /// after ``removeAll(includingHistory:)``.
    ///
    /// A value that the destination already has is never overwritten: an equal one counts as moved,
    /// and any other one keeps the value here. Values are moved as they are stored, under the names
    /// that they have.
    ///
    /// Writers of both suites wait, but not during the flush: a value that is changed in one of the
    /// suites in the meantime counts as kept. On `UserDefaults`, which writes key by key, a move
    /// that was interrupted in the middle is also finished by the next call. Moving a suite to
    /// itself does nothing.
    ///
    /// On backends whose reads may lag, the writers of other machines do not wait. A value that one
    /// of them changes before the move removes it here counts as kept, too. But never move in both
    /// directions at the same time on two machines: each could remove what the other one has moved.
    ///
    /// - Returns: Which keys were moved, and which were not.
    /// - Throws: A ``DefaultsError`` if one of the suites cannot be read or written. Then nothing
    ///   is lost, and you can call this again.
    @discardableResult
    public func move(_ selection: Selection, to destination: DefaultsSuite) throws -> MoveReport {
        var transfer = Transfer(selection, from: current, to: destination.current, isMove: true)
        return try transfer.run()
    }

    /// Copies stored values to another suite, as one commit.
    ///
    /// This is ``move(_:to:)`` without the removal. A value that the destination already has, even
    /// an equal one, counts as kept.
    ///
    /// - Returns: Which keys were copied, as ``MoveReport/moved``, and which were not.
    /// - Throws: A ``DefaultsError`` if this suite cannot be read or the destination cannot be
    ///   written. Then nothing is copied.
    @discardableResult
    public func copy(_ selection: Selection, to destination: DefaultsSuite) throws -> MoveReport {
        var transfer = Transfer(selection, from: current, to: destination.current, isMove: false)
        return try transfer.run()
    }

    /// Which values to move or copy.
    public struct Selection: Sendable {
        enum Names {
            case all
            case named([String])
            case matching(@Sendable (String) -> Bool)
        }
        let names: Names

        /// All stored values. Their history, of the suite and of its scopes, comes along if the
        /// destination has neither values nor history. Otherwise, the values are refused if their
        /// ``SuiteContents/history`` is another one.
        public static let all = Selection(names: .all)

        /// The given keys. Their history does not come along: see to it that they have the form
        /// that the destination is in.
        public static func keys(_ keys: some Sequence<String>) -> Selection {
            Selection(names: .named(Array(keys)))
        }

        /// The stored keys that the closure returns true for. Their history does not come along, as
        /// for ``keys(_:)-(_)``.
        ///
        /// - Parameter isSelected: Takes the key, without the prefix of a scope. It can be called
        ///   more than once for a key, while the writers of the suites wait.
        public static func `where`(_ isSelected: @escaping @Sendable (_ key: String) -> Bool) -> Selection {
            Selection(names: .matching(isSelected))
        }
    }

    /// The result of a move or a copy, by keys without the prefix of a scope. Its description has a
    /// line for each key, and no value.
    public struct MoveReport: Sendable, Equatable, DiscreetlyDescribed {
        /// The keys that were moved or copied, sorted. A move includes those whose values the
        /// destination already had, which it removed here.
        public let moved: [String]
        /// The keys for which the destination already had a value, and the keys whose values were
        /// changed during the move, sorted. Both suites keep theirs.
        public let kept: [String]
        /// The errors of values that were not moved, because this version cannot read them, the
        /// destination cannot store them or an administrator provides them. One error stands for
        /// all values if none is moved, because they are of another version than those in the
        /// destination. The errors name the full key, prefix included, in this suite.
        public let refused: [DefaultsError]

        var summary: String {
            (moved.map { "moved “\($0)”" } + kept.map { "kept “\($0)”" } + refused.map(\.description))
                .joined(separator: "\n")
        }
    }
}

/// A move or a copy between two suites.
private struct Transfer {
    private let selection: DefaultsSuite.Selection
    private let source: DefaultsSuite
    private let destination: DefaultsSuite
    private let isMove: Bool
    /// Whether an equal value in the destination is another one, which an earlier move has stored.
    private var acceptsEqualValues: Bool
    private var isWithinOneSuite: Bool { source.core === destination.core }

    init(_ selection: DefaultsSuite.Selection, from source: DefaultsSuite, to destination: DefaultsSuite, isMove: Bool)
    {
        (self.selection, self.source, self.destination, self.isMove) = (selection, source, destination, isMove)
        acceptsEqualValues = isMove && (source.core === destination.core || source.core.settingsFile != nil)
    }

    /// What happens to each key.
    private struct Plan {
        /// The values to move, and whether the destination already has them.
        var moved: [(name: String, value: PropertyList, isThere: Bool)] = []
        var kept: [String] = []
        var refused: [DefaultsError] = []
        /// What changes in the histories of the destination.
        var histories: [ByteString: [String]] = [:]

        var report: DefaultsSuite.MoveReport {
            DefaultsSuite.MoveReport(
                moved: moved.map(\.name).sortedByBytes(), kept: kept.sortedByBytes(), refused: refused)
        }
    }

    mutating func run() throws(DefaultsError) -> DefaultsSuite.MoveReport {
        for suite in [source, destination] { _ = try suite.core.catchUp() }
        // Without write access, so that a call at each launch costs little and creates no file.
        guard source != destination, case let names = try storedNames(), !names.isEmpty else { return Plan().report }
        if isMove, !acceptsEqualValues, try hasEqualValue(names) {
            guard try !isOnePlace() else { return Plan().report }
            acceptsEqualValues = true
        }
        var plan = try write { () throws(DefaultsError) in
            var plan = isMove ? try makePlan() : try source.consistently { () throws(DefaultsError) in try makePlan() }
            if isMove, !isWithinOneSuite {
                try source.core.commitNothing(reading: plan.moved.map { source.withPrefix($0.name) })
            }
            try store(&plan)
            return plan
        }
        guard isMove, !isWithinOneSuite, !plan.moved.isEmpty else { return plan.report }
        // Flush first, so that no value is removed here that a power failure could take from the
        // destination.
        try destination.core.synchronize()
        try write { () throws(DefaultsError) in
            try destination.core.commitNothing(reading: keysRead(plan))
            // A move in the opposite direction may have removed the values in the destination.
            for (name, value, _) in plan.moved {
                let (own, other) = (try source.stored(name), try destination.stored(name))
                guard own != .success(value) || other != .success(value) else { continue }
                plan.kept.append(name)
                plan.moved.removeAll { $0.name.hasSameBytes(as: name) }
            }
            if !plan.moved.isEmpty { try source.core.commit(removals(plan)) }
        }
        return plan.report
    }

    /// Runs `body` as the only writer of the suites, in an order that is the same in all processes,
    /// so that two opposite moves do not wait for each other.
    private func write<Result>(_ body: () throws(DefaultsError) -> Result) throws(DefaultsError) -> Result {
        guard isMove, !isWithinOneSuite else { return try destination.core.write(body) }
        let cores = [source.core, destination.core].sorted {
            ($0.traits.location ?? "", ObjectIdentifier($0)) < ($1.traits.location ?? "", ObjectIdentifier($1))
        }
        return try cores[0].write { () throws(DefaultsError) in try cores[1].write(body) }
    }

    private func makePlan() throws(DefaultsError) -> Plan {
        var plan = Plan()
        for name in try storedNames() {
            guard let stored = try source.stored(name) else { continue }
            if isMove, source.core.backend.isManaged(source.withPrefix(name)) {
                plan.refused.append(
                    DefaultsError(
                        .managed, key: source.withPrefix(name),
                        reason: "an administrator manages the value, so it cannot be moved"))
                continue
            }
            do throws(DefaultsError) {
                let value = try stored.get()
                if try isTaken(name) {
                    plan.kept.append(name)
                } else {
                    plan.moved.append((name, value, try destination.stored(name) != nil))
                }
            } catch {
                guard error.kind == .unreadable else { throw error }
                plan.refused.append(error)
            }
        }
        do throws(DefaultsError) { plan.histories = try histories(plan) } catch {
            guard error.kind == .refused else { throw error }
            var refusal = error
            refusal.key = error.key.map(source.withPrefix)
            plan = Plan(refused: [refusal])
        }
        return plan
    }

    /// Returns what changes in the histories of the destination. Throws if its values would be of
    /// two versions.
    private func histories(_ plan: Plan) throws(DefaultsError) -> [ByteString: [String]] {
        guard case .all = selection.names, !plan.moved.isEmpty else { return [:] }
        let kept = try destination.settingsInScope()
            .filter { !(isMove && isWithinOneSuite && source.isInScope($0)) }
            .map { ByteString(destination.withoutPrefix($0)) }
        let (old, new) = (try histories(of: source, except: destination), try histories(of: destination))
        return try new.changes(adding: old, with: plan.moved.map { ByteString($0.name) }, keeping: kept)
    }

    /// - Parameter other: A suite whose scopes do not count.
    private func histories(
        of suite: DefaultsSuite, except other: DefaultsSuite? = nil
    ) throws(DefaultsError) -> Histories {
        var histories = Histories(isComplete: true)
        for key in try suite.keysInScope() {
            if let other, isWithinOneSuite, suite.isInScope(other.withPrefix("")), other.isInScope(key) { continue }
            let name = suite.withoutPrefix(key)
            guard let scope = Histories.scope(ofRecord: name), let record = try suite.stored(name) else { continue }
            histories.add(record, of: scope)
        }
        return histories
    }

    /// Returns whether the destination has a value for the setting that a move would hide or
    /// contradict.
    private func isTaken(_ name: String) throws(DefaultsError) -> Bool {
        if destination.core.backend.isManaged(destination.withPrefix(name)) { return true }
        let (own, other) = (try source.stored(name)?.get(), try destination.stored(name))
        return other != nil && (!acceptsEqualValues || own.map { .success($0) } != other)
    }

    /// Stores the moved values in the destination, as one commit. Values that the destination
    /// refuses stay.
    private func store(_ plan: inout Plan) throws(DefaultsError) {
        while true {
            // First the histories, for backends that store key by key and may be interrupted: only
            // those of scopes without values change.
            var edits: [Edit] = []
            for (scope, steps) in plan.histories where !plan.moved.isEmpty {
                edits.append(Edit(destination.withPrefix(Histories.key(ofScope: scope)), Histories.record(of: steps)))
            }
            edits += plan.moved.filter { !$0.isThere }.map { Edit(destination.withPrefix($0.name), $0.value) }
            if isMove, isWithinOneSuite { edits += removals(plan) }
            let reads = keysRead(plan)
            guard !edits.isEmpty else { return try destination.core.commitNothing(reading: reads) }
            do throws(DefaultsError) { return try destination.core.commit(edits, reading: reads) } catch {
                guard [.refused, .managed].contains(error.kind), let key = error.key,
                    let refused = plan.moved.first(where: { destination.withPrefix($0.name).hasSameBytes(as: key) })
                else { throw error }
                var refusal = error
                refusal.key = source.withPrefix(refused.name)
                plan.refused.append(refusal)
                plan.moved.removeAll { $0.name.hasSameBytes(as: refused.name) }
            }
        }
    }

    /// The keys in the suite of the destination that the plan depends on; `nil` for all keys.
    private func keysRead(_ plan: Plan) -> [String]? {
        // The histories are those of all values.
        if case .all = selection.names { return nil }
        let names = plan.moved.map(\.name) + plan.kept
        return names.map(destination.withPrefix) + (isWithinOneSuite ? names.map(source.withPrefix) : [])
    }

    /// The edits that remove the moved values from the source.
    private func removals(_ plan: Plan) -> [Edit] {
        // Within one suite, the same key may also be the key of a moved value in the destination.
        let moved = isWithinOneSuite ? Set(plan.moved.map { ByteString(destination.withPrefix($0.name)) }) : []
        return plan.moved.map { Edit(source.withPrefix($0.name), .remove) }
            .filter { !moved.contains(ByteString($0.key)) }
    }

    private func hasEqualValue(_ names: [String]) throws(DefaultsError) -> Bool {
        for name in names {
            if case .success(let value)? = try source.stored(name), try destination.stored(name) == .success(value) {
                return true
            }
        }
        return false
    }

    /// The prefix of keys that show whether two suites are stored in one place. A move in the
    /// opposite direction must not take them for settings.
    private static let mark = "TypedDefaults-moving-"

    /// Returns whether both suites are stored in one place, as two objects for one domain of
    /// `UserDefaults` may be. There, all values would count as moved.
    private func isOnePlace() throws(DefaultsError) -> Bool {
        let name = Self.mark + "\(UInt64.random(in: 0 ... .max))"
        func store(_ value: PropertyList?) throws(DefaultsError) {
            try destination.core.write { () throws(DefaultsError) in
                try destination.core.commit([Edit(destination.withPrefix(name), value)])
            }
        }
        try store(true)
        let isOnePlace = try source.core.write { () throws(DefaultsError) in
            // If reads lag, the source must first have seen what is stored.
            try source.core.commitNothing(reading: [source.withPrefix(name)])
            return try source.stored(name) != nil
        }
        try store(nil)
        return isOnePlace
    }

    /// The keys to move that are stored, sorted.
    private func storedNames() throws(DefaultsError) -> [String] {
        var names: [String] = []
        switch selection.names {
        case .all: names = try source.settingsInScope().map(source.withoutPrefix)
        case .matching(let isSelected):
            names = try source.settingsInScope().map(source.withoutPrefix).filter(isSelected)
        case .named(let keys):
            for name in Set(keys.map(ByteString.init)).map(\.string) where try source.stored(name) != nil {
                names.append(name)
            }
        }
        if isWithinOneSuite, source.isInScope(destination.withPrefix("")) {
            // These values are already in the destination, which is a scope of the source.
            names.removeAll { destination.isInScope(source.withPrefix($0)) }
        }
        names.removeAll { $0.hasPrefix(Self.mark) || Histories.isRecord(source.withPrefix($0)) }
        return names.sortedByBytes()
    }
}

extension DefaultsSuite {
    /// Returns the value stored under a key, or the error if it cannot be read; `nil` if no value
    /// is stored.
    func stored(_ name: String) throws(DefaultsError) -> Result<PropertyList, DefaultsError>? {
        let key = withPrefix(name)
        do throws(DefaultsError) {
            if try core.isFallback(key) { return nil }
            return try core.backend.value(forKey: key).map(Result.success)
        } catch {
            guard error.kind == .unreadable else { throw error }
            return .failure(error.about(key: key))
        }
    }
}
