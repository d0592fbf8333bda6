import Dispatch
public import TypedDefaults

/// A backend that answers after a delay.
public final class SlowBackend: BackendInterceptor {
    /// The backend that is decorated.
    public let base: any DefaultsBackend
    private let delay: DispatchTimeInterval
    private let names: Set<BackendCall.Name>

    /// Creates a backend.
    ///
    /// - Parameters:
    ///   - delay: How long each call takes, in addition to the time of the base.
    ///   - names: The calls that take that time.
    ///   - base: The backend to pass the calls to; `nil` for a new one in memory, which every read
    ///     of a setting calls.
    public init(
        delay: Duration, of names: Set<BackendCall.Name> = [.value, .keys, .commit, .synchronize],
        base: (any DefaultsBackend)? = nil
    ) {
        self.base = base ?? UncachedMemoryBackend()
        self.delay = delay.dispatchInterval
        self.names = names
    }

    /// Blocks the thread for the delay.
    public func willMake(_ call: BackendCall) {
        guard names.contains(call.name) else { return }
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + delay)
    }
}
