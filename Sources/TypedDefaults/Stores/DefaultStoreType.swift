/// A store of one value: what a view model holds, and what a test replaces.
///
/// ``PersistentStore`` and ``InMemoryStore`` conform, and ``AnyStore`` hides which one it is. A
/// store answers what is *stored*, so its values are optional. Where the type is a
/// ``DefaultConfig``, ``value`` and ``update(_:)`` answer what *counts*: the stored value or the
/// default.
///
/// A store of your own must write ``get()``, ``set(_:)`` and ``remove()``. If several threads write
/// it, write ``updateStored(_:)`` as well, because its default implementation reads and then
/// writes. To change what another store does, see ``DefaultStoreDecorator``.
///
/// The stores of this library keep these laws, and yours should:
///
/// 1. An empty store reads `nil`. The last write wins. Removing twice is harmless. A value reads
///    back equal, or as the type's own decoding makes it, or it is refused with an error. Over
///    `UserDefaults`, an empty key reads a value that other code registered for it.
/// 2. Missing, unreadable and unavailable are three answers of ``load()``. An unreadable value is
///    copied before it is overwritten.
/// 3. The body of an update runs once, alone among the writers of its suite. Reading inside it is
///    safe. Writing the same suite inside it is an error.
/// 4. No conversion is called under a lock that a read needs, so reading inside one is safe.
public protocol DefaultStoreType<Default>: Sendable {
    /// The type of the value.
    associatedtype Default: Sendable

    /// Returns the stored value; `nil` if it is missing, unreadable or unavailable. ``load()``
    /// tells these apart.
    func get() -> Default?

    /// Stores a value. If that fails, the old value stays and the suite's failure handler receives
    /// the error. ``save(_:)`` throws it.
    func set(_ value: Default)

    /// Removes the stored value, also one that cannot be read. Does nothing if no value is stored.
    func remove()

    /// Returns the stored value; `nil` if it is missing.
    ///
    /// - Throws: A ``DefaultsError`` of kind ``DefaultsError/Kind/unreadable`` if the stored value
    ///   is not of this type, or ``DefaultsError/Kind/unavailable`` if the suite cannot be read
    ///   now.
    func load() throws -> Default?

    /// Stores a value, or throws and leaves the old one.
    ///
    /// A suite that saves in the background notices a failing disk later:
    /// ``DefaultsSuite/synchronize()`` waits for it.
    ///
    /// - Throws: A ``DefaultsError``.
    func save(_ value: Default) throws

    /// Changes the stored value in one step that no other writer comes between.
    ///
    /// ```swift
    /// try store.updateStored { stored in if stored?.isExpired == true { stored = nil } }
    /// ```
    ///
    /// On Linux, `UserDefaults` can only keep out other threads, not other processes.
    ///
    /// - Parameter body: Edits the stored value, which is `nil` if it is missing. Assigning `nil`
    ///   removes it. It runs once, and nothing is written if it throws. Keep it short, because
    ///   other writers wait.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or a ``DefaultsError``. If the stored value is unreadable,
    ///   `body` does not run.
    @discardableResult
    func updateStored<Result>(_ body: (inout Default?) throws -> Result) throws -> Result

    /// Calls the handler after each change of the stored value until the token is cancelled or
    /// deallocated.
    ///
    /// Reports changes from any source: this store, other stores for the same key and, within
    /// milliseconds, other processes. Each committed change is reported once, in the order of the
    /// commits. A write that fails, or that stores what is stored already, is not reported. The
    /// handler runs under no lock, on the thread of a writer or on one that processes external
    /// changes. It may read, write, observe and cancel. Observers that trigger each other are
    /// stopped with an error after 100 rounds; a task that a handler starts begins a new count.
    ///
    /// The default implementation makes the initial call only. In an ``AnyStore``, changes that go
    /// through the box are reported.
    ///
    /// - Parameters:
    ///   - initial: Whether the handler is called with the present value first.
    ///   - handler: Receives each change.
    func observe(
        initial: Bool, _ handler: @escaping @Sendable (DefaultChange<Default>) -> Void
    ) -> ObservationToken
}

// The default implementations.
extension DefaultStoreType {
    /// Returns what `get()` returns.
    public func load() throws -> Default? { get() }

    /// Calls `set(_:)`.
    public func save(_ value: Default) throws { set(value) }

    /// Reads, edits and writes, in three steps that other writers can come between.
    @discardableResult
    public func updateStored<Result>(_ body: (inout Default?) throws -> Result) throws -> Result {
        var value = try load()
        let result = try body(&value)
        if let value { try save(value) } else { remove() }
        return result
    }

    /// Makes the initial call only.
    public func observe(
        initial: Bool, _ handler: @escaping @Sendable (DefaultChange<Default>) -> Void
    ) -> ObservationToken {
        if initial { handler(DefaultChange(oldValue: nil, newValue: get(), kind: .initial, origin: .local)) }
        return ObservationToken(inert: ())
    }
}

extension DefaultStoreType {
    /// Calls the handler after each change of the stored value until the token is cancelled or
    /// deallocated.
    ///
    /// ```swift
    /// let token = store.observe { change in print(change.newValue as Any) }
    /// ```
    public func observe(_ handler: @escaping @Sendable (DefaultChange<Default>) -> Void) -> ObservationToken {
        observe(initial: false, handler)
    }

