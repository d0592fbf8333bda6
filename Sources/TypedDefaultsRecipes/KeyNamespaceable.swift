public import TypedDefaults

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A type that groups keys in enums of strings. In new code, use `DefaultKey`, which also has the
/// type and the default of a setting.
///
/// ```swift
/// struct PlayerDefaults: ObjectUserDefaultable, BoolUserDefaultable {
///     enum ObjectDefaultKey: String { case title, artist }
///     enum BoolDefaultKey: String { case isShuffled }
/// }
///
/// PlayerDefaults.set("Blue", forKey: .title)     // under PlayerDefaults_ObjectDefaultKey_title
/// let isShuffled = PlayerDefaults.bool(forKey: .isShuffled)
/// let observation = PlayerDefaults.observe(forKey: .isShuffled) { defaults, change in print(change) }
/// ```
///
/// Each key contains the name of the type, without its module and its enclosing types. Namespaces
/// with the same name, such as `Camera.Defaults` and `Player.Defaults`, share their keys. If you
/// use both with one suite, the failure handler receives a *conflict*.
///
/// If two enums of a type have a case with the same name, write the enum of a key:
/// `remove(for: BoolDefaultKey.a)`.
public protocol KeyNamespaceable {
    /// Where the settings are, unless a call passes another `source`. The default is the standard
    /// suite.
    static var source: DefaultsSuite { get }
}

extension KeyNamespaceable {
    /// The standard suite.
    public static var source: DefaultsSuite { .standard }

    /// Returns the name under which a key is stored, `<type>_<enum>_<raw value>`.
    public static func namespace<Key: RawRepresentable<String>>(_ key: Key) -> String {
        "\(Self.self)_\(Key.self)_\(key.rawValue)"
    }

    /// Returns the suite of a call. Declares the type there, so that another type with the same
    /// name is reported.
    fileprivate static func suite<Key>(_ source: (any UserDefaultable)?, keys: Key.Type) -> DefaultsSuite {
        let suite = source?.suite ?? Self.source
        declare(Self.self, as: "\(Self.self)_\(Key.self)", in: suite)
        return suite
    }

    fileprivate static func setting<Key: RawRepresentable<String>, Value: Codable & Sendable>(
        _ key: Key, _ defaultValue: Value, _ source: (any UserDefaultable)?
    ) -> UserDefault<Value> { UserDefault(namespace(key), default: defaultValue, in: suite(source, keys: Key.self)) }

    fileprivate static func observe<Key: RawRepresentable<String>, Value: Codable & Sendable>(
        _ key: Key, _ defaultValue: Value, _ source: (any UserDefaultable)?, _ options: UDKeyValueObservingOptions,
        _ handler: @escaping UDChangeHandler<any UserDefaultable, Value>
    ) -> UDKeyValueObservation {
        let suite = source?.suite ?? Self.source
        return setting(key, defaultValue, suite).observe(initial: options.contains(.initial)) { handler(suite, $0) }
    }
}

/// A namespace of keys for values of any type.
public protocol ObjectUserDefaultable: KeyNamespaceable {
    /// The enum of the keys.
    associatedtype ObjectDefaultKey: RawRepresentable<String>
}

extension ObjectUserDefaultable {
    /// Stores a property list object; `nil` removes the value. If that fails, the failure handler
    /// of the suite receives the error.
    public static func set(_ value: Any?, forKey key: ObjectDefaultKey, source: (any UserDefaultable)? = nil) {
        suite(source, keys: ObjectDefaultKey.self).set(value, forKey: namespace(key))
    }

    /// Stores a `Codable` value; `nil` removes the value.
    public static func set<Value: Codable & Sendable>(
        _ value: Value?, forKey key: ObjectDefaultKey, source: (any UserDefaultable)? = nil
    ) { suite(source, keys: ObjectDefaultKey.self)[DefaultKey<Value?>(namespace(key))] = value }

    /// Returns the stored value as one of the objects that `DefaultConvertible.init(_:)` receives;
    /// `nil` if it is missing or cannot be read.
    public static func object(for key: ObjectDefaultKey, source: (any UserDefaultable)? = nil) -> Any? {
        suite(source, keys: ObjectDefaultKey.self).object(forKey: namespace(key))
    }

    /// Removes the stored value.
    public static func remove(for key: ObjectDefaultKey, source: (any UserDefaultable)? = nil) {
        suite(source, keys: ObjectDefaultKey.self).removeObject(forKey: namespace(key))
    }

