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

    /// Reads the value from a form that only Foundation's coders write, and not by its `Codable`
    /// conformance; `nil` for anything else.
    init?(foundation stored: PropertyList)

    /// The form that is written.
    var propertyList: PropertyList { get throws(DefaultsError) }
}

extension NativeValue {
    init?(argument: String) { return nil }
    init?(foundation stored: PropertyList) { return nil }
}

/// The types with a native form, found by their address. A cast to the protocol takes ten times as
/// long, and the first one of a process searches everything that conforms to any protocol.
enum NativeTypes {
    /// A hash table. Its size is a power of two.
    private static let table: [(any NativeValue.Type)?] = {
        var types: [any NativeValue.Type] = [
            Bool.self, String.self, Double.self, Float.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self,
            UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self, Data.self, Date.self, URL.self, Decimal.self,
        ]
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) { types += [Int128.self, UInt128.self] }
        var table = [(any NativeValue.Type)?](repeating: nil, count: 64)
        for type in types {
            var place = place(of: type)
            while table[place] != nil { place = (place + 1) & 63 }
            table[place] = type
        }
        return table
    }()

    private static func place(of type: Any.Type) -> Int {
        let address = UInt64(UInt(bitPattern: ObjectIdentifier(type)))
        return Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) >> 58)
    }

    static subscript(type: Any.Type) -> (any NativeValue.Type)? {
        var place = place(of: type)
        while let native = table[place] {
            if native == type { return native }
            place = (place + 1) & 63
        }
        return nil
    }
}

/// Whether a type is one of the most common types. A cast would take ten times as long.
@inline(__always)
func isPlain(_ type: Any.Type) -> Bool {
    type == String.self || type == Int.self || type == Double.self || type == Bool.self
}

/// Returns the form of the most common types. The comparison costs nothing where the type is known
/// at compile time; a cast takes ten times as long.
@inline(__always)
func plainForm<Value>(of value: Value) -> PropertyList? {
    // Safe: each bit cast is to the type that its line has compared.
    if Value.self == String.self { return .string(unsafeBitCast(value, to: String.self)) }
    if Value.self == Int.self { return .integer(PropertyList.Integer(unsafeBitCast(value, to: Int.self))) }
    if Value.self == Double.self { return .double(unsafeBitCast(value, to: Double.self)) }
    if Value.self == Bool.self { return .bool(unsafeBitCast(value, to: Bool.self)) }
    return nil
}

/// Returns the native form of a value; `nil` if its type has none.
@inline(__always)
func nativeForm<Value>(of value: Value) throws(DefaultsError) -> PropertyList? {
    if let plain = plainForm(of: value) { return plain }
    guard let type = NativeTypes[Value.self] else { return nil }
    func form<Native: NativeValue>(_ type: Native.Type) throws(DefaultsError) -> PropertyList {
        // Safe: both types are the same.
        try unsafeBitCast(value, to: Native.self).propertyList
    }
    return try form(type)
}
