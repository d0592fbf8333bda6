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
///
/// ## Topics
///
/// ### Creating a store
///
/// - ``init(in:key:)``
public struct PersistentStore<Default: Sendable>: SettingStore {
    let setting: Setting<Default>

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
    var storedKey: String? { name.key }

    // Not left to `SettingStore`, where generic code would look up the type at each call.
    /// Returns the stored value; `nil` if it is missing, unreadable or unavailable.
    public func get() -> Default? { setting.get() }
    /// Stores a value. If that fails, the suite's failure handler receives the error.
    public func set(_ value: Default) { setting.set(value) }
}
