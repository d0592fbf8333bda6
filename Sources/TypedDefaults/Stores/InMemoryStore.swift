/// A store in memory, for tests and previews.
///
/// ```swift
/// let model = CameraModel(config: AnyStore(InMemoryStore(CameraConfig())))
/// ```
///
/// Values are converted to property lists and back, as in a ``PersistentStore``, so a test detects
/// a type that does not survive the round trip. Two stores share nothing; copies of one store share
/// its value.
///
/// ## Topics
///
/// ### Creating a store
///
/// - ``init(_:)-3lri3``
/// - ``init(_:)-b3s``
public struct InMemoryStore<Default: Sendable>: SettingStore {
    let setting: Setting<Default>

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

    var storedKey: String? { nil }
}
