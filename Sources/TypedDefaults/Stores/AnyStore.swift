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
    /// For a base that tells nothing itself.
    private let relay: Relay<Default>

    /// Hides a store. A box around a box adds no layer.
    public init(_ store: some DefaultStoreType<Default>) {
        let box = store as? AnyStore<Default>
        base = box?.base ?? store
        relay = box?.relay ?? Relay()
    }

    public func get() -> Default? { base.get() }
    public func set(_ value: Default) { relay.telling(base) { base.set(value) } }
    public func remove() { relay.telling(base) { base.remove() } }
    public func load() throws -> Default? { try base.load() }
    public func save(_ value: Default) throws { try relay.telling(base) { try base.save(value) } }

    @discardableResult
    public func update<Result>(_ body: (inout Default?) throws -> Result) throws -> Result {
        try relay.telling(base) { try base.update(body) }
    }

    /// Of a store of your own that does not write `observe`, what goes through this box and its copies is heard, and nothing else: no
    /// write to the store itself, and none through another box around it.
    public func observe(
        _ options: ObservationOptions, _ handler: @escaping @Sendable (DefaultChange<Default>) -> Void
    ) -> ObservationToken {
        let token = base.observe(options, handler)
        return token.isInert ? relay.observe(options, of: base, handler) : token
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