    /// Calls the handler after each change of the value until the result is invalidated or
    /// deallocated. The value is `nil` if it has another type.
    public static func observe<Value: Codable & Sendable>(
        _ type: Value.Type, forKey key: ObjectDefaultKey, source: (any UserDefaultable)? = nil,
        options: UDKeyValueObservingOptions = [],
        changeHandler: @escaping UDChangeHandler<any UserDefaultable, Value>
    ) -> UDKeyValueObservation {
        suite(source, keys: ObjectDefaultKey.self).observe(
            type, forKey: namespace(key), options: options, changeHandler: changeHandler)
    }
}

/// A namespace of keys for Booleans with the default `false`.
public protocol BoolUserDefaultable: KeyNamespaceable {
    /// The enum of the keys.
    associatedtype BoolDefaultKey: RawRepresentable<String>
}

extension BoolUserDefaultable {
    /// Stores a value. If that fails, the failure handler of the suite receives the error.
    public static func set(_ value: Bool, forKey key: BoolDefaultKey, source: (any UserDefaultable)? = nil) {
        setting(key, false, source).value = value
    }

    /// Returns the value; `false` if it is missing or cannot be read.
    public static func bool(forKey key: BoolDefaultKey, source: (any UserDefaultable)? = nil) -> Bool {
        setting(key, false, source).value
    }

    /// Removes the stored value.
    public static func remove(for key: BoolDefaultKey, source: (any UserDefaultable)? = nil) {
        setting(key, false, source).reset()
    }

    /// Calls the handler after each change of the value until the result is invalidated or
    /// deallocated.
    public static func observe(
        forKey key: BoolDefaultKey, source: (any UserDefaultable)? = nil, options: UDKeyValueObservingOptions = [],
        changeHandler: @escaping UDChangeHandler<any UserDefaultable, Bool>
    ) -> UDKeyValueObservation { observe(key, false, source, options, changeHandler) }
}

/// A namespace of keys for integers with the default 0.
public protocol IntegerUserDefaultable: KeyNamespaceable {
    /// The enum of the keys.
    associatedtype IntegerDefaultKey: RawRepresentable<String>
}

extension IntegerUserDefaultable {
    /// Stores a value. If that fails, the failure handler of the suite receives the error.
    public static func set(_ value: Int, forKey key: IntegerDefaultKey, source: (any UserDefaultable)? = nil) {
        setting(key, 0, source).value = value
    }

    /// Returns the value; 0 if it is missing or cannot be read.
    public static func integer(forKey key: IntegerDefaultKey, source: (any UserDefaultable)? = nil) -> Int {
        setting(key, 0, source).value
    }

    /// Removes the stored value.
    public static func remove(for key: IntegerDefaultKey, source: (any UserDefaultable)? = nil) {
        setting(key, 0, source).reset()
    }

    /// Calls the handler after each change of the value until the result is invalidated or
    /// deallocated.
    public static func observe(
        forKey key: IntegerDefaultKey, source: (any UserDefaultable)? = nil, options: UDKeyValueObservingOptions = [],
        changeHandler: @escaping UDChangeHandler<any UserDefaultable, Int>
    ) -> UDKeyValueObservation { observe(key, 0, source, options, changeHandler) }
}

/// A namespace of keys for numbers with the default 0.
public protocol FloatUserDefaultable: KeyNamespaceable {
    /// The enum of the keys.
    associatedtype FloatDefaultKey: RawRepresentable<String>
}

extension FloatUserDefaultable {
    /// Stores a value. If that fails, the failure handler of the suite receives the error.
    public static func set(_ value: Float, forKey key: FloatDefaultKey, source: (any UserDefaultable)? = nil) {
        setting(key, Float(0), source).value = value
    }

    /// Returns the value; 0 if it is missing or cannot be read.
    public static func float(forKey key: FloatDefaultKey, source: (any UserDefaultable)? = nil) -> Float {
        setting(key, Float(0), source).value
    }

    /// Removes the stored value.
    public static func remove(for key: FloatDefaultKey, source: (any UserDefaultable)? = nil) {
        setting(key, Float(0), source).reset()
    }

