import SettingsFile

extension DefaultsSuite {
    /// Changes several settings as one commit, while other writers of the suite wait.
    ///
    /// ```swift
    /// try suite.update { contents in
    ///     contents[.quality] = 0.5
    ///     contents[.mode] = .photo
    /// }
    /// ```
    ///
    /// Readers see all of the changes or none, and observers of the suite receive one event. With a
    /// settings file, this holds for every process, and the writers of all processes wait. With
    /// `UserDefaults`, which writes key by key, it holds for this process: other processes can see
    /// or store a part of the changes, and write in between.
    ///
    /// - Parameter body: Edits the contents. It runs once; if it throws, nothing is written. Keep
    ///   it short, because other writers wait. Reading the suite inside it is safe. Writing the
    ///   suite inside it is an error.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or a ``DefaultsError``. Then none of the edits is written. A
    ///   copy of a value that this version cannot read, `<key>.unreadable`, may have been made
    ///   before.
    @discardableResult
    public func update<Result>(_ body: (inout SuiteContents) throws -> Result) throws -> Result {
        try current.updateContents(body)
    }

    private func updateContents<Result>(_ body: (inout SuiteContents) throws -> Result) throws -> Result {
        let (result, unreadable) = try core.write({ try commitUpdate(body) }, orThrow: { $0 })
        for error in unreadable { core.report(error) }
        return result
    }

    private func commitUpdate<Result>(
        _ body: (inout SuiteContents) throws -> Result
    ) throws -> (Result, unreadable: [DefaultsError]) {
        var base = SuiteContents.Base(reading: self)
        let result: Result
        var edits: [ByteString: PropertyList?]
        var unreadable: [DefaultsError]
        do {
            // A copy of the contents that is kept shows what was stored before the commit.
            defer { if !isKnownUniquelyReferenced(&base) { base.complete() } }
            (result, edits, unreadable) = try editsMade(to: base, by: body)
        }
        for copy in try keepUnknownValues(before: edits, base) {
            unreadable.append(copy.error)
            // What was just kept is not removed by the same update.
            let key = ByteString(withoutPrefix(copy.key))
            if let removal = edits[key], removal == nil { edits[key] = nil }
        }
        if !edits.isEmpty {
            // For a place that stores key by key and may be interrupted: no value is removed before
            // the one that replaces it is stored, and a migration is recorded when all is stored.
            let record = ByteString(DefaultsMigrator.recordKey)
            try core.commit(
                edits.map { (order: $0.key == record ? 2 : $0.value == nil ? 1 : 0, edit: $0) }
                    .sorted { one, other in
                        (one.order, one.edit.key.string) < (other.order, other.edit.key.string)
                    }
                    .map { (key: withPrefix($0.edit.key.string), value: $0.edit.value) })
        }
        return (result, unreadable)
    }

    /// Runs the body of an update. The contents that it edits are gone when this returns, unless
    /// the body keeps a copy.
    private func editsMade<Result>(
        to base: SuiteContents.Base, by body: (inout SuiteContents) throws -> Result
    ) throws -> (Result, [ByteString: PropertyList?], unreadable: [DefaultsError]) {
        var contents = SuiteContents(base: base)
        let result = try body(&contents)
        let edits = try edits(from: base, to: contents)
        // What was copied needs no second report.
        let copied = contents.setAsideErrors
        let read = base.unreadable.filter { read in !copied.contains { $0.key == read.key && $0.type == read.type } }
        return (result, edits, (read + copied).map(withWholeKey))
    }

    /// Returns an error of contents, which name keys without the prefix of a scope.
    private func withWholeKey(_ error: DefaultsError) -> DefaultsError {
        var error = error
        error.key = error.key.map(withPrefix)
        return error
    }

