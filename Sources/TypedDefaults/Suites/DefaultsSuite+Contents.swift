import SettingsFile

extension DefaultsSuite {
    /// Changes several settings as one commit, alone among the writers of the suite in all processes.
    ///
    /// ```swift
    /// try suite.update { contents in
    ///     contents[.quality] = 0.5
    ///     contents[.mode] = .photo
    /// }
    /// ```
    ///
    /// Readers in every process see all of the changes or none, and observers of the suite receive one event. Over `UserDefaults`, which
    /// writes key by key, other processes may see a part of the changes for a moment.
    ///
    /// - Parameter body: Edits the contents. It runs once; if it throws, nothing is written. Keep it short, because other writers wait.
    ///   Reading the suite inside it is safe. Writing the suite inside it is an error.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or a ``DefaultsError``. Then nothing is written.
    @discardableResult
    public func update<Result>(_ body: (inout SuiteContents) throws -> Result) throws -> Result {
        // Even after a failure there may be external changes.
        defer { core.deliver() }
        try core.beginWrite()
        let result: Result
        let unreadable: [DefaultsError]
        do {
            defer { core.endWrite() }
            (result, unreadable) = try commitUpdate(body)
        }
        try core.flushIfImmediate()
        for error in unreadable { core.report(error) }
        return result
    }

    private func commitUpdate<Result>(
        _ body: (inout SuiteContents) throws -> Result
    ) throws -> (Result, unreadable: [DefaultsError]) {
        var base = SuiteContents.Base(reading: core)
        // A copy of the contents that is kept stays as it is now.
        defer { if !isKnownUniquelyReferenced(&base) { base.complete() } }
        var contents = SuiteContents(base: base)
        let result = try body(&contents)
        let edits = try edits(from: base, to: contents)
        var unreadable = base.unreadable
        let unknown = base.unknownKeys
        for edit in edits where edit.value != nil && unknown.contains(ByteString(edit.key)) {
            unreadable.append(try core.setAsideUnknownValue(of: edit.key))
        }
        if !edits.isEmpty { try core.commit(edits) }
        // Releases the reference to the base before it is looked at.
        contents = SuiteContents()
        return (result, unreadable)
    }

    /// Returns the edits that make the stored values those of the contents.
    private func edits(
        from base: SuiteContents.Base, to contents: SuiteContents
    ) throws(DefaultsError) -> [(key: String, value: PropertyList?)] {
        if let failure = contents.failure { throw failure }
        var new = contents.edits
        if contents.base !== base {
            // Other contents were assigned, so every key that they lack is removed.
            new = base.values.mapValues { _ in nil }
            for (key, value) in contents.values { new[key] = .some(value) }
        }
        if let failure = contents.base.failure ?? base.failure { throw failure }
        // A declaration would read a value under a former name again.
        for key in core.formerKeys(of: new.keys.map(\.string)) where new[ByteString(key)] == nil {
            new[ByteString(key)] = .some(nil)
        }
        let edits = new.filter { key, value in
            base.value(key.string, includesFallback: false) != value || base.unknownKeys.contains(key)
        }
        if let failure = base.failure { throw failure }
        return edits.map { (key: $0.key.string, value: $0.value) }
            .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    /// Returns all stored values as of one moment.
    ///
    /// - Throws: A ``DefaultsError`` if the suite cannot be read.
    public func contents() throws -> SuiteContents { SuiteContents(base: SuiteContents.Base(try core.snapshot())) }

    /// Makes the stored values exactly those of the contents, as one commit.
    ///
    /// - Throws: A ``DefaultsError``. Then nothing is written.
    public func replaceContents(with contents: SuiteContents) throws { try update { $0 = contents } }
}

extension SuiteCore {
    /// Returns all stored values; as of one moment if no other process writes.
    func values() throws(DefaultsError) -> [ByteString: PropertyList] {
        var values: [ByteString: PropertyList] = [:]
        for key in try backend.keys() { values[ByteString(key)] = try backend.value(forKey: key) }
        return values
    }

    /// Returns all stored values as of one moment.
    fileprivate func snapshot() throws(DefaultsError) -> [ByteString: PropertyList] {
        defer { deliver() }
        // A file has no generation before it is opened.
        _ = try backend.keys()
        for _ in 0..<10 {
            let generation = backend.generation
            let values = try values()
            if backend.generation == generation { return values }
        }
        // Other processes write all the time, so they wait once.
        try beginWrite()
        defer { endWrite() }
        return try values()
    }
}
