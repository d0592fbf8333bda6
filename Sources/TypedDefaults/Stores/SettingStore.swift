/// A store of one setting, in a suite or in memory. ``DefaultStoreType`` documents its behavior.
protocol SettingStore: OwnStore {
    var setting: Setting<Default> { get }
}

extension SettingStore {
    public func get() -> Default? { setting.get() }
    public func set(_ value: Default) { setting.set(value) }
    public func remove() { setting.remove() }
    public func removeStored() throws { try setting.removeStored() }
    public func load() throws -> Default? { try setting.load() }
    public func save(_ value: Default) throws { try setting.save(value) }

    @discardableResult
    public func updateStored<Result>(_ body: (inout Default?) throws -> Result) throws -> Result {
        try setting.change(recovering: false, from: nil) { value, _ in try body(&value) }
    }

    @discardableResult
    public func update<Result>(
        default defaultValue: @autoclosure () -> Default, _ body: (inout Default) throws -> Result
    ) throws -> Result {
        try setting.change(recovering: true, from: defaultValue()) { value, _ in try body(&value!) }
    }

    func change<Result>(
        recovering: Bool, from start: @autoclosure () -> Default?,
        _ body: (inout Default?, inout ChangeIntent) throws -> Result
    ) throws -> Result { try setting.change(recovering: recovering, from: start(), body) }

    func setting<Value>(of type: Value.Type) -> Setting<Value>? { setting as? Setting<Value> }

    public func observe(
        initial: Bool, _ handler: @escaping @Sendable (DefaultChange<Default>) -> Void
    ) -> ObservationToken { setting.observe(initial: initial, handler) }

    func report(_ error: DefaultsError) { setting.report(error) }
}
