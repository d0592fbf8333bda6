import SettingsFile

/// An observation, which lasts as long as this object or until it is cancelled.
///
/// One type for all stores, so that many fit one array or set:
///
/// ```swift
/// var tokens: [ObservationToken] = []
/// tokens.append(store.observe { change in print(change.newValue as Any) })
/// ```
public final class ObservationToken: Sendable {
    private let end: Locked<(@Sendable () -> Void)?>

    /// Whether the token belongs to a store that reports no changes.
    let isInert: Bool

    /// Creates a token, for a store of your own that implements
    /// ``DefaultStoreType/observe(initial:_:)``.
    ///
    /// - Parameter onCancel: Ends the observation. It is called once, when the token is cancelled
    ///   or deallocated.
    public init(_ onCancel: @escaping @Sendable () -> Void) {
        end = Locked(onCancel)
        isInert = false
    }

    /// Creates a token of a store that reports no changes.
    init(inert: Void) {
        end = Locked(nil)
        isInert = true
    }

    deinit { cancel() }

    /// Ends the observation. Safe from any thread, inside the handler as well; cancelling twice is
    /// harmless.
    ///
    /// This never waits for a handler, which could be waiting for the caller. So at most one call
    /// can overlap with it: one that another thread had already decided to make may still be
    /// running, or about to begin, when this returns. No other call follows. If the handler is
    /// called on the same thread, or on the main actor and this is called there, then none follows.
    public func cancel() {
        let end = end.withLock { end in
            defer { end = nil }
            return end
        }
        end?()
    }
}

extension ObservationToken: Hashable {
    /// Returns whether both are the same token.
    public static func == (lhs: ObservationToken, rhs: ObservationToken) -> Bool { lhs === rhs }
    /// Hashes the identity of the token.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
