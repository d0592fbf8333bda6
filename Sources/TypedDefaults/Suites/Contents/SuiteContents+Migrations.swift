import SettingsFile

extension SuiteContents {
    /// The key of the record, which holds the names of the migrations that were applied to the
    /// suite.
    static let migrationsKey = "TypedDefaults-migrations"

    /// The names of the migrations that were applied to these contents; empty if the record cannot
    /// be read.
    public var appliedMigrations: [String] { (try? recordedMigrations()) ?? [] }

    /// Applies a migration unless it was applied to the contents before, and records its name.
    ///
    /// A ``DefaultsMigrator`` calls this for each of its steps, and says what a step may do.
    ///
    /// - Returns: Whether the migration was due.
    /// - Throws: What `body` throws, why one of its values could not be stored, or a
    ///   ``DefaultsError`` if the record cannot be read. Then the contents stay as they were.
    @discardableResult
    public mutating func migrate(_ name: String, _ body: (inout SuiteContents) throws -> Void) throws -> Bool {
        var names = try recordedMigrations()
        if names.contains(where: { $0.hasSameBytes(as: name) }) { return false }
        var migrated = self
        migrated.settle()
        migrated.isMigrating = true
        base.beginStep()
        try body(&migrated)
        migrated.settle()
        if let failure = migrated.failure { throw migrated.base.withWholeKey(failure) }
        // The body may have applied other migrations, removed the record or assigned other
        // contents.
        for name in migrated.appliedMigrations + [name] where !names.contains(where: { $0.hasSameBytes(as: name) }) {
            names.append(name)
        }
        migrated[Self.migrationsKey] = .array(names.map(PropertyList.string))
        migrated.isMigrating = isMigrating
        self = migrated
        return true
    }

    private func recordedMigrations() throws(DefaultsError) -> [String] {
        let (name, key) = (ByteString(Self.migrationsKey), base.key(of: Self.migrationsKey))
        let record = stored(Self.migrationsKey)
        if let failure = base.failure { throw failure }
        if edits[name] == nil, let error = base.unknown[name] { throw error.about(key: key) }
        return try Self.migrations(in: record, under: key)
    }

    fileprivate static func migrations(in record: PropertyList?, under key: String) throws(DefaultsError) -> [String] {
        guard let record else { return [] }
        if case .array(let elements) = record {
            let names = elements.compactMap { if case .string(let name) = $0 { name } else { nil } }
            if names.count == elements.count { return names }
        }
        throw DefaultsError(.unreadable, key: key, reason: "the record of the migrations is not an array of strings")
    }
}

extension DefaultsSuite {
    /// Returns the names of the migrations that were applied to this suite, with one read.
    ///
    /// - Throws: A ``DefaultsError`` if the record cannot be read.
    public func appliedMigrations() throws -> [String] {
        let (suite, name) = (current, SuiteContents.migrationsKey)
        return try SuiteContents.migrations(in: suite.stored(name)?.get(), under: suite.withPrefix(name))
    }
}