    /// Calls the handler after each change of the value until the result is invalidated or
    /// deallocated.
    public static func observe(
        forKey key: FloatDefaultKey, source: (any UserDefaultable)? = nil, options: UDKeyValueObservingOptions = [],
        changeHandler: @escaping UDChangeHandler<any UserDefaultable, Float>
    ) -> UDKeyValueObservation { observe(key, Float(0), source, options, changeHandler) }
}

/// A namespace of keys for numbers with the default 0.
public protocol DoubleUserDefaultable: KeyNamespaceable {
    /// The enum of the keys.
    associatedtype DoubleDefaultKey: RawRepresentable<String>
}

extension DoubleUserDefaultable {
    /// Stores a value. If that fails, the failure handler of the suite receives the error.
    public static func set(_ value: Double, forKey key: DoubleDefaultKey, source: (any UserDefaultable)? = nil) {
        setting(key, Double(0), source).value = value
    }

    /// Returns the value; 0 if it is missing or cannot be read.
    public static func double(forKey key: DoubleDefaultKey, source: (any UserDefaultable)? = nil) -> Double {
        setting(key, Double(0), source).value
    }

    /// Removes the stored value.
    public static func remove(for key: DoubleDefaultKey, source: (any UserDefaultable)? = nil) {
        setting(key, Double(0), source).reset()
    }

    /// Calls the handler after each change of the value until the result is invalidated or
    /// deallocated.
    public static func observe(
        forKey key: DoubleDefaultKey, source: (any UserDefaultable)? = nil, options: UDKeyValueObservingOptions = [],
        changeHandler: @escaping UDChangeHandler<any UserDefaultable, Double>
    ) -> UDKeyValueObservation { observe(key, Double(0), source, options, changeHandler) }
}

/// A namespace of keys for strings.
public protocol StringUserDefaultable: KeyNamespaceable {
    /// The enum of the keys.
    associatedtype StringDefaultKey: RawRepresentable<String>
}

extension StringUserDefaultable {
    /// Stores a value. If that fails, the failure handler of the suite receives the error.
    public static func set(_ value: String?, forKey key: StringDefaultKey, source: (any UserDefaultable)? = nil) {
        setting(key, String?.none, source).value = value
    }

    /// Returns the value; `nil` if it is missing or cannot be read.
    public static func string(forKey key: StringDefaultKey, source: (any UserDefaultable)? = nil) -> String? {
        setting(key, String?.none, source).value
    }

    /// Removes the stored value.
    public static func remove(for key: StringDefaultKey, source: (any UserDefaultable)? = nil) {
        setting(key, String?.none, source).reset()
    }

    /// Calls the handler after each change of the value until the result is invalidated or
    /// deallocated.
    public static func observe(
        forKey key: StringDefaultKey, source: (any UserDefaultable)? = nil, options: UDKeyValueObservingOptions = [],
        changeHandler: @escaping UDChangeHandler<any UserDefaultable, String>
    ) -> UDKeyValueObservation {
        suite(source, keys: StringDefaultKey.self).observe(
            String.self, forKey: namespace(key), options: options, changeHandler: changeHandler)
    }
}

/// A namespace of keys for URLs.
public protocol URLUserDefaultable: KeyNamespaceable {
    /// The enum of the keys.
    associatedtype URLDefaultKey: RawRepresentable<String>
}

extension URLUserDefaultable {
    /// Stores a value. If that fails, the failure handler of the suite receives the error.
    public static func set(_ value: URL?, forKey key: URLDefaultKey, source: (any UserDefaultable)? = nil) {
        setting(key, URL?.none, source).value = value
    }

    /// Returns the value; `nil` if it is missing or cannot be read.
    public static func url(forKey key: URLDefaultKey, source: (any UserDefaultable)? = nil) -> URL? {
        setting(key, URL?.none, source).value
    }

    /// Removes the stored value.
    public static func remove(for key: URLDefaultKey, source: (any UserDefaultable)? = nil) {
        setting(key, URL?.none, source).reset()
    }

    /// Calls the handler after each change of the value until the result is invalidated or
    /// deallocated.
    public static func observe(
        forKey key: URLDefaultKey, source: (any UserDefaultable)? = nil, options: UDKeyValueObservingOptions = [],
        changeHandler: @escaping UDChangeHandler<any UserDefaultable, URL>
    ) -> UDKeyValueObservation {
        suite(source, keys: URLDefaultKey.self).observe(
            URL.self, forKey: namespace(key), options: options, changeHandler: changeHandler)
    }
}
