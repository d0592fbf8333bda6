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
    /// - Parameter body: Edits the contents. If it throws, nothing is written. It may run again:
    ///   see ``BackendTraits/readsMayLag``. Keep it short, because other writers wait. Reading the
    ///   suite inside it is safe. Writing the suite inside it is an error.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or a ``DefaultsError``. Then nothing is written.
    @discardableResult
    public func update<Result>(_ body: (inout SuiteContents) throws -> Result) throws -> Result {
        let suite = current
        return try suite.core.asWriter { try suite.commitUpdate(body) }
    }

    private func commitUpdate<Result>(_ body: (inout SuiteContents) throws -> Result) throws -> Result {
        var base = SuiteContents.Base(reading: self)
        let (result, edits, copies): (Result, [Edit], [DefaultsError])
        do {
            // If the body keeps a copy of the contents, the copy shows the values from before the
            // commit.
            defer { if !isKnownUniquelyReferenced(&base) { base.complete() } }
            (result, edits, copies) = try editsMade(to: base, by: body)
        }
        if edits.isEmpty { try core.commitNothing() } else { try core.commit(edits) }
        base.reportFaults(in: core, except: copies.map { $0.key.map(withoutPrefix) })
        for error in copies { core.report(error) }
        return result
    }

    /// Runs the body of an update. The contents that it edits are gone when this returns, unless
    /// the body keeps a copy.
    ///
    /// - Returns: The result of the body, and the edits, with the errors of values that they copy.
    private func editsMade<Result>(
        to base: SuiteContents.Base, by body: (inout SuiteContents) throws -> Result
    ) throws -> (Result, [Edit], copies: [DefaultsError]) {
        var contents = SuiteContents(base: base)
        let result = try body(&contents)
        contents.resolve()
        let new = try edits(from: base, to: &contents)
        var copies = contents.copies.map { copy in
            var error = base.withWholeKey(copy.error)
            SetAside.add(withPrefix(copy.key), to: &error)
            return error
        }
        // The order is for backends that store key by key and may be interrupted: no value is
        // removed before its replacement is stored. A scope has its history after its values. A
        // migration is recorded after everything else.
        func order(_ edit: (key: ByteString, value: PropertyList?)) -> Int {
            guard let scope = Histories.scope(ofHistory: edit.key.string) else { return edit.value == nil ? 2 : 0 }
            return scope == Histories.wholeSuite ? 4 : edit.value == nil ? 3 : 1
        }
        var edits = new.map { (order: order($0), edit: $0) }
            .sorted { one, other in (one.order, one.edit.key.string) < (other.order, other.edit.key.string) }
            .map { Edit(withPrefix($0.edit.key.string), $0.edit.value) }
        let unreadable = base.unreadable
        for edit in edits where !unreadable.isEmpty && edit.value != nil {
            // A value that the backend itself cannot read.
            guard var error = unreadable[ByteString(withoutPrefix(edit.key))]?.about(key: edit.key) else { continue }
            let copy = try core.setAsideUnreadableValue(of: edit.key, &error)
            // The same update must not overwrite or remove the copy.
            edits.removeAll { $0.key.hasSameBytes(as: copy.key) }
            edits.append(copy)
            copies.append(error)
        }
        return (result, edits, copies)
    }

    /// Returns the edits that make the stored values those of the contents.
    private func edits(
        from base: SuiteContents.Base, to contents: inout SuiteContents
    ) throws(DefaultsError) -> [ByteString: PropertyList?] {
        if let failure = contents.failure { throw base.withWholeKey(failure) }
        if contents.base !== base {
            // Other contents were assigned.
            var all = SuiteContents(base: base)
            try all.take(contents, isReplacing: true)
            contents = all
        }
        if let failure = base.failure { throw failure }
        for (key, value) in contents.edits where value?.isNested(deeperThan: PropertyList.depthLimit) == true {
            throw DefaultsError(.refused, key: withPrefix(key.string), reason: PropertyList.tooDeep)
        }
        var edits = contents.edits.filter { key, value in
            base.value(key.string, includesFallback: false) != value || base.unreadable[key] != nil
        }
        if !contents.historyEdits.isEmpty {
            for case (let scope, let steps?) in contents.historyEdits
            where !Histories.areEqual(try? base.steps(of: scope), steps) {
                edits[ByteString(Histories.key(ofScope: scope))] = .some(Histories.stored(of: steps))
            }
        }
        if let failure = base.failure { throw failure }
        return edits
    }

    /// Returns all stored values, as a consistent snapshot.
    ///
    /// - Throws: A ``DefaultsError`` if the suite cannot be read.
    public func contents() throws -> SuiteContents {
        let suite = current
        let (values, unreadable, histories) = try suite.snapshot()
        return SuiteContents(
            base: SuiteContents.Base(values, unreadable: unreadable, histories: histories, prefix: suite.withPrefix(""))
        )
    }

    /// Makes the stored values exactly those of the contents, as one commit.
    ///
    /// Contents whose ``SuiteContents/history`` is not known, such as `[:]`, count as values of the
    /// present version.
    ///
    /// A value that this version of the library cannot read stays as it is if the contents were
    /// read while it was stored. See ``SuiteContents/unreadableKeys``.
    ///
    /// - Throws: A ``DefaultsError``, whose kind is ``DefaultsError/Kind/refused`` if the suite has
    ///   been through a step of a migration that the contents have not been through. Then nothing
    ///   is written. ``replaceContents(with:migrating:)`` migrates the contents.
    public func replaceContents(with contents: SuiteContents) throws { try update { $0 = contents } }
}

