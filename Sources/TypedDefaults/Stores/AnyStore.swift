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
/// Copies share the underlying store. It is not `Equatable`: whether two boxes are equal could mean the same store or the
/// same value, and both can be asked for by their own names.
public struct AnyStore<Default: Sendable>: DefaultStoreType {
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

    public func get() -> Default? { base.get() }
    public func set(_ value: Default) { telling { base.set(value) } }
    public func remove() { telling { base.remove() } }
    public func load() throws -> Default? { try base.load() }
    public func save(_ value: Default) throws { try telling { try base.save(value) } }

    @discardableResult
    public func update<Result>(_ body: (inout Default?) throws -> Result) throws -> Result {
        try telling { try base.update(body) }
    }

    /// Calls the handler after each change of the value.
    ///
    /// If the store is your own and has no `observe`, the box reports the changes that go through it and its
    /// copies. It sees a write to the store itself, or through another box around it, only at its own next
    /// write or observation.
    public func observe(
        _ options: ObservationOptions, _ handler: @escaping @Sendable (DefaultChange<Default>) -> Void
    ) -> ObservationToken {
        let token = base.observe(options, handler)
        guard let relay, token.isInert else { return token }
        return relay.observe(options, of: base, handler)
    }

    private func telling<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let relay else { return try body() }
        return try relay.telling(base, body)
    }

    func report(_ error: DefaultsError) { base.fail(with: error) }
}

extension AnyStore where Default: DefaultConvertible {
    /// A ``PersistentStore`` in that suite.
    public static func persistent(in suite: DefaultsSuite = .standard) -> AnyStore {
        AnyStore(PersistentStore(suite: suite))
    }

    /// An ``InMemoryStore`` that holds the value, or nothing.
    public static func inMemory(_ initial: Default? = nil) -> AnyStore {
        AnyStore(InMemoryStore(initial))
    }
}
