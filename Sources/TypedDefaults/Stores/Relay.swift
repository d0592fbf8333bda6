import SettingsFile

/// Notifies the observers of a store that reports no changes itself. It reports each write that is
/// made through an ``AnyStore`` or its copies, which share one relay, in the order of the writes.
///
/// Writes and starts of observations are serialized. Values that the relay no longer needs are
/// released after unlocking, because the deinit of a value may use the `AnyStore`.
final class Relay<Default: Sendable>: Sendable {
    typealias ChangeObserver = Observer<DefaultChange<Default>>
    private typealias Event = (ChangeObserver, DefaultChange<Default>, depth: Int)
    /// `known` is the value that the observers know, or knew last.
    private let state = Locked((observers: [ChangeObserver](), known: Default?.none, queue: DeliveryQueue<Event>()))
    private let writerLock = RecursionCheckingLock()
    /// Whether the store reports no changes itself; `nil` until the first observation.
    let isNeeded = Locked<Bool?>(nil)

    func add(_ observer: ChangeObserver, to store: some DefaultStoreType<Default>, initial: Bool) -> ObservationToken {
        notifying(store) {
            var known = store.get()
            let change = DefaultChange(oldValue: nil, newValue: known, kind: .initial, origin: .local)
            state.withLock { state in
                state.observers.append(observer)
                if initial { state.queue.append((observer, change, NotificationDepth.current)) }
                // The old value is released after unlocking, with the variable.
                swap(&state.known, &known)
            }
        }
        return ObservationToken { [self] in
            state.withLock { state in
                observer.isCancelled = true
                state.observers.removeAll { $0 === observer }
            }
        }
    }

    /// Runs a write to the store after the writes before it, and notifies the observers if it
    /// changes the value.
    ///
    /// A write inside a write notifies immediately. After a timeout, a write is made without the
    /// lock, because the store's own `set` cannot fail here.
    func notifying<Output>(_ store: some DefaultStoreType<Default>, _ write: () throws -> Output) rethrows -> Output {
        let hasTurn = (try? writerLock.acquire(timeout: .seconds(2))) != nil
        defer {
            if hasTurn { writerLock.release() }
            deliver()
        }
        let output = try write()
        let (isObserved, old) = state.withLock { (!$0.observers.isEmpty, $0.known) }
        guard isObserved, case let new = store.get(), !areKnownSame(old, new) else { return output }
        let change = DefaultChange(oldValue: old, newValue: new, kind: new == nil ? .removed : .set, origin: .local)
        state.withLock { state in
            state.known = new
            for observer in state.observers { state.queue.append((observer, change, NotificationDepth.current + 1)) }
        }
        return output
    }

    /// Calls the observers in order, on one thread at a time, and not inside a write of a suite.
    private func deliver() {
        guard !AfterUnlock.holdsLock else { return AfterUnlock.run { [self] in deliver() } }
        while let events = state.withLock({ $0.queue.begin() }) {
            for (observer, change, depth) in events where !state.withLock({ _ in observer.isCancelled }) {
                NotificationDepth.calling(at: depth) { observer.handle(change) }
            }
            state.withLock { $0.queue.end() }
        }
    }
}
