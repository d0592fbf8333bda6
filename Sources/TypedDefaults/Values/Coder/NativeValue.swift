/// A standard type with a native form in property lists, which the coder uses in place of the
/// type's `Codable` form.
protocol NativeValue {
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
    guard Value.self is any NativeValue.Type, let native = value as? any NativeValue else { return nil }
    return try native.propertyList
}
