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
    /// settings and before ``migrate(_:)``: if there is nothing to move, it only reads.
    ///
    /// The steps of migrations that this suite has been through stay recorded here as well, as
    /// after ``removeAll(includingHistory:)``.
    ///
    /// A value that the destination already has is never overwritten: an equal one counts as moved,
    /// and any other one keeps the value here. If the two suites may be one place, because both
    /// have the same ``location`` or one of them has none, an equal one counts as kept, too. Values
    /// are moved as they are stored, under the names that they have.
    ///
    /// Other writers wait, but not during the flush: a value that is changed in one of the suites
    /// in the meantime counts as kept. Moving a suite to itself does nothing.
    ///
    /// On backends whose reads may lag, the writers of other machines do not wait. A value that one
    /// of them changes before the move removes it here counts as kept, too. But never move in both
    /// directions at the same time on two machines: each could remove what the other one has moved.
    ///
    /// - Returns: Which keys were moved, and which were not.
    /// - Throws: A ``DefaultsError`` if one of the suites cannot be read or written, or if both are
    ///   in one suite, as scopes are: there, ``SuiteContents/rename(prefix:to:)`` renames the keys.
    ///   Nothing is lost, and you can call this again.
    @discardableResult
    public func move(_ selection: Selection, to destination: DefaultsSuite) throws -> MoveReport {
        let (source, destination) = (current, destination.current)
        let (values, report) = try source.add(selection, to: destination, isMove: true)
        guard !report.moved.isEmpty else { return report }
        // Flush first, so that no value is removed here that a power failure could take from the
        // destination.
        try destination.synchronize()
        var (moved, kept) = ([String](), [String]())
        func remove(from own: inout SuiteContents, ifIn there: SuiteContents) {
            (moved, kept) = ([], report.kept)
            for key in report.moved {
                // A move in the opposite direction may have removed the value there.
                let isThere = own[key] == values[key] && there[key] == values[key]
                if isThere { own[key] = nil }
                if isThere { moved.append(key) } else { kept.append(key) }
            }
        }
        // In an order that is the same in all processes, so that two opposite moves do not wait for
        // each other.
        let cores = [source.core, destination.core].map { ($0.traits.location ?? "", ObjectIdentifier($0)) }
        if cores[0] < cores[1] {
            try source.update { own in try destination.update { remove(from: &own, ifIn: $0) } }
        } else {
            try destination.update { there in try source.update { remove(from: &$0, ifIn: there) } }
        }
        return MoveReport(moved, kept.sortedByBytes(), report.refused)
    }

    /// Copies stored values to another suite, as one commit.
    ///
    /// This is ``move(_:to:)`` without the removal. A value that the destination already has, even
    /// an equal one, counts as kept.
    ///
    /// - Returns: Which keys were copied, as ``MoveReport/moved``, and which were not.
    /// - Throws: A ``DefaultsError`` if this suite cannot be read or the destination cannot be
    ///   written, or if both are in one suite: there, ``SuiteContents/merge(_:)`` adds the contents
    ///   of one scope to another. Then nothing is copied.
    @discardableResult
    public func copy(_ selection: Selection, to destination: DefaultsSuite) throws -> MoveReport {
        try current.add(selection, to: destination.current, isMove: false).report
    }

    /// Adds values to the destination, as one commit.
    private func add(
        _ selection: Selection, to destination: DefaultsSuite, isMove: Bool
    ) throws -> (values: SuiteContents, report: MoveReport) {
        var values = try contents()
        var (moved, kept) = ([String](), [String]())
        var refused = values.base.unreadable.filter { selection.includes($0.key.string) }
            .map { $0.value.about(key: withPrefix($0.key.string)) }
        // Without write access, so that a call at each launch costs little and creates no file.
        guard self != destination, values.keys.contains(where: selection.includes) else {
            return (values, MoveReport(moved, kept, refused))
        }
        guard core !== destination.core else {
            throw DefaultsError(
                .refused,
                reason: "both are in one suite; in an update of it, rename(prefix:to:) renames keys, and merge(_:)"
                    + " adds the contents of a scope")
        }
        if isMove { values = try update { $0 } }  // The newest ones, also where reads may lag.
        let names = values.keys.filter(selection.includes)
        let isEqualMoved = isMove && isElsewhere(than: destination)
        do {
            try destination.update { present in
                (moved, kept) = ([], [])
                var added: SuiteContents = [:]
                if selection.isAll { added = values }
                for name in names {
                    let isManaged = [self, destination].contains { $0.core.isManaged($0.withPrefix(name)) }
                    // An equal value is added as well, so that the history comes along.
                    let isTaken = present[name].map { !isEqualMoved || $0 != values[name] }
                    let isKept = isManaged || isTaken ?? present.base.isUnreadable(name)
                    added[name] = isKept ? nil : values[name]
                    if isKept { kept.append(name) } else { moved.append(name) }
                }
                if !moved.isEmpty { try present.merge(added) }
            }
        } catch let error as DefaultsError where error.kind == .refused {
            (moved, kept, refused) = ([], [], refused + [error])
        }
        return (values, MoveReport(moved, kept, refused))
    }

    /// Whether the suites are known to be in two places.
    private func isElsewhere(than other: DefaultsSuite) -> Bool {
        if [self, other].contains(where: { $0.core.backend is MemoryBackend }) { return true }
        guard let location, let others = other.location else { return false }
        return location != others
    }

    /// Which values to move or copy.
    public struct Selection: Sendable {
        let isAll: Bool
        let includes: @Sendable (String) -> Bool

        /// All stored values. Their history, of the suite and of its scopes, comes along if the
        /// destination has neither values nor history. Otherwise, the values are refused if their
        /// ``SuiteContents/history`` is another one.
        public static let all = Selection(isAll: true) { _ in true }

        /// The given keys. Their history does not come along: see to it that they have the form
        /// that the destination is in.
        public static func keys(_ keys: some Sequence<String>) -> Selection {
            let keys = Set(keys.map(ByteString.init))
            return Selection(isAll: false) { keys.contains(ByteString($0)) }
        }

        /// The stored keys that the closure returns true for. Their history does not come along, as
        /// for ``keys(_:)-(_)``.
        ///
        /// - Parameter isSelected: Takes the key, without the prefix of a scope. It can be called
        ///   more than once for a key.
        public static func `where`(_ isSelected: @escaping @Sendable (_ key: String) -> Bool) -> Selection {
            Selection(isAll: false, includes: isSelected)
        }
    }

    /// The result of a move or a copy, by keys without the prefix of a scope. Its description has a
    /// line for each key, and no value.
    public struct MoveReport: Sendable, Equatable, DiscreetlyDescribed {
        /// The keys that were moved or copied, sorted. A move includes those whose values the
        /// destination already had, which it removed here.
        public let moved: [String]
        /// The keys for which the destination already had a value or an administrator provides one,
        /// and the keys whose values were changed during the move, sorted.
        public let kept: [String]
        /// The errors of values that this version cannot read. Or one error that stands for all
        /// values, if none is moved: the destination refuses one of them, or they are of another
        /// version than those in the destination.
        public let refused: [DefaultsError]

        init(_ moved: [String], _ kept: [String], _ refused: [DefaultsError]) {
            (self.moved, self.kept, self.refused) = (moved, kept, refused)
        }

        var summary: String {
            (moved.map { "moved “\($0)”" } + kept.map { "kept “\($0)”" } + refused.map(\.description))
                .joined(separator: "\n")
        }
    }
}
