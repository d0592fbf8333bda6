/// A type that groups string-valued keys, in the form of a published recipe. New code is better
/// served by ``DefaultKey``, which also knows the type and the default of a setting.
///
/// ```swift
/// struct MyUserDefaults: ObjectUserDefaultable, BoolUserDefaultable {
///     enum ObjectDefaultKey: String { case userName, appTheme }
///     enum BoolDefaultKey: String { case needsBackup }
/// }
///
/// MyUserDefaults.set("krimpedance", forKey: .userName)   // under MyUserDefaults_ObjectDefaultKey_userName
/// let name = MyUserDefaults.object(String.self, forKey: .userName)
/// ```
///
/// A value is read back as the type that it was written as; nothing stops two places in a program
/// from meaning different ones.
///
/// The name of the type is part of each key, without the types and the module around it. Two
/// namespaces of one name share their keys, as `Camera.Defaults` and `Player.Defaults` do; where
/// both are used with one suite, the failure handler receives a *conflict*.
public protocol KeyNamespaceable {
    /// Where the settings live, unless a call says so itself. By default
    /// ``DefaultsSuite/standard``.
    static var source: DefaultsSuite { get }
}

extension KeyNamespaceable {
    /// ``DefaultsSuite/standard``.
    public static var source: DefaultsSuite { .standard }

    /// The name under which a key is stored, `<type>_<enum>_<raw value>`, for a ``DefaultKey``.
    public static func namespaced<Key: RawRepresentable<String>>(_ key: Key) -> String {
        "\(Self.self)_\(Key.self)_\(key.rawValue)"
    }

    /// The suite of a call, in which the type declares that keys of its name are its own.
    fileprivate static func suite<Key>(_ source: DefaultsSuite?, keys: Key.Type) -> DefaultsSuite {
        let suite = source ?? Self.source
        suite.core.note(ClassDeclaration(type: Self.self), of: suite.withPrefix("\(Self.self)_\(Key.self)"))
        return suite
    }
}

/// A namespace of keys for values of any `Codable` type.
public protocol ObjectUserDefaultable: KeyNamespaceable {
    /// The enum of the keys.
    associatedtype ObjectDefaultKey: RawRepresentable<String>
}

extension ObjectUserDefaultable {
    /// Stores the value; a failure goes to the failure handler of the suite.
    public static func set<Value: Codable & Sendable>(
        _ value: Value, forKey key: ObjectDefaultKey, source: DefaultsSuite? = nil
    ) { store(Value.self, key, source).set(value) }

    /// What is stored, as a Foundation object of the kinds that ``DefaultConvertible/init(_:)`` is
    /// given; nil if nothing is, or if it cannot be read.
    public static func object(forKey key: ObjectDefaultKey, source: DefaultsSuite? = nil) -> Any? {
        suite(source, keys: ObjectDefaultKey.self)[DefaultKey<PropertyList?>(namespaced(key))]?.object
    }

    /// The value; nil if nothing is stored, or nothing that can be read as that type.
    public static func object<Value: Codable & Sendable>(
        _ type: Value.Type, forKey key: ObjectDefaultKey, source: DefaultsSuite? = nil
    ) -> Value? { store(type, key, source).get() }

    /// Removes what is stored.
    public static func remove(forKey key: ObjectDefaultKey, source: DefaultsSuite? = nil) {
        suite(source, keys: ObjectDefaultKey.self).remove([namespaced(key)])
    }

    /// Calls the handler after each change of the value, read as that type, until the token is
    /// cancelled or deallocated.
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

/// A namespace of keys for Booleans, which read false where nothing is stored.
public protocol BoolUserDefaultable: KeyNamespaceable {
    /// The enum of the keys.
    associatedtype BoolDefaultKey: RawRepresentable<String>
}

extension BoolUserDefaultable {
    /// The setting of a key, with false for its default.
    public static func setting(forKey key: BoolDefaultKey, source: DefaultsSuite? = nil) -> UserDefault<Bool> {
        UserDefault(namespaced(key), default: false, in: suite(source, keys: BoolDefaultKey.self))
    }

    /// Stores the value; a failure goes to the failure handler of the suite.
    public static func set(_ value: Bool, forKey key: BoolDefaultKey, source: DefaultsSuite? = nil) {
        setting(forKey: key, source: source).value = value
    }

    /// The value; false if nothing is stored, or nothing that can be read.
    public static func bool(forKey key: BoolDefaultKey, source: DefaultsSuite? = nil) -> Bool {
        setting(forKey: key, source: source).value
    }

    /// Removes what is stored.
    public static func remove(forKey key: BoolDefaultKey, source: DefaultsSuite? = nil) {
        setting(forKey: key, source: source).reset()
    }

    /// Calls the handler after each change of the value, until the token is cancelled or
    /// deallocated.
    public static func observe(
        forKey key: BoolDefaultKey, source: DefaultsSuite? = nil,
        _ handler: @escaping @Sendable (DefaultChange<Bool>) -> Void
    ) -> ObservationToken { setting(forKey: key, source: source).observe(handler) }
}
