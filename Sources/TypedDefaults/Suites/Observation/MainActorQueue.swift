import SettingsFile

/// Changes on their way to the main actor: one task at a time, so that they arrive in order.
final class MainActorQueue<Value: Sendable>: Sendable {
    private let waiting = Locked<[(change: DefaultChange<Value>, depth: Int)]?>([])
    private let handler: @MainActor (DefaultChange<Value>) -> Void

    init(_ handler: @escaping @MainActor (DefaultChange<Value>) -> Void) { self.handler = handler }

    func append(_ change: DefaultChange<Value>) {
        let isFirst = waiting.withLock { waiting in
            waiting?.append((change, NotificationDepth.current))
            return waiting?.count == 1
        }
        guard isFirst else { return }
        Task { @MainActor in
            // The first change stays until it is delivered, so that no second task starts.
            while let (change, depth) = waiting.withLock({ $0?.first }) {
                NotificationDepth.calling(at: depth) { handler(change) }
                waiting.withLock { waiting in
                    if waiting?.isEmpty == false { waiting?.removeFirst() }
                }
                // Others want the main actor as well.
                await Task.yield()
            }
        }
    }

    /// Nothing is handed over any more.
    func cancel() {
        // Release the waiting changes after unlocking: the deinit of a value may use the suite.
        let dropped = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        withExtendedLifetime(dropped) {}
    }
}
