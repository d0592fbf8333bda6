/// A store in a suite, by default the program's own settings.
///
/// ```swift
/// let store = PersistentStore<CameraConfig>()
/// store.set(CameraConfig(savesToCameraRoll: false))
/// ```
///
/// The value is decoded when it is first asked for and kept until it changes; over `UserDefaults`, which anybody may write, the stored
/// object is read and compared each time. Copies, and other stores for the same key of the
/// same suite, share what is stored.
public struct PersistentStore<Default: Sendable>: DefaultStoreType {
    private let setting: Setting<Default>

    /// Creates a store for a setting that names its own key.
    ///
    /// - Parameters:
    ///   - suite: Where the setting lives.
    ///   - key: Another key than the type's own, for a second instance of one type.
    public init(suite: DefaultsSuite = .standard, key: String? = nil) where Default: DefaultConvertible {
        if let key {
            setting = Setting(suite, key: key, .convertible)
        } else {
            setting = Setting(suite, key: Default.key, declaredBy: Declaration(.convertible, default: nil))
        }
    }

    /// Creates a store for a key. It reads nil where nothing is stored: the key's default value belongs to `suite[key]`.
    public init(_ key: DefaultKey<Default>, suite: DefaultsSuite = .standard) {
        setting = Setting(suite, key)
    }

    init(_ setting: Setting<Default>) { self.setting = setting }

    var name: SettingName { setting.name }

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
