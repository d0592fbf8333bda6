/// A store of one setting, in a suite or in memory. ``DefaultStoreType`` documents its behavior.
protocol SettingStore: DefaultStoreType, FailureReporting {
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
        try setting.update(recovering: false, body)
    }

    @discardableResult
    public func update<Result>(
        default defaultValue: @autoclosure () -> Default, _ body: (inout Default) throws -> Result
    ) throws -> Result {
        try setting.update(recovering: true, from: defaultValue()) { value in try body(&value!) }
    }

    public func observe(
        initial: Bool, _ handler: @escaping @Sendable (DefaultChange<Default>) -> Void
    ) -> ObservationToken { setting.observe(initial: initial, handler) }

    func report(_ error: DefaultsError) { setting.report(error) }
}
