/// A store in a suite, by default the program's own settings.
///
/// ```swift
/// let store = PersistentStore<CameraConfig>()
/// store.set(CameraConfig(savesToCameraRoll: false))
/// ```
///
/// The value is decoded when it is first asked for and kept until it changes; over `UserDefaults`,
/// which anybody may write, the stored object is read and compared each time. Copies, and other
/// stores for the same key of the same suite, share what is stored.
public struct PersistentStore<Default: Sendable>: RecoveringStore {
    private let setting: Setting<Default>

    /// Creates a store for a setting that names its own key.
    ///
    /// - Parameters:
    ///   - suite: The suite of the setting.
    ///   - key: Another key than the type's own, for a second setting of one type, without former
    ///     keys; `nil` for the type's own.
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
    var storedKey: String? { name.key }
}
