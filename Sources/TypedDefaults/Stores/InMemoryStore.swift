/// A store in memory, for tests and previews.
///
/// ```swift
/// let model = CameraModel(config: AnyStore(InMemoryStore(CameraConfig())))
/// ```
///
/// Values are converted to property lists and back, as in a ``PersistentStore``, so a test finds a
/// type that does not survive this. Two stores share nothing; copies of one store share its value.
public struct InMemoryStore<Default: Sendable>: RecoveringStore {
    private let setting: Setting<Default>

    /// Creates a store with an initial value; `nil` for an empty store.
    public init(_ initial: Default? = nil) where Default: DefaultConvertible {
        self.init(initial, .convertible)
    }

    /// Creates a store with an initial value; `nil` for an empty store.
    @_disfavoredOverload
    public init(_ initial: Default? = nil) where Default: Codable {
        self.init(initial, .codable)
    }

    private init(_ initial: Default?, _ conversion: Conversion<Default>) {
        setting = Setting(.inMemory(), key: "value", conversion)
        guard let initial else { return }
        do throws(DefaultsError) { try setting.save(initial) } catch {
            // A test that starts with an empty store instead would fail far from the cause.
            preconditionFailure("the initial value cannot be stored: \(error)")
        }
    }

    /// Returns the stored value; `nil` if it is missing, unreadable or unavailable.
    public func get() -> Default? { setting.get() }
    /// Stores a value. If that fails, the error is logged.
    public func set(_ value: Default) { setting.set(value) }
    /// Removes the stored value.
    public func remove() { setting.remove() }
    /// Returns the stored value; `nil` if it is missing.
    public func load() throws -> Default? { try setting.load() }
    /// Stores a value. If this throws, the old value stays.
    public func save(_ value: Default) throws { try setting.save(value) }

    /// Reads, changes and writes the stored value in one step, while other writers wait.
    @discardableResult
    public func updateStored<Result>(_ body: (inout Default?) throws -> Result) throws -> Result {
        try setting.update(body)
    }

    func updateRecovering<Result>(_ body: (inout Default?) throws -> Result) throws -> Result {
        try setting.update(recovers: true, body)
    }

    /// Calls the handler after each change of the stored value until the token is cancelled or
    /// deallocated.
    public func observe(
        initial: Bool, _ handler: @escaping @Sendable (DefaultChange<Default>) -> Void
    ) -> ObservationToken { setting.observe(initial: initial, handler) }

    func report(_ error: DefaultsError) { setting.report(error) }
    var storedKey: String? { nil }
}