extension DefaultsSuite {
    typealias Values = (
        values: [ByteString: PropertyList], unreadable: [ByteString: DefaultsError], histories: Histories
    )

    /// Returns all stored values, and the errors of those that the backend cannot read. A
    /// consistent snapshot if no other process writes.
    func values() throws(DefaultsError) -> Values {
        var all: Values = ([:], [:], Histories(isComplete: true))
        for key in try keysInScope() {
            let name = withoutPrefix(key)
            guard let found = try stored(name) else { continue }
            if Histories.isHistory(key) {
                // The key of a history may begin in the prefix of a scope.
                if let scope = Histories.scope(ofHistory: name) { all.histories.add(found, of: scope) }
                continue
            }
            switch found {
            case .success(let value): all.values[ByteString(name)] = value
            case .failure(let error): all.unreadable[ByteString(name)] = error
            }
        }
        return all
    }

    /// Returns the value stored under a key, or the error if it cannot be read; `nil` if no value
    /// is stored.
    func stored(_ name: String) throws(DefaultsError) -> Result<PropertyList, DefaultsError>? {
        let key = withPrefix(name)
        do throws(DefaultsError) {
            if try core.isRegistered(key) { return nil }
            return try core.backend.value(forKey: key).map(Result.success)
        } catch {
            guard error.kind == .unreadable else { throw error }
            return .failure(error.about(key: key))
        }
    }

    /// Returns a consistent snapshot of all stored values.
    fileprivate func snapshot() throws(DefaultsError) -> Values {
        // Throws while a file cannot be used and its last known values stay in use.
        _ = try core.backend.keys()
        return try consistently { () throws(DefaultsError) in try values() }
    }

    /// Reads several values as a consistent snapshot.
    ///
    /// - Parameter read: Reads them. It may run several times.
    func consistently<Result>(_ read: () throws(DefaultsError) -> Result) throws(DefaultsError) -> Result {
        defer { core.deliver() }
        for _ in 0..<(core.traits.readsMayLag ? 200 : 10) {
            guard let moment = try core.moment() else { continue }
            let result = try read()
            if core.isStill(moment) { return result }
        }
        // Other writers keep writing, so make them wait once, unless they are on other machines.
        guard !core.traits.readsMayLag else {
            throw DefaultsError(.timedOut, reason: "other machines changed the suite during each of 200 reads of it")
        }
        var result: Result?
        try core.write { () throws(DefaultsError) in result = try read() }
        return result!
    }
}
