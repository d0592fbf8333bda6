/// Who hears of what goes through a box around a store that tells nothing itself. Copies of the box share it.
final class Relay<Default: Sendable>: Sendable {
    private struct State {
        var observers: [Observer] = []
        var events: [(change: DefaultChange<Default>, depth: Int, target: Observer?)] = []
        var isDelivering = false

        /// The next event, and who is to hear of it, unless somebody is telling.
        mutating func begin() -> (event: (change: DefaultChange<Default>, depth: Int, target: Observer?), [Observer])? {
            guard !isDelivering, !events.isEmpty else { return nil }
            isDelivering = true
            let event = events.removeFirst()
            return (event, event.target.map { [$0] } ?? observers)
        }
    }
    private final class Observer: Sendable {
        let isCancelled = Locked(false)
        let handle: @Sendable (DefaultChange<Default>) -> Void
        init(_ handle: @escaping @Sendable (DefaultChange<Default>) -> Void) { self.handle = handle }
    }
    private let state = Locked(State())
    /// Of those who write through the box, so that what they tell is in the order of their writes.
    private let turns = TurnLock()

    init() {
        Forks.hold(turns, .suite)
        Forks.hold(state, .leaf)
    }

    deinit {
        Forks.release(turns)
        Forks.release(state)
    }

    func observe(
        _ options: ObservationOptions, of store: some DefaultStoreType<Default>,
        _ handler: @escaping @Sendable (DefaultChange<Default>) -> Void
    ) -> ObservationToken {
        let observer = Observer(handler)
        let present = options.contains(.initial) ? store.get() : nil
        state.withLock { state in
            state.observers.append(observer)
            guard options.contains(.initial) else { return }
            let kind: ChangeKind = present == nil ? .removed : .set
            state.events.append(
                (
                    DefaultChange(oldValue: nil, newValue: present, kind: kind, origin: .thisProcess), ChangeRow.depth,
                    observer
                ))
        }
        deliver()
        return ObservationToken { [self] in
            observer.isCancelled.withLock { $0 = true }
            state.withLock { $0.observers.removeAll { $0 === observer } }
        }
    }

    /// Does something to the store, and tells what has come of it.
    func telling<Result>(_ store: some DefaultStoreType<Default>, _ body: () throws -> Result) rethrows -> Result {
        guard state.withLock({ !$0.observers.isEmpty }) else { return try body() }
        defer { deliver() }
        // Whoever waits too long, or writes from inside an update, goes on without: the store is not ours to close.
        let hasTurn = (try? turns.acquire(patience: .seconds(2))) != nil
        defer { if hasTurn { turns.release() } }
        let old = store.get()
        let result = try body()
        let new = store.get()
        guard !areEqual(old, new) else { return result }
        guard ChangeRow.depth < ChangeRow.limit else {
            // A store of somebody's own has no failure handler.
            writeToLog(
                .nestedWrite, line: "TypedDefaults: observers of a store write in a circle; no more is told of it")
            return result
        }
        let change = DefaultChange(
            oldValue: old, newValue: new, kind: new == nil ? .removed : .set, origin: .thisProcess)
        state.withLock { $0.events.append((change, ChangeRow.depth + 1, nil)) }
        return result
    }

    /// Values of a type that cannot be compared are taken to differ.
    private func areEqual(_ old: Default?, _ new: Default?) -> Bool {
        guard let old, let new else { return old == nil && new == nil }
        func isEqual<Value: Equatable>(_ old: Value) -> Bool { areSame(old, new as? Value) }
        return (old as? any Equatable).map { isEqual($0) } ?? false
    }

    /// Tells in order: one thread at a time, and under no lock.
    private func deliver() {
        while let (event, observers) = state.withLock({ $0.begin() }) {
            ChangeRow.calling(at: event.depth) {
                for observer in observers where !observer.isCancelled.withLock({ $0 }) { observer.handle(event.change) }
            }
            state.withLock { $0.isDelivering = false }
        }
    }
}
