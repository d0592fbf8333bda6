#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A standard type with a native form in property lists, which the coder uses in place of the
/// type's `Codable` form.
protocol NativeValue: Sendable {
    /// Reads the value from its native form or another accepted form; `nil` for anything else.
    init?(_ stored: PropertyList)

    /// Reads the value from a launch argument such as `-volume 7`, which is always a string; `nil`
    /// for any other text.
    init?(argument: String)

    /// Reads the value from a form that only Foundation's coders write, such as text for the bytes
    /// of data in JSON, without the type's `Codable` conformance; `nil` for anything else.
    init?(foreign stored: PropertyList)

    /// The form that is written.
    var propertyList: PropertyList { get throws(DefaultsError) }
}

extension NativeValue {
    init?(argument: String) { return nil }
    init?(foreign stored: PropertyList) { return nil }
}

/// The types with a native form. A cast to the protocol takes ten times as long as this search, and
/// the first cast in a process searches all conformances.
enum NativeTypes {
    private static let all: [any NativeValue.Type] = [
        Bool.self, String.self, Double.self, Float.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self,
        UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self, Data.self, Date.self, URL.self, Decimal.self,
    ]
    private static let identities = all.map { ObjectIdentifier($0) }

    static subscript(type: Any.Type) -> (any NativeValue.Type)? {
        identities.firstIndex(of: ObjectIdentifier(type)).map { all[$0] }
    }
}

/// Whether a type is one of the most common types. A cast would take ten times as long.
@inline(__always)
func isPlain(_ type: Any.Type) -> Bool {
    type == String.self || type == Int.self || type == Double.self || type == Bool.self
}

/// Returns the value as the given type if that is its static type; `nil` otherwise.
///
/// The comparison costs nothing where the type is known at compile time; a cast takes ten times as
/// long.
@inline(__always)
func cast<Value, Other>(_ value: Value, to type: Other.Type) -> Other? {
    Value.self == Other.self ? same(value, as: type) : nil
}

/// Returns the value as a type that the caller has compared with its static type.
///
/// Where the type to return is generic, ``cast(_:to:)`` would look up the type of its optional at
/// each call.
@inline(__always)
func same<Value, Other>(_ value: Value, as type: Other.Type) -> Other {
    // Safe: both types are the same. A checked cast takes at least 79 instructions, over 300 in a
    // `set` of five properties.
    unsafeBitCast(value, to: Other.self)
}

/// Returns the native form of a value; `nil` if its type has none.
@inline(__always)
func nativeForm<Value>(of value: Value) throws(DefaultsError) -> PropertyList? {
    if let value = cast(value, to: String.self) { return .string(value) }
    if let value = cast(value, to: Int.self) { return .integer(Int64(value)) }
    if let value = cast(value, to: Double.self) { return .double(value) }
    if let value = cast(value, to: Bool.self) { return .bool(value) }
    func form<Native: NativeValue>(_ type: Native.Type) throws(DefaultsError) -> PropertyList? {
        try cast(value, to: type)?.propertyList
    }
    guard let type = NativeTypes[Value.self] else { return nil }
    return try form(type)
}

extension PropertyList {
    /// Returns whether values of the type are written in this form, and not only read from it.
    func isOwnForm(of type: any NativeValue.Type) -> Bool {
        switch self {
        case .integer, .unsigned: type is any FixedWidthInteger.Type
        // A double that does not fit a float exactly was written as a `Double`.
        case .double(let value): type == Double.self || type == Float.self && value.isFloat
        default: true
        }
    }

    /// Returns whether Foundation's decoders read the type from this form.
    func isForeignForm(of type: any NativeValue.Type) -> Bool {
        if case .integer = self { type != Bool.self } else { true }
    }
}

extension Double {
    /// Whether a float holds exactly this value.
    fileprivate var isFloat: Bool {
        // The payload of a float's NaN is in the upper bits.
        isNaN ? bitPattern & (1 << 29 - 1) == 0 : Double(Float(self)) == self
    }
}
