/// A type that names the key of its setting and turns itself into a property list object and back.
///
/// Conform a config struct and keep it in a ``PersistentStore``. With `Codable` nothing else is to be written:
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
/// A type with a raw value needs only the key as well; any other type writes ``init(_:)`` and ``serialize()`` by hand. If you
/// implement one, implement both: a store reads a value back before it writes the first value of a type, and refuses a value
/// that would lose data. See <doc:HowAValueIsStored#The-check-at-a-save>.
///
/// The requirement `Sendable` is met by structs and enums of such values, and by final classes with `let` properties. A class
/// that can change needs a lock and `@unchecked Sendable`; an open class would ask that of each subclass, so keep it final. A class
/// instance that is the whole setting is never kept by a store: each `get()` makes a new one. Instances inside an array or a
/// struct are shared by what is read until the setting changes.
///
/// Name the protocol in the type's own declaration. In a module isolated to the main actor by default, a conformance in
/// an extension needs `nonisolated` on both the type and the extension.
public protocol DefaultConvertible: Sendable {
    /// The key under which the setting is stored.
    ///
    /// Two types with one key in one suite would overwrite each other.
    static var key: String { get }

    /// Creates the value from a stored object; nil if it cannot be made from that.
    ///
    /// - Parameter object: A `Bool`, `Int` (`UInt64` above `Int.max`), `Double`, `String`, `Data`, `Date`, `[Any]` or
    ///   `[String: Any]`, made of nothing else. Anything may have been stored by others, so check what you take.
    init?(_ object: Any)

    /// The value as a property list object, of the kinds that ``init(_:)`` is given.
    func serialize() -> Any

    /// The value that fills in properties which a stored value lacks; `nil` to find such a value unreadable.
    @available(
        *, deprecated,
        message: "conform to DefaultConfig, whose init() makes the default and fills in missing properties"
    )
    static var fallback: Self? { get }
}

extension DefaultConvertible {
    public static var fallback: Self? { nil }
}

extension DefaultConvertible where Self: Codable {
    /// Decodes the value; nil if it cannot be decoded from that.
    public init?(_ object: Any) {
        guard let value = Self.decodingByDefault(object) else { return nil }
        self = value
    }

    /// The encoded value; for a value that cannot be encoded the ``DefaultsError``, which no store accepts.
    public func serialize() -> Any { encodedByDefault() }
}

extension DefaultConvertible where Self: RawRepresentable, RawValue: Codable & Sendable {
    /// Decodes the raw value; nil if it is of another type or belongs to no value.
    public init?(_ object: Any) {
        guard let value = try? Conversion<Self>.rawValue.decode(PropertyList(object), false) else { return nil }
        self = value
    }

    /// The encoded raw value; for one that cannot be encoded the ``DefaultsError``, which no store accepts.
    public func serialize() -> Any {
        PropertyList.objectOrError { () throws(DefaultsError) in try Conversion<Self>.rawValue.encode(self) }
    }
}

// A type that meets both constraints would be ambiguous. Its `Codable` form wins: for a raw value it is the same, unless
// the type encodes itself by hand or the raw value looks like a nil ("$null").
extension DefaultConvertible where Self: Codable & RawRepresentable, RawValue: Codable & Sendable {
    /// Decodes the value; nil if it cannot be decoded from that.
    public init?(_ object: Any) {
        guard let value = Self.decodingByDefault(object) else { return nil }
        self = value
    }

    /// The encoded value; for a value that cannot be encoded the ``DefaultsError``, which no store accepts.
    public func serialize() -> Any { encodedByDefault() }
}
