import SettingsFile
public import TypedDefaults

/// A backend that cannot be read or written until it becomes available, such as a file before the
/// first unlock of a device.
///
/// ```swift
/// let backend = UnavailableBackend()
/// let model = CameraModel(config: .persistent(in: DefaultsSuite(backend: backend)))
/// #expect(model.isWaiting)
/// backend.isAvailable = true
/// #expect(!model.isWaiting)
/// ```
public final class UnavailableBackend: BackendInterceptor {
    /// The backend that is decorated.
    public let base: any DefaultsBackend
    private let available = Locked(false)
    private let handler = AttachedHandler()

    /// Creates a backend that is unavailable.
    ///
    /// - Parameter base: The backend to pass the calls to; `nil` for a new one in memory.
    public init(base: (any DefaultsBackend)? = nil) { self.base = base ?? UncachedMemoryBackend() }

    /// Whether calls reach the base. Otherwise they throw an error of kind `unavailable`.
    ///
    /// If this changes, the observers of the suite receive the values that have changed for them
    /// before the assignment returns.
    public var isAvailable: Bool {
        get { available.withLock { $0 } }
        set { if available.withLock({ exchange(&$0, with: newValue) }) != newValue { handler(.changed(keys: nil)) } }
    }

    /// Throws unless the backend is available.
    public func willMake(_ call: BackendCall) throws(DefaultsError) {
        guard isAvailable else { throw DefaultsError(.unavailable, reason: "the backend is not available yet") }
    }

    /// Returns `nil`, so that each read of a setting is a call.
    public var generation: UInt64? { nil }

    /// Takes the closure that receives changes of the base and of ``isAvailable``.
    public func watch(_ subject: WatchedSubject, _ handler: (@Sendable (BackendEvent) -> Void)?) -> Bool {
        if let handler { self.handler.attach(handler) }
        return base.watch(subject, handler)
    }
}
