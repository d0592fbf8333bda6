/// A standard type with a form of its own in a property list, which the coder uses in place of the type's `Codable` one.
protocol NativeValue {
    /// Reads the value from its own form, or one of those also accepted; nil from anything else.
    init?(_ stored: PropertyList)

    /// Reads the value from a launch argument such as `-volume 7`, which is always a string; nil if the type has no such form.
    init?(argument: String)

    /// The form that is written.
    var propertyList: PropertyList { get throws(DefaultsError) }
}

extension NativeValue {
    init?(argument: String) { return nil }
}

/// The form of the commonest types: by comparison, which folds away where the type is known; a cast takes ten times as long.
@inline(__always)
func plainForm<Value>(of value: Value) -> PropertyList? {
    // Safe: each bit cast is to the very type that its line asks for.
    if Value.self == String.self { return .string(unsafeBitCast(value, to: String.self)) }
    if Value.self == Int.self { return .integer(PropertyList.Integer(unsafeBitCast(value, to: Int.self))) }
    if Value.self == Double.self { return .double(unsafeBitCast(value, to: Double.self)) }
    if Value.self == Bool.self { return .bool(unsafeBitCast(value, to: Bool.self)) }
    return nil
}

/// The form that the value's type has of its own; nil if it has none.
@inline(__always)
func nativeForm<Value>(of value: Value) throws(DefaultsError) -> PropertyList? {
    if let plain = plainForm(of: value) { return plain }
    guard Value.self is any NativeValue.Type, let native = value as? any NativeValue else { return nil }
    return try native.propertyList
}
