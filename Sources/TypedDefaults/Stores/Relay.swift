import SettingsFile

/// Notifies the observers of a store that reports no changes itself: of each write that is made
/// through an ``AnyStore`` or its copies, which share one relay, in their order.
final class Relay<Default: Sendable>: Sendable {
    private typealias ChangeObserver = Observer<DefaultChange<Default>>
    private struct State {
        var observers: [ChangeObserver] = []
        /// The value that the observers know.
        var known: Default?
        var queue = DeliveryQueue<(change: DefaultChange<Default>, depth: Int, observers: [ChangeObserver])>()
        var isNeeded: Bool?
    }
    private let state = Locked(State())
    /// Held during each write and each start of an observation, so events are in that order.
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
        locked {
            let present = note(store.get())
            let old = state.withLock { state in
                state.observers.append(observer)
                let change = DefaultChange(oldValue: nil, newValue: present, kind: .initial, origin: .local)
                if initial { state.queue.append((change, NotificationDepth.current, [observer])) }
                defer { state.known = present }
                return state.known
            }
            withExtendedLifetime(old) {}
            // The read may have called code that writes.
            _ = note(store.get())
        }
        return ObservationToken { [self] in
            // Release the value after unlocking: its deinit may use the `AnyStore`.
            let old = state.withLock { state in
                observer.isCancelled = true
                state.observers.removeAll { $0 === observer }
                defer { if state.observers.isEmpty { state.known = nil } }
                return state.known
            }
            withExtendedLifetime(old) {}
        }
    }

    /// Runs a write to the store, and notifies the observers if it changes the value.
    func notifying<Result>(_ store: some DefaultStoreType<Default>, _ body: () throws -> Result) rethrows -> Result {
        try locked {
            let result = try body()
            if state.withLock({ !$0.observers.isEmpty }) { _ = note(store.get()) }
            return result
        }
    }

    /// Queues an event if the observers know another value, and returns the value.
    private func note(_ new: Default?) -> Default? {
        let (isObserved, old) = state.withLock { (!$0.observers.isEmpty, $0.known) }
        guard isObserved, !areEqual(old, new) else { return new }
        guard NotificationDepth.current < NotificationDepth.limit else {
            // A foreign store has no failure handler.
            writeToLog(
                DefaultsError.Kind.nestedWrite.description,
                line: "TypedDefaults: observers of a store triggered each other; stopped notifying to break the cycle")
            return new
        }
        let change = DefaultChange(oldValue: old, newValue: new, kind: new == nil ? .removed : .set, origin: .local)
        state.withLock { state in
            state.known = new
            state.queue.append((change, NotificationDepth.current + 1, state.observers))
        }
        return new
    }

    /// Runs `body` alone, and then calls the observers. After a timeout it does not run alone,
    /// because the store's own `set` must not fail here. Inside a write, the outer one notifies.
    private func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
        var refusal: RecursionCheckingLock.AcquireError?
        do throws(RecursionCheckingLock.AcquireError) { try writerLock.acquire(timeout: .seconds(2)) } catch {
            refusal = error
        }
        defer {
            if refusal == nil { writerLock.release() }
            if refusal != .heldByCaller { deliver() }
        }
        return try body()
    }

    private func areEqual(_ old: Default?, _ new: Default?) -> Bool {
        guard let old, let new else { return old == nil && new == nil }
        func isEqual<Value: Equatable>(_ old: Value) -> Bool { areSame(old, new as? Value) }
        return (old as? any Equatable).map { isEqual($0) } ?? false
    }

    /// Calls the observers in order, on one thread at a time, and not inside a write.
    private func deliver() {
        guard !AfterUnlock.holdsLock else { return AfterUnlock.run { [self] in deliver() } }
        while let events = state.withLock({ $0.queue.begin() }) {
            for event in events {
                NotificationDepth.calling(at: event.depth) {
                    for observer in event.observers where !state.withLock({ _ in observer.isCancelled }) {
                        observer.handle(event.change)
                    }
                }
            }
            state.withLock { $0.queue.end() }
        }
    }
}
