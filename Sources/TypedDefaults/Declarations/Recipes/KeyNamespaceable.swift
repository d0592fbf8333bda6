/// A type that groups keys in enums of strings. In new code, use ``DefaultKey``, which also has the
/// type and the default of a setting.
///
/// ```swift
/// struct MyUserDefaults: ObjectUserDefaultable, BoolUserDefaultable {
///     enum ObjectDefaultKey: String { case userName, appTheme }
///     enum BoolDefaultKey: String { case needsBackup }
/// }
///
/// MyUserDefaults.set("Ada", forKey: .userName)   // under MyUserDefaults_ObjectDefaultKey_userName
/// let name = MyUserDefaults.object(String.self, forKey: .userName)
/// ```
///
/// These keys have no value type: nothing prevents two parts of a program from using different
/// types for one key.
///
/// Each key contains the name of the type, without its module and its enclosing types. Namespaces
/// with the same name, such as `Camera.Defaults` and `Player.Defaults`, share their keys. If you
/// use both with one suite, the failure handler receives a *conflict*.
public protocol KeyNamespaceable {
    /// The suite of the settings, unless a call passes another one. The default is
    /// ``DefaultsSuite/standard``.
    static var source: DefaultsSuite { get }
}

extension KeyNamespaceable {
    /// ``DefaultsSuite/standard``.
    public static var source: DefaultsSuite { .standard }

    /// Returns the name under which a key is stored, `<type>_<enum>_<raw value>`, for use with a
    /// ``DefaultKey``.
    public static func namespaced<Key: RawRepresentable<String>>(_ key: Key) -> String {
        "\(Self.self)_\(Key.self)_\(key.rawValue)"
    }

    /// Returns the suite of a call. Declares the type there, so that another type with the same
    /// name is reported.
    fileprivate static func suite<Key>(_ source: DefaultsSuite?, keys: Key.Type) -> DefaultsSuite {
        let suite = source ?? Self.source
        suite.core.declare(suite.withPrefix("\(Self.self)_\(Key.self)"), DeclaredForm(Self.self, .codable))
        return suite
    }
}

/// A namespace of keys for values of any `Codable` type.
public protocol ObjectUserDefaultable: KeyNamespaceable {
    /// The enum of the keys.
    associatedtype ObjectDefaultKey: RawRepresentable<String>
}

extension ObjectUserDefaultable {
    /// Stores a value. If that fails, the failure handler of the suite receives the error.
    public static func set<Value: Codable & Sendable>(
        _ value: Value, forKey key: ObjectDefaultKey, source: DefaultsSuite? = nil
    ) { store(Value.self, key, source).set(value) }

    /// Returns the stored value as one of the objects that ``DefaultConvertible/init(_:)``
    /// receives; `nil` if it is missing or cannot be read.
    public static func object(forKey key: ObjectDefaultKey, source: DefaultsSuite? = nil) -> Any? {
        suite(source, keys: ObjectDefaultKey.self)[DefaultKey<PropertyList?>(namespaced(key))]?.object
    }

    /// Returns the value; `nil` if it is missing or cannot be read as this type.
    public static func object<Value: Codable & Sendable>(
        _ type: Value.Type, forKey key: ObjectDefaultKey, source: DefaultsSuite? = nil
    ) -> Value? { store(type, key, source).get() }

    /// Removes the stored value.
    public static func remove(forKey key: ObjectDefaultKey, source: DefaultsSuite? = nil) {
        suite(source, keys: ObjectDefaultKey.self).remove([namespaced(key)])
    }

    /// Calls the handler after each change of the value until the token is cancelled or
    /// deallocated.
    public static func observe<Value: Codable & Sendable>(
        _ type: Value.Type, forKey key: ObjectDefaultKey, source: DefaultsSuite? = nil,
        _ handler: @escaping @Sendable (DefaultChange<Value>) -> Void
    ) -> ObservationToken { store(type, key, source).observe(handler) }

    private static func store<Value: Codable & Sendable>(
        _ type: Value.Type, _ key: ObjectDefaultKey, _ source: DefaultsSuite?
    ) -> PersistentStore<Value> {
        PersistentStore(Setting(suite(source, keys: ObjectDefaultKey.self), key: namespaced(key), .codable))
    }
}

/// A namespace of keys for Booleans with the default `false`.
public protocol BoolUserDefaultable: KeyNamespaceable {
    /// The enum of the keys.
    associatedtype BoolDefaultKey: RawRepresentable<String>
}

extension BoolUserDefaultable {
    /// Returns the setting of a key, with the default `false`.
    public static func setting(forKey key: BoolDefaultKey, source: DefaultsSuite? = nil) -> UserDefault<Bool> {
        UserDefault(namespaced(key), default: false, in: suite(source, keys: BoolDefaultKey.self))
    }

    /// Stores a value. If that fails, the failure handler of the suite receives the error.
    public static func set(_ value: Bool, forKey key: BoolDefaultKey, source: DefaultsSuite? = nil) {
        setting(forKey: key, source: source).value = value
    }

    /// Returns the value; `false` if it is missing or cannot be read.
    public static func bool(forKey key: BoolDefaultKey, source: DefaultsSuite? = nil) -> Bool {
        setting(forKey: key, source: source).value
    }

    /// Removes the stored value.
    public static func remove(forKey key: BoolDefaultKey, source: DefaultsSuite? = nil) {
        setting(forKey: key, source: source).reset()
    }
}
