import SettingsFile

extension SuiteContents {
    /// The names of the steps of migrations that the values have been through, in order; `nil` if
    /// that is not known.
    ///
    /// It is known for the contents of a suite and for an export of them, and not for a literal or
    /// for JSON that was written by hand. To tell of which version such values are, assign it:
    ///
    /// ```swift
    /// var contents = try SuiteContents(json: json)
    /// contents.history = contents.history ?? ["2.0: one quality for all pictures"]
    /// ```
    ///
    /// The history is no value: it has no key, and does not count in a comparison. It stays when
    /// values are removed or replaced. In an update, assigning `nil` changes nothing.
    public var history: [String]? {
        get { (try? steps(of: Histories.wholeSuite)) ?? nil }
        set { if newValue != nil || !base.isOfUpdate { historyEdits[Histories.wholeSuite] = .some(newValue) } }
    }

    /// Applies a step of a migration unless the values have been through it, and adds its name to
    /// the ``history``. Of values without one, nothing is known, so the step is due.
    ///
    /// A ``DefaultsMigrator`` calls this for each of its steps, and says what a step may do.
    ///
    /// - Returns: Whether the step was due.
    /// - Throws: What `body` throws, why one of its values could not be stored, or a
    ///   ``DefaultsError`` if the history cannot be read. Then the contents stay as they were.
    @discardableResult
    public mutating func migrate(_ name: String, _ body: (inout SuiteContents) throws -> Void) throws -> Bool {
        var names = try steps(of: Histories.wholeSuite) ?? []
        if names.contains(where: { $0.hasSameBytes(as: name) }) { return false }
        var migrated = self
        migrated.resolve()
        migrated.isMigrating = true
        base.beginStep()
        try body(&migrated)
        migrated.resolve()
        if let failure = migrated.failure { throw migrated.base.withWholeKey(failure) }
        // The body may have applied other steps or assigned other contents.
        let others = try migrated.steps(of: Histories.wholeSuite)
        if migrated.base !== base, let others, !migrated.isEmpty, case let missing = names.without(others),
            !missing.isEmpty
        {
            throw base.withWholeKey(Histories.refusal(missing: missing, further: [], of: Histories.wholeSuite))
        }
        names += ((others ?? []) + [name]).without(names)
        migrated.history = names
        migrated.isMigrating = isMigrating
        self = migrated
        return true
    }

    /// Adds the values of other contents, in place of values with the same keys.
    ///
    /// - Throws: A ``DefaultsError`` of kind ``DefaultsError/Kind/refused`` if values of two
    ///   versions would then be in one scope, by their ``history``. Then the contents stay as they
    ///   were. ``DefaultsSuite/merge(_:migrating:)`` migrates both.
    public mutating func merge(_ other: SuiteContents) throws { try take(other, isReplacing: false) }

    /// - Parameter isReplacing: Whether to remove all values here before.
    mutating func take(_ other: SuiteContents, isReplacing: Bool) throws(DefaultsError) {
        // Another update may be editing them.
        if other.base !== base { other.base.complete() }
        let (present, added) = (values, other.values)
        if let failure = other.failure ?? other.base.failure ?? base.failure { throw failure }
        let kept = isReplacing ? [] : (Array(present.keys) + base.allUnreadable.keys).filter { added[$0] == nil }
        let changes: [ByteString: [String]]
        do throws(DefaultsError) {
            changes = try allHistories.changes(adding: other.allHistories, with: added.keys, keeping: kept)
        } catch {
            throw base.withWholeKey(error)
        }
        if isReplacing {
            removeAll(includingHistory: other.isForgetting)
            for name in other.unreadableKeys { edits.removeValue(forKey: ByteString(name)) }
        }
        for (key, value) in added { self[key.string] = value }
        for (scope, steps) in changes { historyEdits[scope] = steps }
        copies += other.copies
    }
}

extension SuiteContents {
    func steps(of scope: ByteString) throws(DefaultsError) -> [String]? {
        if let edited = historyEdits[scope] { return edited }
        do throws(DefaultsError) { return try base.steps(of: scope) } catch { throw base.withWholeKey(error) }
    }

    /// The histories of all scopes after the edits.
    var allHistories: Histories {
        var all = base.histories
        for (scope, steps) in historyEdits { all.set(steps, of: scope) }
        return all
    }

    /// Creates contents of all that is stored, histories included.
    ///
    /// - Parameters:
    ///   - errors: Those of values that cannot be read.
    ///   - isComplete: Whether a scope without a history has been through no step; `nil` if this is
    ///     so where there is a history of the values outside of scopes.
    package init(
        stored: [(key: String, value: PropertyList)], unreadable errors: [DefaultsError] = [], isComplete: Bool? = nil
    ) {
        let isExport = stored.contains { $0.key.hasSameBytes(as: Histories.keyName) }
        var (values, histories) = ([ByteString: PropertyList](), Histories(isComplete: isComplete ?? isExport))
        var unreadable: [ByteString: DefaultsError] = [:]
        for (key, value) in stored {
            if let scope = Histories.scope(ofHistory: key) {
                histories.add(.success(value), of: scope)
            } else {
                values[ByteString(key)] = value
            }
        }
        for error in errors {
            guard let key = error.key else { continue }
            if let scope = Histories.scope(ofHistory: key) {
                histories.add(.failure(error), of: scope)
            } else {
                unreadable[ByteString(key)] = error
            }
        }
        self.init(base: Base(values, unreadable: unreadable, histories: histories))
    }

    /// All values and histories, as an export stores them, sorted.
    package var stored: [(key: String, value: PropertyList)] {
        var stored = Array(self)
        let all = allHistories
        for scope in Set(all.scopes).union([Histories.wholeSuite]) {
            if let history = all.exported(of: scope) { stored.append((Histories.key(ofScope: scope), history)) }
        }
        return stored.sortedByBytes()
    }
}

extension DefaultsSuite {
    /// Returns the names of the steps of migrations that the values of this suite have been
    /// through, with one read.
    ///
    /// - Throws: A ``DefaultsError`` if they cannot be read.
    public func appliedMigrations() throws -> [String] {
        let suite = current
        try suite.core.refresh()
        guard let history = try suite.stored(Histories.keyName)?.get() else { return [] }
        do throws(DefaultsError) { return try Histories.steps(in: history) } catch {
            throw error.about(key: suite.withPrefix(Histories.keyName))
        }
    }

    /// Adds values to this suite, in place of values with the same keys, as one commit.
    ///
    /// - Throws: A ``DefaultsError``, whose kind is ``DefaultsError/Kind/refused`` if values of two
    ///   versions would then be in one scope, by their ``SuiteContents/history``. Then nothing is
    ///   written. ``merge(_:migrating:)`` migrates both.
    public func merge(_ contents: SuiteContents) throws { try update { try $0.merge(contents) } }
}
