extension DefaultsSuite {
    /// The value of a key, or the key's default if no value is stored or the stored value cannot be
    /// read.
    ///
    /// `suite[.count] += 1` is a read and a separate write, so a write by another thread or process
    /// in between is lost. ``update(_:_:)`` does both in one step.
    public subscript<Value>(key: DefaultKey<Value>) -> Value {
        get {
            guard scope == nil, let slot = core.recentSlot(of: key.declaration) else {
                return found(key).get(or: key.defaultValue)
            }
            return Setting.get(core, slot, or: key.defaultValue)
        }
        nonmutating set { bound(key).assign(newValue, over: key.defaultValue) }
        nonmutating _modify {
            let setting = bound(key)
            var edit = setting.edit(or: key.defaultValue)
            defer { setting.apply(edit, or: key.defaultValue) }
            yield &edit.value
        }
    }

    /// The value of a config type, read and written as under its key. See
    /// ``DefaultStoreType/value``.
    public subscript<Config: DefaultConfig>(type: Config.Type) -> Config {
        get { self[DefaultKey(type)] }
        nonmutating set { self[DefaultKey(type)] = newValue }
        nonmutating _modify { yield &self[DefaultKey(type)] }
    }

    /// Reads, changes and writes the value of a key in one step, while other writers wait.
    ///
    /// ```swift
    /// try suite.update(.launchCount) { $0 += 1 }
    /// ```
    ///
    /// See ``UserDefault/update(_:)``. The body may run again: see ``BackendTraits/readsMayLag``.
    @discardableResult
    public func update<Value, Result>(
        _ key: DefaultKey<Value>, _ body: (inout Value) throws -> Result
    ) throws -> Result { try UserDefault(key, in: self).update(body) }

    /// Calls the handler after each change of a key until the token is cancelled or deallocated.
    /// See ``UserDefault/observe(initial:_:)``.
    public func observe<Value>(
        _ key: DefaultKey<Value>, initial: Bool = false,
        _ handler: @escaping @Sendable (DefaultChange<Value>) -> Void
    ) -> ObservationToken { UserDefault(key, in: self).observe(initial: initial, handler) }

    /// Calls the handler on the main actor after each change of a key. See
    /// ``DefaultStoreType/observeOnMainActor(initial:_:)``.
    public func observeOnMainActor<Value>(
        _ key: DefaultKey<Value>, initial: Bool = false, _ handler: @escaping @MainActor (DefaultChange<Value>) -> Void
    ) -> ObservationToken { UserDefault(key, in: self).observeOnMainActor(initial: initial, handler) }

    /// The current value of a key, followed by each new value.
    public func values<Value>(_ key: DefaultKey<Value>) -> DefaultUpdates<Value> { UserDefault(key, in: self).values }

    /// Returns the value of a key.
    ///
    /// - Throws: A ``DefaultsError`` if the suite or the value cannot be read.
    public func read<Value>(_ key: DefaultKey<Value>) throws -> Value {
        try bound(key).load() ?? key.defaultValue
    }

    /// Returns the values of several keys, from one consistent snapshot.
    ///
    /// ```swift
    /// let (quality, mode) = try suite.read(.quality, .mode)
    /// ```
    ///
    /// - Throws: A ``DefaultsError`` if the suite or one of the values cannot be read.
    public func read<First, each Other>(
        _ first: DefaultKey<First>, _ others: repeat DefaultKey<each Other>
    ) throws -> (First, repeat each Other) {
        // Noted before the read, so that no change is missed.
        _ = (bound(first).noteRead(), repeat bound(each others).noteRead())
        let suite = current
        for attempt in 0..<1_000 {
            // Not a closure for `consistently`: Swift 6.3 miscompiles one that returns such a
            // tuple.
            if attempt % 10 < 9, let moment = try suite.core.moment() {
                let values = (try suite.read(first), repeat try suite.read(each others))
                if suite.core.isStill(moment) { return values }
            } else {
                // Other writers keep writing. The contents are of one state in any case.
                let layerChanges = suite.core.layerChanges
                let contents = try contents()
                let values = (try read(first, contents), repeat try read(each others, contents))
                if suite.core.layerChanges == layerChanges { return values }
            }
        }
        throw DefaultsError(.unavailable, reason: "the layers of the suite kept changing while it was being read")
    }

    private func read<Value>(_ key: DefaultKey<Value>, _ contents: SuiteContents) throws -> Value {
        let setting = bound(key)
        guard setting.isLayered else { return try contents.load(key.name, key.declaration) ?? key.defaultValue }
        return try setting.shown(contents[key.name]) ?? key.defaultValue
    }

    /// Returns whether a value is stored under the key, even if it cannot be read.
    public func contains<Value>(_ key: DefaultKey<Value>) -> Bool { UserDefault(key, in: self).isSet }

    /// Removes the values of one or more keys in one commit.
    ///
    /// If that fails, nothing is removed, and the failure handler receives the error.
    // The first key is a separate parameter, because a parameter pack can be empty.
    public func remove<First, each Other>(_ key: DefaultKey<First>, _ others: repeat DefaultKey<each Other>) {
        var names = [key.name]
        repeat names.append((each others).name)
        remove(names)
    }

    /// Removes the values of one or more keys in one commit, even if they cannot be read.
    ///
    /// - Throws: A ``DefaultsError``, as ``DefaultStoreType/removeStored()`` does.
    public func removeStored<First, each Other>(
        _ key: DefaultKey<First>, _ others: repeat DefaultKey<each Other>
    ) throws {
        var names = [key.name]
        repeat names.append((each others).name)
        try removeStored(named: names)
    }

    @inline(__always)
    private func bound<Value>(_ key: DefaultKey<Value>) -> Setting<Value> {
        if scope == nil, let slot = core.recentSlot(of: key.declaration) { return Setting(core, slot) }
        return found(key)
    }

    @inline(never)
    private func found<Value>(_ key: DefaultKey<Value>) -> Setting<Value> {
        let setting = Setting(self, key)
        if scope == nil { core.noteRecent(setting.slot, of: key.declaration) }
        return setting
    }
}

extension Setting {
    init(_ suite: DefaultsSuite, _ key: DefaultKey<Value>) {
        self.init(suite, key: key.name, declaredBy: key.declaration)
    }
}

extension PersistentStore {
    @available(
        *, unavailable,
        message: "a key has a default, which a store would ignore: use UserDefault(key, in:) or suite[key]"
    )
    public init(_ key: DefaultKey<Default>, in suite: DefaultsSuite = .standard) { fatalError("unavailable") }
}

extension DefaultsSuite.Selection {
    /// One or more keys.
    ///
    /// ```swift
    /// try DefaultsSuite.standard.move(.keys(.quality, .mode), to: group)
    /// ```
    public static func keys<First, each Other>(
        _ key: DefaultKey<First>, _ others: repeat DefaultKey<each Other>
    ) -> DefaultsSuite.Selection {
        var names = [key.name]
        repeat names.append((each others).name)
        return .keys(names)
    }
}
