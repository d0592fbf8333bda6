import SettingsFile

/// The handler that a suite has attached to a backend.
package final class AttachedHandler: Sendable {
    // Not a lock of the closure itself: each access would wrap the closure once more, because
    // generic code calls closures in another way. A long chain of these overflows the stack.
    private struct State { var call: @Sendable (BackendEvent) -> Void = { _ in } }
    private let state = Locked(State())

    package init() {}

    package func attach(_ handler: @escaping @Sendable (BackendEvent) -> Void) {
        // Release the old closure after unlocking, because it may hold objects of the program.
        withExtendedLifetime(state.withLock { exchange(&$0, with: State(call: handler)) }) {}
    }

    package func callAsFunction(_ event: BackendEvent) { state.withLock { $0 }.call(event) }
}
