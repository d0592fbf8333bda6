import SettingsFile
public import TypedDefaults

/// A backend that records each call, in order.
///
/// ```swift
/// let backend = RecordingBackend()
/// let suite = DefaultsSuite(backend: backend)
/// suite[.volume] = 7
/// #expect(backend.calls == [.beginWrite, .value(key: "volume"), .commit(["volume": 7]), .endWrite])
/// ```
public final class RecordingBackend: BackendInterceptor {
    /// The backend that is decorated.
    public let base: any DefaultsBackend
    private let recordedCalls = Locked<[BackendCall]>([])

    /// Creates a backend.
    ///
    /// - Parameter base: The backend to pass the calls to; `nil` for a new one in memory, which
    ///   every read of a setting calls. A suite caches the values of other backends if they have a
    ///   generation.
    public init(base: (any DefaultsBackend)? = nil) { self.base = base ?? UncachedMemoryBackend() }

    /// The calls so far, oldest first. `generation`, `layer(of:)`, `traits` and the watch of
    /// failures are not recorded.
    public var calls: [BackendCall] { recordedCalls.withLock { $0 } }

    /// Forgets the calls so far.
    public func removeAllCalls() { recordedCalls.withLock { $0 = [] } }

    /// Records the call.
    public func willMake(_ call: BackendCall) { recordedCalls.withLock { $0.append(call) } }
}
