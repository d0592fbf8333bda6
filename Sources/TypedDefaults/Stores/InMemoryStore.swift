/// A store in memory of its own: the double for a test or a preview.
///
/// ```swift
/// let model = CameraModel(config: AnyStore(InMemoryStore(CameraConfig())))
/// ```
///
/// Values take the same way as in a ``PersistentStore``, to a property list and back, so a type that does not survive that
/// is found out here. Two stores share nothing; copies of one share its value.
public struct InMemoryStore<Default: Sendable>: DefaultStoreType {
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
        if let initial { set(initial) }
    }

    public func get() -> Default? { setting.get() }
    public func set(_ value: Default) { setting.set(value) }
    public func remove() { setting.remove() }
    public func load() throws -> Default? { try setting.load() }
    public func save(_ value: Default) throws { try setting.save(value) }

    @discardableResult
    public func update<Result>(_ body: (inout Default?) throws -> Result) throws -> Result {
        try setting.update(body)
    }

    public func observe(
        _ options: ObservationOptions, _ handler: @escaping @Sendable (DefaultChange<Default>) -> Void
    ) -> ObservationToken { setting.observe(options, handler) }

    func report(_ error: DefaultsError) { setting.report(error) }
}
