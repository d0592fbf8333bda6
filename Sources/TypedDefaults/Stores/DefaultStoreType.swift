/// A store for one value. A view model can take any store, and a test can pass one in memory.
///
/// ``PersistentStore`` and ``InMemoryStore`` conform, and ``AnyStore`` erases their type. A store
/// returns the *stored* value, which is `nil` if there is none. If the type is a ``DefaultConfig``,
/// ``value`` and ``update(_:)`` use the default in place of a missing value.
///
/// A store of your own must implement ``get()``, ``set(_:)`` and ``remove()``. If several threads
/// write to it, implement ``updateStored(_:)`` as well, because its default implementation reads
/// and then writes; if it is observed, ``observe(initial:_:)``. To add something to another store,
/// see ``DefaultStoreDecorator``.
///
/// The stores of this library follow these rules, and yours should, too:
///
/// 1. An empty store returns `nil`. The last write wins. Removing a missing value does nothing. A
///    value reads back equal or as the type's own decoding changes it; any other value is refused
///    with an error. With `UserDefaults`, an empty store returns a value that other code registered
///    for the key.
/// 2. ``load()`` distinguishes missing, unreadable and unavailable values. An unreadable value is
///    copied before it is overwritten.
/// 3. The result of an update's body is stored exactly once, while other writers of the suite wait:
///    the writers of all processes with a settings file, and those of this process with
///    `UserDefaults`. Where the writers of other machines cannot wait, the body runs again if one
///    of them was faster; see ``BackendTraits/readsMayLag``. Reading inside it is safe. Writing to
///    the same suite inside it is an error.
/// 4. Conversions run without any lock that a read needs, so they can read settings.
///
/// ## Topics
///
/// ### The value, or the default
///
/// - ``value``
/// - ``update(_:)``
/// - ``draft()``
///
/// ### The stored value
///
/// - ``get()``
/// - ``set(_:)``
/// - ``remove()``
/// - ``removeStored()``
/// - ``load()``
/// - ``save(_:)``
/// - ``updateStored(_:)``
/// - ``update(default:_:)``
/// - ``Default``
///
/// ### Observing
///
/// - ``observe(initial:_:)``
/// - ``observe(_:)``
/// - ``observe(_:initial:_:)``
/// - ``observeOnMainActor(initial:_:)``
/// - ``values-7o95n``
/// - ``values-1ays9``
/// - ``changes``
///
/// ### Storing a property
///
/// - ``map(_:)``
/// - ``map(_:default:)``
public protocol DefaultStoreType<Default>: Sendable {
    /// The type of the value.
    associatedtype Default: Sendable

    /// Returns the stored value, or that of a layer; `nil` if it is missing, unreadable or
    /// unavailable. ``load()`` distinguishes these cases.
    func get() -> Default?

    /// Stores a value. If that fails, the old value stays and the suite's failure handler receives
    /// the error. ``save(_:)`` throws the error instead.
    func set(_ value: Default)

    /// Removes the stored value, even if it cannot be read. Does nothing if no value is stored.
    /// ``removeStored()`` throws if that fails.
    func remove()

    /// Returns the stored value; `nil` if it is missing.
    ///
    /// - Throws: A ``DefaultsError`` of kind ``DefaultsError/Kind/unreadable`` if the stored value
    ///   is not of this type, or ``DefaultsError/Kind/unavailable`` if the suite cannot be read
    ///   now.
    func load() throws -> Default?

    /// Stores a value. If this throws, the old value stays.
    ///
    /// If the stored form would stay the same, nothing is written, and this need not wait for an
    /// update that another thread is making.
    ///
    /// If the suite saves in the background, this may return before the disk fails.
    /// ``DefaultsSuite/synchronize()`` waits for the disk.
    ///
    /// - Throws: A ``DefaultsError``.
    func save(_ value: Default) throws

    /// Removes the stored value, even if it cannot be read, or throws. Does nothing if no value is
    /// stored.
    ///
    /// The default implementation calls ``remove()``, and throws if ``load()`` then throws or
    /// returns a value.
    ///
    /// - Throws: A ``DefaultsError``. Then the value stays, unless only its flush failed; see
    ///   ``DefaultsSuite/Durability/immediate``.
    func removeStored() throws

    /// Reads, changes and writes the stored value in one step, while other writers wait.
    ///
    /// ```swift
    /// try store.updateStored { stored in if stored?.isExpired == true { stored = nil } }
    /// ```
    ///
    /// Writers of other processes wait if the suite is a settings file. With `UserDefaults`, only
    /// writers in the same process wait. Of a ``DefaultConfig``, this stores the properties that
    /// `body` changes.
    ///
    /// - Parameter body: Edits the stored value, or that of a layer behind it, which is `nil` if it
    ///   is missing. Assigning `nil` removes it. It may run again (see
    ///   ``BackendTraits/readsMayLag``), and nothing is written if it throws. Keep it short,
    ///   because other writers wait.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or a ``DefaultsError``. If the stored value is unreadable,
    ///   `body` does not run.
    @discardableResult
    func updateStored<Result>(_ body: (inout Default?) throws -> Result) throws -> Result

