/// A handler that receives changes until it is cancelled.
final class Observer<Change: Sendable>: Sendable {
    let handle: @Sendable (Change) -> Void
    // Safe: accessed only with the lock of the observers held. With thousands of observers, a lock
    // in each of them would cost too many memory accesses.
    nonisolated(unsafe) var isCancelled = false
    /// The new value of the last change that had this observer as the first of its audience, and
    /// how it was stored.
    // Safe: as above.
    nonisolated(unsafe) var last: (stored: StoredValue, value: ChangedValue)?

    init(_ handle: @escaping @Sendable (Change) -> Void) { self.handle = handle }
}

/// Events that wait to be delivered, in the order in which they were recorded. One thread at a time
/// delivers.
///
/// ```swift
/// while let events = state.withLock({ $0.queue.begin() }) {
///     for event in events { deliver(event) }
///     state.withLock { $0.queue.end() }
/// }
/// ```
struct DeliveryQueue<Event> {
    private var events: [Event] = []
    private var isDelivering = false

    var isEmpty: Bool { events.isEmpty }

    mutating func append(_ event: Event) { events.append(event) }

    /// Takes the events; `nil` if there are none, or if another thread is delivering and will take
    /// them.
    ///
    /// Balance each call that returns events with ``end()``.
    mutating func begin() -> [Event]? {
        guard !isDelivering, !events.isEmpty else { return nil }
        isDelivering = true
        defer { events = [] }
        return events
    }

    mutating func end() { isDelivering = false }

    /// In a forked process, ends a delivery that another thread of the parent had begun.
    mutating func leaveParent() { isDelivering = false }
}
