public import TypedDefaults

#if canImport(AppleFoundation)
#elseif canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A suite that is read and written by string keys, as `UserDefaults` is. In new code, use
/// `DefaultsSuite` and `DefaultKey`.
///
/// ```swift
/// class Recorder {
///     let defaults: UserDefaultable
///     init(defaults: UserDefaultable) { self.defaults = defaults }
///     func save(takes: Int) { defaults.set(takes, forKey: "takes") }
/// }
///
/// let recorder = Recorder(defaults: DefaultsSuite.standard)
/// let inTest = Recorder(defaults: UserDefaultsFake())
/// ```
public protocol UserDefaultable {
    /// The suite with the values.
    var suite: DefaultsSuite { get }
}

extension DefaultsSuite: UserDefaultable {
    /// This suite.
    public var suite: DefaultsSuite { self }
}

#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        public import AppleFoundation
    #endif

    // Not tested on Apple platforms.
    extension UserDefaults: UserDefaultable {
        /// The suite on this object.
        public var suite: DefaultsSuite { DefaultsSuite(userDefaults: self) }
    }
#endif
#if canImport(Darwin)
    extension NSKeyValueObservation: KeyValueObservationable {}
#endif

/// Values in memory, for a test.
public final class UserDefaultsFake: UserDefaultable {
    /// A suite in memory.
    public let suite = DefaultsSuite.inMemory()
    /// Creates an object without values.
    public init() {}
}

extension UserDefaultable {
    /// Returns the stored object; `nil` if it is missing or cannot be read.
    public func object(forKey defaultName: String) -> Any? { stored(defaultName)?.object }
    /// Returns the stored string; `nil` if there is none. `UserDefaults` also returns a number as a
    /// string.
    public func string(forKey defaultName: String) -> String? { object(forKey: defaultName) as? String }
    /// Returns the stored array; `nil` if there is none.
    public func array(forKey defaultName: String) -> [Any]? { object(forKey: defaultName) as? [Any] }
    /// Returns the stored dictionary; `nil` if there is none.
    public func dictionary(forKey defaultName: String) -> [String: Any]? {
        object(forKey: defaultName) as? [String: Any]
    }
    /// Returns the stored array of strings; `nil` if there is none.
    public func stringArray(forKey defaultName: String) -> [String]? { object(forKey: defaultName) as? [String] }
    /// Returns the stored data; `nil` if there is none.
    public func data(forKey defaultName: String) -> Data? { object(forKey: defaultName) as? Data }
    /// Returns the stored URL, also from its text; `nil` if there is none. `UserDefaults` reads
    /// text as the path of a file.
    public func url(forKey defaultName: String) -> URL? { suite[DefaultKey<URL?>(defaultName)] }
    /// Returns the stored number without its fraction, a Boolean as 1 or 0, or the number that a
    /// string is; 0 for all else.
    ///
    /// `UserDefaults` also reads the digits at the beginning of other strings, such as `"3 km"`,
    /// and returns some other integer for a number that does not fit.
    public func integer(forKey defaultName: String) -> Int {
        let object = object(forKey: defaultName)
        return object as? Int ?? (object as? String).flatMap { Int($0) }
            ?? Int(exactly: double(forKey: defaultName).rounded(.towardZero)) ?? 0
    }
    /// Returns the nearest number to that of `double(forKey:)`.
    public func float(forKey defaultName: String) -> Float { Float(double(forKey: defaultName)) }
    /// Returns the stored number, a Boolean as 1 or 0, or the number that a string is; 0 for all
    /// else.
    ///
    /// `UserDefaults` also reads the digits at the beginning of other strings, such as `"3 km"`.
    public func double(forKey defaultName: String) -> Double {
        switch stored(defaultName) {
        case .bool(let value): value ? 1 : 0
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .double(let value): value
        case .string(let value): Double(value) ?? 0
        default: 0
        }
    }
    /// Returns the stored Boolean; `true` for a number that is not 0 and for the strings `YES`,
    /// `true` and `1` in any case; `false` for all else.
    public func bool(forKey defaultName: String) -> Bool {
        if let string = string(forKey: defaultName) { return ["yes", "true", "1"].contains(string.lowercased()) }
        return double(forKey: defaultName) != 0
    }

    private func stored(_ name: String) -> PropertyList? { suite[DefaultKey<PropertyList?>(name)] }

    /// Stores a property list object; `nil` removes the value. If that fails, the failure handler
    /// of the suite receives the error.
    public func set(_ value: Any?, forKey defaultName: String) {
        guard let value else { return removeObject(forKey: defaultName) }
        do throws(DefaultsError) {
            suite[DefaultKey<PropertyList?>(defaultName)] = try PropertyList(value)
        } catch {
            suite.report(
                DefaultsError(error.kind, key: defaultName, type: error.type, path: error.path, reason: error.reason))
        }
    }
    /// Stores a URL; `nil` removes the value.
    // As a property list, so that `set(nil, forKey:)`, which comes here, declares no URL.
    public func set(_ url: URL?, forKey defaultName: String) {
        set(url.flatMap { try? PropertyList(encoding: $0) } as Any?, forKey: defaultName)
    }

    /// Removes the value.
    public func removeObject(forKey defaultName: String) { suite.remove([defaultName]) }
    /// Removes all values.
    public func reset() {
        do { try suite.removeAll() } catch { if let error = error as? DefaultsError { suite.report(error) } }
    }

    /// Calls the handler after each change of a value until the result is invalidated or
    /// deallocated.
    public func observe<Value: Codable & Sendable>(
        _ type: Value.Type, forKey defaultName: String, options: UDKeyValueObservingOptions = [],
        changeHandler: @escaping UDChangeHandler<any UserDefaultable, Value>
    ) -> UDKeyValueObservation {
        let suite = suite
        return UserDefault(DefaultKey<Value?>(defaultName), in: suite).store.observe(
            initial: options.contains(.initial)
        ) { change in
            changeHandler(
                suite,
                DefaultChange(
                    oldValue: change.oldValue ?? nil, newValue: change.newValue ?? nil, kind: change.kind,
                    origin: change.origin))
        }
    }
}

/// The published name of what can be observed by string keys.
public typealias UDKeyValueCodingAndObserving = UserDefaultable
/// The published name of a change.
public typealias UDKeyValueObservedChange = DefaultChange
/// The published name of an observation.
public typealias UDKeyValueObservation = ObservationToken
/// The published name of a function that receives changes.
public typealias UDChangeHandler<Object, Value: Sendable> =
    @Sendable (Object, UDKeyValueObservedChange<Value>) -> Void

/// What an observation reports. A change always has both values.
public struct UDKeyValueObservingOptions: OptionSet, Sendable {
    /// The bits of the options.
    public let rawValue: Int
    /// Creates options from their bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// The new value.
    public static let new = Self(rawValue: 1)
    /// The old value.
    public static let old = Self(rawValue: 2)
    /// The current value at once.
    public static let initial = Self(rawValue: 4)
}

/// Something that ends an observation.
public protocol KeyValueObservationable {
    /// Ends the observation.
    func invalidate()
}

extension ObservationToken: KeyValueObservationable {
    /// Ends the observation, as `cancel()` does.
    public func invalidate() { cancel() }
}
