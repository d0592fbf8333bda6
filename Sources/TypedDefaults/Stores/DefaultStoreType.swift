/// A place for one value: what a view model holds, and what a test swaps.
///
/// ``PersistentStore`` and ``InMemoryStore`` conform; ``AnyStore`` hides which one it is. A type of your own needs `get`, `set`
/// and `remove` only. Then its `update` is a read and a write that other threads can come between: with several writers, write that too.
///
/// The stores of this library keep these laws, and others should:
///
/// 1. An empty store reads nil; the last write wins; removing twice is harmless; a value reads back equal. Over `UserDefaults`, an
///    empty key reads the value that other code registered for it, or one of the global domain.
/// 2. Missing, unreadable and unavailable are three answers of ``load()``. What could not be read is never overwritten
///    without being kept aside first.
/// 3. The body of ``update(_:)`` runs once, alone among the writers of its suite. Reading inside it is fine, writing the same
///    suite is an error.
/// 4. No conversion is called under a lock that a read needs, so reading inside one is safe. Writing the same suite inside one is
///    an error where a write has called it.
public protocol DefaultStoreType<Default>: Sendable {
    /// The type of the value.
    associatedtype Default: Sendable

    /// The value; nil if it is missing, unreadable or unavailable. ``load()`` tells these apart.
    func get() -> Default?

    /// Stores the value. A failure goes to the failure handler of the suite, and the old value stays; ``save(_:)`` throws it.
    func set(_ value: Default)

    /// Removes what is stored, an unreadable value as well, which is not kept. Removing what is missing is harmless.
    /// `update { $0 = nil }` throws a failure, and also where the value is unreadable.
    func remove()

    /// The value; nil if it is missing.
    ///
    /// - Throws: A ``DefaultsError``: ``DefaultsError/Kind/unreadable`` if something else is stored than this type reads,
    ///   ``DefaultsError/Kind/unavailable`` if the place cannot be read now.
    func load() throws -> Default?

    /// Stores the value, as durably as ``set(_:)``, and says what went wrong.
    ///
    /// Where a suite saves in the background, a disk that cannot be written shows later: ``DefaultsSuite/synchronize()`` waits for it.
    ///
    /// - Throws: A ``DefaultsError``; then the old value stays.
    func save(_ value: Default) throws

    /// Changes the value in one step that no other writer comes between.
    ///
    /// ```swift
    /// try store.update { $0?.size = .large }
    /// ```
    ///
    /// On Linux, `UserDefaults` gives no way to keep other processes out, only other threads.
    ///
    /// - Parameter body: Gets the value, nil if it is missing, and leaves the new one, nil to remove it. It runs once, and nothing is
    ///   written if it throws. Keep it short: other writers wait, and those that wait too long get an error.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or a ``DefaultsError``. An unreadable value is an error before `body` runs.
    @discardableResult
    func update<Result>(_ body: (inout Default?) throws -> Result) throws -> Result

    /// Calls the handler after each change of the value, until the token is cancelled or let go of.
    ///
    /// By whomever the change is made: this store, another one for the same key of the suite, or, within milliseconds, another
    /// process. Once for each change, in the order of the commits; never for a write that fails, or that stores what is stored already.
    /// The handler runs under no lock, on the thread of a writer or on one that looks for news; reading, writing, observing and
    /// cancelling inside it are safe. Observers that write in a circle end in an error after 100 rounds. A task that a handler starts
    /// is not part of a circle, so an observer may refresh its own setting from time to time.
    ///
    /// A store of your own that does not write this hears nothing.
    func observe(
        _ options: ObservationOptions, _ handler: @escaping @Sendable (DefaultChange<Default>) -> Void
    ) -> ObservationToken
}

// What three methods give.
extension DefaultStoreType {
    public func load() throws -> Default? { get() }

    public func save(_ value: Default) throws { set(value) }

    public func observe(
        _ options: ObservationOptions, _ handler: @escaping @Sendable (DefaultChange<Default>) -> Void
    ) -> ObservationToken { ObservationToken(nil) }

    /// Reads, changes and writes, in three steps that other writers can come between.
    @discardableResult
    public func update<Result>(_ body: (inout Default?) throws -> Result) throws -> Result {
        var value = try load()
        let result = try body(&value)
        if let value { try save(value) } else { remove() }
        return result
    }
}

extension DefaultStoreType {
    /// Calls the handler after each change of the value, with the present value first if `initial` is true.
    ///
    /// ```swift
    /// let token = store.observe { change in print(change.newValue as Any) }
    /// ```
    public func observe(
        initial: Bool = false, _ handler: @escaping @Sendable (DefaultChange<Default>) -> Void
    ) -> ObservationToken {
        observe(initial ? .initial : [], handler)
    }

    /// Calls the handler on the main actor after each change of the value, with the present value first if `initial` is true.
    ///
    /// ```swift
    /// token = store.observe(on: MainActor.shared) { [weak self] change in self?.label.text = change.newValue?.title }
    /// ```
    ///
    /// The calls come later, in the order of the changes; none begins on the main actor after the token was cancelled there.
    public func observe(
        initial: Bool = false, on actor: MainActor, _ handler: @escaping @MainActor (DefaultChange<Default>) -> Void
    ) -> ObservationToken {
        let queue = MainActorQueue(handler)
        let token = observe(initial ? .initial : []) { change in queue.append(change) }
        return ObservationToken {
            queue.cancel()
            token.cancel()
        }
    }
}