    /// Reads, changes and writes the value in one step, while other writers wait, as
    /// ``updateStored(_:)`` does. Starts with a default if no value is stored.
    ///
    /// ```swift
    /// try store.update(default: 0) { $0 += 1 }
    /// ```
    ///
    /// A stored value that cannot be read counts as missing. It is copied to `<key>.unreadable` and
    /// reported, as with ``set(_:)``. If `body` changes nothing, nothing is written.
    ///
    /// The default implementation calls ``updateStored(_:)``, and ``save(_:)`` if the stored value
    /// is unreadable.
    ///
    /// - Parameters:
    ///   - defaultValue: The value that `body` receives if none is stored. Evaluated only then.
    ///   - body: Edits the value. It may run again (see ``BackendTraits/readsMayLag``), and nothing
    ///     is written if it throws. Keep it short, because other writers wait.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or a ``DefaultsError``.
    @discardableResult
    func update<Result>(
        default defaultValue: @autoclosure () -> Default, _ body: (inout Default) throws -> Result
    ) throws -> Result

    /// Calls the handler after each change of the stored value until the token is cancelled or
    /// deallocated.
    ///
    /// Reports changes from any source: this store, other stores for the same key and other
    /// processes. Changes by other processes arrive within milliseconds on a settings file on
    /// Linux, and later on `UserDefaults` for keys with `.` or `@`. Each committed change is
    /// reported once, in the order of the commits. If other processes make several in quick
    /// succession, perhaps only the last one is reported. A write that fails is not reported, and
    /// neither is a write of an equal stored form; 5 and 5.0 have different forms. The handler runs
    /// under no lock, on the thread that made the change, or on a thread of the library if other
    /// changes are waiting or other code made it. It may read, write, observe and cancel. Observers
    /// that trigger each other are stopped with an error after 100 rounds; a task that a handler
    /// starts begins a new count.
    ///
    /// The default implementation only makes the initial call, and logs once that the type reports
    /// no changes. See <doc:Observing> for a store that does.
    ///
    /// - Parameters:
    ///   - initial: Whether to call the handler with the current value first.
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

    /// Calls `remove()`, and throws if a value is still there.
    public func removeStored() throws {
        remove()
        if try load() != nil { throw DefaultsError(.refused, type: "\(Default.self)", reason: "remove() left a value") }
    }

    /// Reads, edits and writes in three separate steps. Other writers can write in between.
    @discardableResult
    public func updateStored<Result>(_ body: (inout Default?) throws -> Result) throws -> Result {
        var edit = StoreEdit(try load())
        let result = try body(&edit.value)
        guard edit.isChange else { return result }
        if let value = edit.value { try save(value) } else { try removeStored() }
        return result
    }

    /// Updates the stored value, or saves a new one in place of one that is unreadable.
    @discardableResult
    public func update<Result>(
        default defaultValue: @autoclosure () -> Default, _ body: (inout Default) throws -> Result
    ) throws -> Result {
        try editStored(recovering: true, from: defaultValue()) { value, _ in try body(&value!) }
    }

    /// Only makes the initial call, and logs once that the type reports no changes.
    public func observe(
        initial: Bool, _ handler: @escaping @Sendable (DefaultChange<Default>) -> Void
    ) -> ObservationToken {
        logMissingObservation()
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
    /// The calls are made asynchronously, in the order of the changes. After you cancel the token
    /// on the main actor, no further call begins.
    ///
    /// - Parameters:
    ///   - initial: Whether to call the handler with the current value first.
    ///   - handler: Receives each change.
    public func observeOnMainActor(
        initial: Bool = false, _ handler: @escaping @MainActor (DefaultChange<Default>) -> Void
    ) -> ObservationToken {
        let queue = MainActorQueue(handler)
        let token = observe(initial: initial) { change in queue.append(change.decoded()) }
        return ObservationToken(repeatable: {
            queue.cancel()
            token.cancel()
        })
    }
}

extension DefaultStoreType {
    /// The current stored value, followed by each new one; `nil` for a value that is missing or
    /// cannot be read.
    public var values: DefaultUpdates<Default?> {
        DefaultUpdates { element in observe(initial: true) { element($0.newValue) } }
    }

    /// The changes of the store, without the current value.
    ///
    /// A slow consumer receives several changes as one, from the old value of the first to the new
    /// value of the last, so each change begins with the value that the previous one ended with.
    public var changes: DefaultUpdates<DefaultChange<Default>> {
        DefaultUpdates({ element in observe(initial: false) { element($0.decoded()) } }, merge: { $0.merged(with: $1) })
    }
}
