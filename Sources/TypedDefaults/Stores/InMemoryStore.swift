/// A store in memory of its own: the double for a test or a preview.
///
/// ```swift
/// let model = CameraModel(config: AnyStore(InMemoryStore(CameraConfig())))
/// ```
///
/// Values take the same way as in a ``PersistentStore``, to a property list and back, so a type
/// that does not survive that is found out here. Two stores share nothing; copies of one share its
/// value.
public struct InMemoryStore<Default: Sendable>: RecoveringStore {
    private let setting: Setting<Default>

    /// Creates a store that holds the value, or nothing.
    public init(_ initial: Default? = nil) where Default: DefaultConvertible {
        self.init(initial, .convertible)
    }

    /// Creates a store that holds the value, or nothing.
    @_disfavoredOverload
    public init(_ initial: Default? = nil) where Default: Codable {
        self.init(initial, .codable)
    }

    private init(_ initial: Default?, _ conversion: Conversion<Default>) {
        setting = Setting(.inMemory(), key: "value", conversion)
        guard let initial else { return }
        do throws(DefaultsError) { try setting.save(initial) } catch {
            // A test that begins with an empty store instead would fail far from the cause.
            preconditionFailure("the initial value cannot be stored: \(error)")
        }
    }

    /// Returns the stored value; `nil` if it is missing, unreadable or unavailable.
    public func get() -> Default? { setting.get() }
    /// Stores a value. The suite's failure handler receives an error.
    public func set(_ value: Default) { setting.set(value) }
    /// Removes the stored value.
    public func remove() { setting.remove() }
    /// Returns the stored value; `nil` if it is missing.
    public func load() throws -> Default? { try setting.load() }
    /// Stores a value, or throws and leaves the old one.
    public func save(_ value: Default) throws { try setting.save(value) }

    /// Changes the stored value in one step that no other writer comes between.
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
