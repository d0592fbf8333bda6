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

    /// Whether it is of a store that tells nothing.
    let isInert: Bool

    init(_ end: (@Sendable () -> Void)?) {
        self.end = Locked(end)
        isInert = end == nil
    }

    deinit { cancel() }

    /// Ends the observation: no call of its handler begins after this has returned. Safe from any thread, inside the handler as well.
    public func cancel() {
        let end = end.withLock { end in
            defer { end = nil }
            return end
        }
        end?()
    }
}

extension ObservationToken: Hashable {
    public static func == (lhs: ObservationToken, rhs: ObservationToken) -> Bool { lhs === rhs }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
