import SettingsFile

/// Notifies the observers of a store that reports no changes itself. It reports the changes that
/// are made through an ``AnyStore``. Copies of the `AnyStore` share one relay.
final class Relay<Default: Sendable>: Sendable {
    private struct Event {
        let change: DefaultChange<Default>
        let depth: Int
        /// The observers at the time of the write.
        let audience: [ChangeObserver]
    }
    private typealias ChangeObserver = Observer<DefaultChange<Default>>
    private struct State {
        var observers: [ChangeObserver] = []
        /// The value that the observers know; `nil` without observers.
        var known: Default?
        var queue = DeliveryQueue<Event>()
        var isNeeded: Bool?
    }
    private let state = Locked(State())
    /// Held during each write through the `AnyStore` and each start of an observation. Events are
    /// therefore in the order of the writes, and no write comes between reading the initial value
    /// and adding the observer.
    private let writerLock = RecursionCheckingLock()

    /// Whether the store reports no changes itself; `nil` until the first observation.
    var isNeeded: Bool? {
        get { state.withLock { $0.isNeeded } }
        set { state.withLock { $0.isNeeded = newValue } }
    }

    func observe(
        initial: Bool, of store: some DefaultStoreType<Default>,
        _ handler: @escaping @Sendable (DefaultChange<Default>) -> Void
    ) -> ObservationToken {
        let observer = ChangeObserver(handler)
        let hasLock = (try? writerLock.acquire(timeout: .seconds(2))) != nil
        // The read can call a failure handler that writes through the `AnyStore`, so run it after
        // unlocking.
        if hasLock { AfterUnlock.didLock() }
        let present = enqueue(store.get(), isWrite: false)
        let old = state.withLock { state in
            let old = state.known
            if state.observers.isEmpty { state.known = present }
            state.observers.append(observer)
            guard initial else { return old }
            let change = DefaultChange(oldValue: nil, newValue: present, kind: .initial, origin: .local)
            state.queue.append(Event(change: change, depth: NotificationDepth.current, audience: [observer]))
            return old
        }
        withExtendedLifetime(old) {}
        // A write that timed out waiting for the lock may have come in between.
        enqueue(store.get(), isWrite: false)
        if hasLock {
            writerLock.release()
            AfterUnlock.didUnlock()
        }
        deliver()
        return ObservationToken { [self] in
            // Release the value after unlocking: its deinit may use the `AnyStore`.
            let old = state.withLock { state in
                observer.isCancelled = true
                let old = state.known
                state.observers.removeAll { $0 === observer }
                if state.observers.isEmpty { state.known = nil }
                return old
            }
            withExtendedLifetime(old) {}
        }
    }

    /// Runs a write to the store, and notifies the observers of the change.
    func notifying<Result>(_ store: some DefaultStoreType<Default>, _ body: () throws -> Result) rethrows -> Result {
        var refusal: RecursionCheckingLock.AcquireError?
        // After a timeout, and inside an update, write without the lock, because the store's own
        // `set` must not fail here.
        do throws(RecursionCheckingLock.AcquireError) { try writerLock.acquire(timeout: .seconds(2)) } catch {
            refusal = error
        }
        defer {
            if refusal == nil { writerLock.release() }
            // The outer write delivers when it has unlocked.
            if refusal != .heldByCaller { deliver() }
        }
        let result = try body()
        if state.withLock({ !$0.observers.isEmpty }) { enqueue(store.get(), isWrite: true) }
        return result
    }

    /// Appends an event if the value differs from the one that the observers know.
    ///
    /// - Parameter isWrite: Whether the value counts as changed if it cannot be compared.
    @discardableResult
    private func enqueue(_ new: Default?, isWrite: Bool) -> Default? {
        let (isObserved, old) = state.withLock { (!$0.observers.isEmpty, $0.known) }
        guard isObserved, !(areEqual(old, new) ?? !isWrite) else { return new }
        guard NotificationDepth.current < NotificationDepth.limit else {
            // A foreign store has no failure handler.
            writeToLog(
                DefaultsError.Kind.nestedWrite.description,
                line: "TypedDefaults: observers of a store triggered each other; stopped notifying to break the cycle")
            return new
        }
        let change = DefaultChange(
            oldValue: old, newValue: new, kind: new == nil ? .removed : .set, origin: .local)
        state.withLock { state in
            guard !state.observers.isEmpty else { return }
            state.known = new
            state.queue.append(Event(change: change, depth: NotificationDepth.current + 1, audience: state.observers))
        }
        return new
    }

    /// Returns `nil` if the type is not `Equatable`.
    private func areEqual(_ old: Default?, _ new: Default?) -> Bool? {
        guard let old, let new else { return old == nil && new == nil }
        func isEqual<Value: Equatable>(_ old: Value) -> Bool { areSame(old, new as? Value) }
        return (old as? any Equatable).map { isEqual($0) }
    }

    /// Calls the handlers in order, on one thread at a time, and only while this thread holds no
    /// writer lock.
    private func deliver() {
        guard !AfterUnlock.holdsLock else { return AfterUnlock.run { [self] in deliver() } }
        while let events = state.withLock({ $0.queue.begin() }) {
            for event in events {
                NotificationDepth.calling(at: event.depth) {
                    for observer in event.audience where !state.withLock({ _ in observer.isCancelled }) {
                        observer.handle(event.change)
                    }
                }
            }
            state.withLock { $0.queue.end() }
        }
    }
}
