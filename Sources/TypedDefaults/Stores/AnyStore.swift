/// A type-erased store.
///
/// Use it in a view model, so that the app can pass a store on disk and a test can pass one in
/// memory:
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
/// Copies share the underlying store. It is not `Equatable`, because equality could mean the same
/// store or the same value.
///
/// ## Topics
///
/// ### Creating a store
///
/// - ``persistent(in:)``
/// - ``inMemory(_:)-5hmcq``
/// - ``inMemory(_:)-9vtzl``
/// - ``init(_:)``
public struct AnyStore<Default: Sendable>: OwnStore {
    let base: any DefaultStoreType<Default>

    /// Erases the type of a store.
    public init(_ store: some DefaultStoreType<Default>) { base = store }

    /// Returns the stored value; `nil` if it is missing, unreadable or unavailable.
    public func get() -> Default? { base.get() }
    /// Stores a value. If that fails, the failure handler of the store's suite receives the error.
    public func set(_ value: Default) { base.set(value) }
    /// Removes the stored value.
    public func remove() { base.remove() }
    /// Removes the stored value, even if it cannot be read, or throws.
    public func removeStored() throws { try base.removeStored() }
    /// Returns the stored value; `nil` if it is missing.
    public func load() throws -> Default? { try base.load() }
    /// Stores a value, or throws and leaves the old one.
    public func save(_ value: Default) throws { try base.save(value) }

    /// Reads, changes and writes the stored value in one step, while other writers wait.
    @discardableResult
    public func updateStored<Result>(_ body: (inout Default?) throws -> Result) throws -> Result {
        try base.updateStored(body)
    }

    /// Like ``updateStored(_:)``, but starts with a default in place of a missing value.
    @discardableResult
    public func update<Result>(
        default defaultValue: @autoclosure () -> Default, _ body: (inout Default) throws -> Result
    ) throws -> Result { try base.update(default: defaultValue(), body) }

    /// Calls the handler after each change of the value that the store reports.
    public func observe(
        initial: Bool, _ handler: @escaping @Sendable (DefaultChange<Default>) -> Void
    ) -> ObservationToken { base.observe(initial: initial, handler) }

    func setting<Value>(of type: Value.Type) -> Setting<Value>? { (base as? any OwnStore)?.setting(of: type) }
    func change<Result>(
        recovering: Bool, from start: @autoclosure () -> Default?,
        _ body: (inout Default?, inout ChangeIntent) throws -> Result
    ) throws -> Result { try base.changeInPlace(recovering: recovering, from: start(), body) }
    func report(_ error: DefaultsError) { base.fail(with: error) }
    var storedKey: String? { base.key }
}

extension AnyStore where Default: DefaultConvertible {
    /// Returns a ``PersistentStore`` in a suite.
    public static func persistent(in suite: DefaultsSuite = .standard) -> AnyStore {
        AnyStore(PersistentStore(in: suite))
    }

    /// Returns an ``InMemoryStore`` with an initial value; `nil` for an empty store.
    public static func inMemory(_ initial: Default? = nil) -> AnyStore {
        AnyStore(InMemoryStore(initial))
    }
}

extension AnyStore where Default: Codable {
    /// Returns an ``InMemoryStore`` with an initial value; `nil` for an empty store.
    @_disfavoredOverload
    public static func inMemory(_ initial: Default? = nil) -> AnyStore {
        AnyStore(InMemoryStore(initial))
    }
}