    /// Returns the edits that make the stored values those of the contents.
    private func edits(
        from base: SuiteContents.Base, to contents: SuiteContents
    ) throws(DefaultsError) -> [ByteString: PropertyList?] {
        if let failure = contents.failure { throw withWholeKey(failure) }
        var new = contents.edits
        if contents.base !== base {
            // Other contents were assigned, so every key that they lack is removed. Another update
            // may be editing them.
            contents.base.complete()
            new = base.values.mapValues { _ in nil }
            for key in base.unknownKeys.subtracting(contents.base.unknownKeys) { new[key] = .some(nil) }
            for (key, value) in contents.values { new[key] = .some(value) }
        }
        if let failure = contents.base.failure ?? base.failure { throw failure }
        for (key, value) in new where value?.isNested(deeperThan: PropertyList.depthLimit) == true {
            throw DefaultsError(.refused, key: withPrefix(key.string), reason: PropertyList.tooDeep)
        }
        let edits = new.filter { key, value in
            base.value(key.string, includesFallback: false) != value || base.unknownKeys.contains(key)
        }
        if let failure = base.failure { throw failure }
        return edits
    }

    /// Copies values that the backend itself cannot read before the edits overwrite them.
    private func keepUnknownValues(
        before edits: [ByteString: PropertyList?], _ base: SuiteContents.Base
    ) throws(DefaultsError) -> [(key: String, error: DefaultsError)] {
        let unknown = base.unknownKeys
        guard !unknown.isEmpty else { return [] }
        var copies: [(key: String, error: DefaultsError)] = []
        for (key, value) in edits where value != nil && unknown.contains(key) {
            let name = withPrefix(key.string)
            copies.append(try core.setAsideUnknownValue(of: name, as: name))
        }
        return copies
    }

    /// Returns all stored values as of one moment.
    ///
    /// - Throws: A ``DefaultsError`` if the suite cannot be read.
    public func contents() throws -> SuiteContents {
        let (values, unknownKeys) = try current.snapshot()
        return SuiteContents(base: SuiteContents.Base(values, unknownKeys: unknownKeys))
    }

    /// Makes the stored values exactly those of the contents, as one commit.
    ///
    /// A value that this version of the library cannot read stays as it is if the contents were
    /// read while it was stored. See ``SuiteContents/unreadableKeys``.
    ///
    /// - Throws: A ``DefaultsError``. Then nothing is written.
    public func replaceContents(with contents: SuiteContents) throws { try update { $0 = contents } }
}

extension DefaultsSuite {
    typealias Values = (values: [ByteString: PropertyList], unknownKeys: Set<ByteString>)

    /// Returns all stored values, and the keys of those that the backend cannot read; as of one
    /// moment if no other process writes.
    func values() throws(DefaultsError) -> Values {
        var all: Values = ([:], [])
        for key in try keysInScope() {
            let name = ByteString(withoutPrefix(key))
            do throws(DefaultsError) { all.values[name] = try core.backend.value(forKey: key) } catch {
                guard error.kind == .unreadable else { throw error }
                all.unknownKeys.insert(name)
            }
        }
        return all
    }

    /// Returns all stored values as of one moment.
    fileprivate func snapshot() throws(DefaultsError) -> Values {
        // A file has no generation before it is opened.
        _ = try core.backend.keys()
        return try asOfOneMoment { () throws(DefaultsError) in try values() }
    }

    /// Reads several values as of one moment.
    ///
    /// - Parameter read: Reads them. It may run several times.
    func asOfOneMoment<Result>(_ read: () throws(DefaultsError) -> Result) throws(DefaultsError) -> Result {
        defer { core.deliver() }
        for _ in 0..<10 {
            let (version, generation) = (core.state.withLock { $0.commitVersion }, core.backend.generation)
            // A commit under way may take effect during the read.
            guard version % 2 == 0 else { continue }
            let result = try read()
            // A commit of this process need not change the generation.
            if core.state.withLock({ $0.commitVersion }) == version, core.backend.generation == generation {
                return result
            }
        }
        // Other writers write all the time, so they wait once.
        return try core.write(read)
    }
}
