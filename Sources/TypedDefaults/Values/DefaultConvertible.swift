/// A type that has a key for its setting and converts itself to a property list object and back.
///
/// Conform a config struct and keep it in a ``PersistentStore``. A `Codable` type needs only the
/// key:
///
/// ```swift
/// struct CameraConfig: DefaultConvertible, Codable {
///     static let key = "CameraConfig"
///     enum Size: String, Codable { case large, medium, small }
///     var savesToCameraRoll = true
///     var size = Size.medium
/// }
/// ```
///
/// A type with a raw value needs only the key as well. Any other type implements ``init(_:)`` and
/// ``serialize()``. If you implement one, implement both, and test them with `expectRoundTrip` of
/// `TypedDefaultsTesting`: a store does not read back what it writes.
///
/// Structs and enums of `Sendable` values are `Sendable`, and so are final classes with `let`
/// properties. A mutable class needs a lock and `@unchecked Sendable`, and should be final. A store
/// never keeps a class instance that is the whole setting: each `get()` creates a new one.
/// Instances inside an array or a struct are shared: between reads until the setting changes, and
/// between the changes that observers receive, where the old value is that of the last change.
///
/// Name the protocol in the type's own declaration. In a module isolated to the main actor by
/// default, a conformance in an extension needs `nonisolated` on both the type and the extension.
///
/// ## Topics
///
/// ### Converting a value
///
/// - ``key``
/// - ``init(_:)``
/// - ``serialize()``
public protocol DefaultConvertible: Sendable {
    /// The key under which the setting is stored.
    ///
    /// Two types with the same key in one suite overwrite each other's values.
    static var key: String { get }

    /// Creates the value from a stored object; `nil` if the object does not represent a value.
    ///
    /// - Parameter object: A `Bool`, `Int` (`UInt64` above `Int.max`), `Double`, `String`, `Data`,
    ///   `Date`, `[Any]` or `[String: Any]` of such objects. Other code may have stored anything,
    ///   so check each type.
    init?(_ object: Any)

    /// Returns the value as an object of one of the types that ``init(_:)`` receives.
    func serialize() -> Any
}

extension DefaultConvertible where Self: Codable {
    /// Decodes the value; `nil` if the object cannot be decoded.
    public init?(_ object: Any) {
        guard let value = Self.decodingByDefault(object) else { return nil }
        self = value
    }

    /// Returns the encoded value. For a value that cannot be encoded, returns the
    /// ``DefaultsError``, which no store accepts.
    public func serialize() -> Any { encodedByDefault() }
}

extension DefaultConvertible where Self: RawRepresentable, RawValue: Codable & Sendable {
    /// Decodes the raw value; `nil` if it has another type or is not the raw value of any value.
    public init?(_ object: Any) {
        guard let value = try? Conversion<Self>.rawValue.decode(PropertyList(object)) else { return nil }
        self = value
    }

    /// Returns the encoded raw value. If it cannot be encoded, returns the ``DefaultsError``, which
    /// no store accepts.
    public func serialize() -> Any {
        PropertyList.objectOrError { () throws(DefaultsError) in try Conversion<Self>.rawValue.encode(self) }
    }
}

// Without this extension, a type with both conformances would be ambiguous. It uses `Codable`. For
// a raw value the form is the same, unless the type encodes itself by hand or the raw value is like
// "$null".
extension DefaultConvertible where Self: Codable & RawRepresentable, RawValue: Codable & Sendable {
    /// Decodes the value; `nil` if the object cannot be decoded.
    public init?(_ object: Any) {
        guard let value = Self.decodingByDefault(object) else { return nil }
        self = value
    }

    /// Returns the encoded value. For a value that cannot be encoded, returns the
    /// ``DefaultsError``, which no store accepts.
    public func serialize() -> Any { encodedByDefault() }
}