    /// Calls the handler on the main actor after each change of the stored value.
    ///
    /// ```swift
    /// token = store.observeOnMainActor { [weak self] change in self?.label.text = change.newValue?.title }
    /// ```
    ///
    /// The calls come later, in the order of the changes. After the token was cancelled on the main
    /// actor, no call begins.
    ///
    /// - Parameters:
    ///   - initial: Whether the handler is called with the present value first.
    ///   - handler: Receives each change.
    public func observeOnMainActor(
        initial: Bool = false, _ handler: @escaping @MainActor (DefaultChange<Default>) -> Void
    ) -> ObservationToken {
        let queue = MainActorQueue(handler)
        let token = observe(initial: initial) { change in queue.append(change) }
        return ObservationToken {
            queue.cancel()
            token.cancel()
        }
    }

    /// Changes the value in one step that no other writer comes between, beginning with a default
    /// if no value is stored.
    ///
    /// ```swift
    /// try store.update(default: 0) { $0 += 1 }
    /// ```
    ///
    /// A stored value that cannot be read counts as missing. It is copied to `<key>.unreadable` and
    /// reported, as with ``set(_:)``.
    ///
    /// - Parameters:
    ///   - defaultValue: The value that `body` gets if none is stored.
    ///   - body: Edits the value. It runs once, and nothing is written if it throws. Keep it short,
    ///     because other writers wait.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or a ``DefaultsError``.
    @discardableResult
    public func update<Result>(
        default defaultValue: @autoclosure () -> Default, _ body: (inout Default) throws -> Result
    ) throws -> Result {
        try updateRecovering { stored in
            var value = stored ?? defaultValue()
            let result = try body(&value)
            stored = value
            return result
        }
    }

    /// Like ``updateStored(_:)``, but an unreadable value counts as missing.
    func updateRecovering<Result>(_ body: (inout Default?) throws -> Result) throws -> Result {
        if let store = self as? any RecoveringStore<Default> { return try store.updateRecovering(body) }
        var hasRun = false
        do {
            return try updateStored { stored in
                hasRun = true
                return try body(&stored)
            }
        } catch let error as DefaultsError
            where error.kind == .unreadable && !hasRun && !(self is any DefaultStoreDecorator)
        {
            var value: Default?
            let result = try body(&value)
            if let value { try save(value) } else { remove() }
            return result
        }
    }
}

/// A store that can replace an unreadable value in one step.
protocol RecoveringStore<Default>: DefaultStoreType {
    func updateRecovering<Result>(_ body: (inout Default?) throws -> Result) throws -> Result
}

// What counts: the stored value or the default.
extension DefaultStoreType where Default: DefaultConfig {
    /// The stored value. Returns the default if no value is stored, or none that can be read.
    ///
    /// `store.value.count += 1` is a read and a write, and another writer can come between.
    /// ``update(_:)`` is one step.
    public var value: Default {
        get { get() ?? Default.defaultInstance }
        nonmutating set { set(newValue) }
    }

    /// Changes the value in one step that no other writer comes between, beginning with the default
    /// if no value is stored.
    ///
    /// ```swift
    /// try store.update { $0.size = .large }
    /// ```
    ///
    /// A stored value that cannot be read counts as missing. It is copied to `<key>.unreadable` and
    /// reported, as with ``set(_:)``.
    ///
    /// - Parameter body: Edits the value. It runs once, and nothing is written if it throws. Keep
    ///   it short, because other writers wait.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or a ``DefaultsError``.
    @discardableResult
    public func update<Result>(_ body: (inout Default) throws -> Result) throws -> Result {
        try update(default: Default.defaultInstance, body)
    }

    /// A store for one property of the value.
    ///
    /// ```swift
    /// let size = AnyStore<CameraConfig>.persistent().map(\.size)
    /// size.set(.large)  // the rest of the config stays
    /// ```
    ///
    /// Each write is an ``update(_:)`` of the whole. The store reads `nil` if no config is stored:
    /// `store.value.size` is never `nil`.
    public func map<Part: Equatable & Sendable>(
        _ part: any WritableKeyPath<Default, Part> & Sendable
    ) -> AnyStore<Part> { map(part, default: Default.defaultInstance) }

    /// Calls the handler after each change of one property, until the token is cancelled or
    /// deallocated.
    ///
    /// ```swift
    /// let token = store.observe(\.size) { change in print(change.newValue as Any) }
    /// ```
    ///
    /// The change holds what counts: the property of the default if no config is stored, or none
    /// that can be read. Other changes of the config are not reported. See also
    /// ``observe(initial:_:)``.
    ///
    /// - Parameters:
    ///   - property: The property to observe.
    ///   - initial: Whether the handler is called with the present value first.
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

    /// The values from now on, beginning with the present one. The default takes the place of a
    /// value that is not stored.
    public var values: DefaultUpdates<Default> {
        DefaultUpdates { element in observe(initial: true) { element($0.value) } }
    }
}

extension DefaultStoreType where Default: DefaultConvertible {
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "conform the type to DefaultConfig, or give the value to begin with: update(default: …) { … }"
    )
    public func update<Result>(_ body: (inout Default) throws -> Result) throws -> Result {
        fatalError("unavailable")
    }
}
