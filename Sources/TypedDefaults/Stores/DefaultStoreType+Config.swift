// Access that uses the default in place of a missing value.
extension DefaultStoreType where Default: DefaultConfig {
    /// The stored value, or the default if no value is stored or the stored value cannot be read.
    /// Assigning stores the properties that differ from what is stored, as ``update(_:)`` does.
    ///
    /// `store.value.count += 1` is a read and a separate write, so another thread's write of the
    /// same property in between is lost. ``update(_:)`` does both in one step. It also throws if it
    /// fails; the failure of an assignment goes to the failure handler of the store's suite.
    public var value: Default {
        get { get() ?? Default.defaultInstance }
        nonmutating set {
            if let setting = ownSetting { return setting.assign(newValue, over: Default.defaultInstance) }
            reportingFailure {
                let edit = InPlaceEdit(of: value, changedTo: newValue)
                try changeInPlace(recovering: true, from: Default.defaultInstance) { value, intent in
                    try edit.apply(to: &value!)
                    intent = .assigning
                }
            }
        }
        nonmutating _modify {
            var edit = edit()
            defer { reportingFailure { try save(edit) } }
            yield &edit.value
        }
    }

    /// Reads, changes and writes the value in one step, while other writers wait, as
    /// ``updateStored(_:)`` does. Starts with the default if no value is stored.
    ///
    /// ```swift
    /// try store.update { $0.size = .large }
    /// ```
    ///
    /// A change stores the properties that it changes; `set` and `save` store every property. The
    /// others stay as they are stored, or keep following the default, so a later release can change
    /// it. If `body` changes nothing, nothing is written.
    ///
    /// A decision is an optional: setting a property to the value that it already reads changes
    /// nothing, so a `false` over a default of `false` is not stored. See <doc:ConfigStructs>.
    ///
    /// A stored value that cannot be read counts as missing. It is copied to `<key>.unreadable` and
    /// reported, as with ``DefaultStoreType/set(_:)``.
    ///
    /// - Parameter body: Edits the value. It may run again (see ``BackendTraits/readsMayLag``), and
    ///   nothing is written if it throws. Keep it short, because other writers wait.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or a ``DefaultsError``.
    @discardableResult
    public func update<Result>(_ body: (inout Default) throws -> Result) throws -> Result {
        try update(default: Default.defaultInstance, body)
    }

    /// Returns a store for one property of the value.
    ///
    /// ```swift
    /// let size = AnyStore<CameraConfig>.persistent().map(\.size)
    /// size.set(.large)  // keeps the rest of the config
    /// ```
    ///
    /// Each write is an ``update(_:)`` of the config, which stores this property only. The returned
    /// store reads `nil` if no config is stored, unlike `store.value.size`; a config in a config
    /// then begins with the default of its type. `remove()` removes the stored property if it
    /// differs from its default; in a store of your own, it sets the default.
    public func map<Part: Equatable & Sendable>(
        _ part: any WritableKeyPath<Default, Part> & Sendable
    ) -> AnyStore<Part> { map(part, default: Default.defaultInstance) }

    /// Calls the handler after each change of one property until the token is cancelled or
    /// deallocated.
    ///
    /// ```swift
    /// let token = store.observe(\.size) { change in print(change.newValue as Any) }
    /// ```
    ///
    /// If no config is stored or the stored one cannot be read, the change contains the property of
    /// the default. Changes of other properties are not reported. See also
    /// ``DefaultStoreType/observe(initial:_:)``.
    ///
    /// - Parameters:
    ///   - property: The property to observe.
    ///   - initial: Whether to call the handler with the current value first.
    ///   - handler: Receives each change.
    public func observe<Property: Equatable & Sendable>(
        _ property: any KeyPath<Default, Property> & Sendable, initial: Bool = false,
        _ handler: @escaping @Sendable (DefaultChange<Property>) -> Void
    ) -> ObservationToken {
        observe(initial: initial) { change in
            let isInitial = change.kind == .initial
            let old = isInitial ? nil : (change.oldValue ?? Default.defaultInstance)[keyPath: property]
            let new = change.value[keyPath: property]
            guard isInitial || !areSame(old, new) else { return }
            handler(
                DefaultChange(
                    oldValue: old, newValue: new, kind: change.kind, origin: change.origin, name: change.name))
        }
    }

    /// The current value, followed by each new value, with the default in place of a missing value.
    public var values: DefaultUpdates<Default> {
        DefaultUpdates { element in observe(initial: true) { element($0.value) } }
    }
}

// Editing in place.
extension DefaultStoreType where Default: DefaultConfig {
    /// Returns the value to edit it.
    func edit() -> InPlaceEdit<Default> {
        ownSetting?.edit(or: Default.defaultInstance) ?? InPlaceEdit(of: value)
    }

    /// Makes an edit.
    func save(_ edit: InPlaceEdit<Default>) throws {
        if let setting = ownSetting {
            try setting.save(edit, or: Default.defaultInstance)
        } else if try edit.isChange {
            try update { try edit.apply(to: &$0) }
        }
    }
}

extension DefaultStoreType where Default: DefaultConvertible {
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "conform the type to DefaultConfig, or pass an initial value: update(default: …) { … }"
    )
    public func update<Result>(_ body: (inout Default) throws -> Result) throws -> Result {
        fatalError("unavailable")
    }
}
