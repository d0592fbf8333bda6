/// A store that hides which store it forwards to.
///
/// Hold one in a view model, on disk in the app and in memory in a test:
///
/// ```swift
/// @MainActor final class CameraModel {
///     let config: AnyStore<CameraConfig>
///     init(config: AnyStore<CameraConfig> = .persistent()) { self.config = config }
/// }
///
/// let model = CameraModel(config: .inMemory(CameraConfig()))
/// ```
///
/// Copies share the underlying store. It is not `Equatable`: whether two boxes are equal could mean
/// the same store or the same value, and both can be asked for by their own names.
public struct AnyStore<Default: Sendable>: RecoveringStore {
    let base: any DefaultStoreType<Default>
    /// Nil for a base that notifies observers itself.
    private let relay: Relay<Default>?

    /// Hides a store. A box around a box adds no layer.
    public init(_ store: some DefaultStoreType<Default>) {
        let box = store as? AnyStore<Default>
        base = box?.base ?? store
        let notifies = (base as? any FailureReporting)?.notifiesObservers ?? false
        relay = notifies ? nil : box?.relay ?? Relay()
    }

    /// Returns the stored value; `nil` if it is missing, unreadable or unavailable.
    public func get() -> Default? { base.get() }
    /// Stores a value. The failure handler of the store's suite receives an error.
    public func set(_ value: Default) { notifying { base.set(value) } }
    /// Removes the stored value.
    public func remove() { notifying { base.remove() } }
    /// Returns the stored value; `nil` if it is missing.
    public func load() throws -> Default? { try base.load() }
    /// Stores a value, or throws and leaves the old one.
    public func save(_ value: Default) throws { try notifying { try base.save(value) } }

    /// Changes the stored value in one step that no other writer comes between.
    @discardableResult
    public func updateStored<Result>(_ body: (inout Default?) throws -> Result) throws -> Result {
        try notifying { try base.updateStored(body) }
    }

    func updateRecovering<Result>(_ body: (inout Default?) throws -> Result) throws -> Result {
        try notifying { try base.updateRecovering(body) }
    }

    /// Calls the handler after each change of the value.
    ///
    /// If the store is your own and has no `observe`, the box reports the changes that go through
    /// it and its copies. It notices a write to the store itself, or through another box around it,
    /// only at its own next write or observation.
    public func observe(
        initial: Bool, _ handler: @escaping @Sendable (DefaultChange<Default>) -> Void
    ) -> ObservationToken {
        guard let relay else { return base.observe(initial: initial, handler) }
        if relay.isNeeded == nil {
            // Without an initial call, which would be made twice.
            let token = base.observe(initial: false, initial ? { @Sendable _ in } : handler)
            relay.isNeeded = token.isInert
            if !initial, !token.isInert { return token }
        }
        guard relay.isNeeded == true else { return base.observe(initial: initial, handler) }
        return relay.observe(initial: initial, of: base, handler)
    }

    private func notifying<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let relay else { return try body() }
        return try relay.notifying(base, body)
    }

    func report(_ error: DefaultsError) { base.fail(with: error) }
    var storedKey: String? { base.key }
}

extension AnyStore where Default: DefaultConvertible {
    /// Returns a ``PersistentStore`` in that suite.
    public static func persistent(in suite: DefaultsSuite = .standard) -> AnyStore {
        AnyStore(PersistentStore(in: suite))
    }

    /// Returns an ``InMemoryStore`` that holds the value; `nil` for an empty one.
    public static func inMemory(_ initial: Default? = nil) -> AnyStore {
        AnyStore(InMemoryStore(initial))
    }
}

extension AnyStore where Default: Codable {
    /// Returns an ``InMemoryStore`` that holds the value; `nil` for an empty one.
    @_disfavoredOverload
    public static func inMemory(_ initial: Default? = nil) -> AnyStore {
        AnyStore(InMemoryStore(initial))
    }
}
