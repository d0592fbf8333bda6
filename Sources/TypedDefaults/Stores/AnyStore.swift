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
    private let base: any DefaultStoreType<Default>

    /// Hides a store. A box around a box adds no layer.
    public init(_ store: some DefaultStoreType<Default>) {
        base = (store as? AnyStore<Default>)?.base ?? store
    }

    public func get() -> Default? { base.get() }
    public func set(_ value: Default) { base.set(value) }
    public func remove() { base.remove() }
    public func load() throws -> Default? { try base.load() }
    public func save(_ value: Default) throws { try base.save(value) }

    @discardableResult
    public func update<Result>(_ body: (inout Default?) throws -> Result) throws -> Result {
        try base.update(body)
    }

    public func observe(
        _ options: ObservationOptions, _ handler: @escaping @Sendable (DefaultChange<Default>) -> Void
    ) -> ObservationToken { base.observe(options, handler) }
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
