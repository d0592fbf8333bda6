/// A store in a suite, by default in the program's own settings.
///
/// ```swift
/// let store = PersistentStore<CameraConfig>()
/// store.set(CameraConfig(savesToCameraRoll: false))
/// ```
///
/// The value is decoded at the first read and cached until it changes. With `UserDefaults`, to
/// which other code may write, each read compares the stored object with the cached one. Copies,
/// and other stores for the same key in the same suite, share one value.
public struct PersistentStore<Default: Sendable>: RecoveringStore {
    private let setting: Setting<Default>

    /// Creates a store for a type that has its own key.
    ///
    /// - Parameters:
    ///   - suite: The suite of the setting.
    ///   - key: A key for a second setting of the same type; `nil` for the type's own key.
    public init(in suite: DefaultsSuite = .standard, key: String? = nil) where Default: DefaultConvertible {
        if let key {
            setting = Setting(suite, key: key, .convertible)
        } else {
            setting = Setting(suite, key: Default.key, declaredBy: .ofType)
        }
    }

    init(_ setting: Setting<Default>) { self.setting = setting }

    var name: SettingName { setting.name }

    /// Returns the stored value; `nil` if it is missing, unreadable or unavailable.
    public func get() -> Default? { setting.get() }
    /// Stores a value. If that fails, the suite's failure handler receives the error.
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
    var storedKey: String? { name.key }
}
