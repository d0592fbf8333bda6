import SettingsFile
public import TypedDefaults

/// A backend some of whose calls fail.
///
/// ```swift
/// let suite = DefaultsSuite(backend: FailingBackend(.commit, at: 2))
/// suite[.volume] = 7
/// #expect(throws: DefaultsError.self) { try suite.update(.volume) { $0 = 8 } }
/// ```
///
/// A call that fails does not reach the base, so it changes nothing.
public final class FailingBackend: BackendInterceptor {
    /// The backend that is decorated.
    public let base: any DefaultsBackend
    private let failure: @Sendable (BackendCall) -> DefaultsError?

    /// Creates a backend whose calls fail if a closure returns an error.
    ///
    /// - Parameters:
    ///   - base: The backend to pass the other calls to; `nil` for a new one in memory, which every
    ///     read of a setting calls.
    ///   - failure: Returns the error for a call, or `nil` if the call succeeds. Any thread may
    ///     call it.
    public init(base: (any DefaultsBackend)? = nil, failure: @escaping @Sendable (BackendCall) -> DefaultsError?) {
        self.base = base ?? UncachedMemoryBackend()
        self.failure = failure
    }

    /// Creates a backend in which all calls of a name fail, or only one of them.
    ///
    /// - Parameters:
    ///   - name: The calls that fail.
    ///   - number: Which of these calls fails, counted from 1; `nil` for all of them.
    ///   - error: The error.
    ///   - base: The backend to pass the other calls to; `nil` for a new one in memory, which every
    ///     read of a setting calls.
    public convenience init(
        _ name: BackendCall.Name, at number: Int? = nil,
        with error: DefaultsError = DefaultsError(.unavailable, reason: "this call fails in a test"),
        base: (any DefaultsBackend)? = nil
    ) {
        let count = Locked(0)
        self.init(base: base) { call in
            guard call.name == name else { return nil }
            let current = count.withLock { count in
                count += 1
                return count
            }
            return number == nil || number == current ? error : nil
        }
    }

    /// Throws the error for the call, if there is one.
    public func willMake(_ call: BackendCall) throws(DefaultsError) { if let error = failure(call) { throw error } }
}
