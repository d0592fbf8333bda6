/// A value in a store of a program, or of a decorator, and what it was before an update.
struct StoreEdit<Value> {
    var value: Value?
    private let old: Value?
    /// The form before the update, because the update of an object changes the object itself.
    private let form: PropertyList?

    init(_ old: Value?) {
        (self.old, value, form) = (old, old, old.flatMap(Self.form))
        // Other code may share the object.
        if Value.self is AnyClass, let form, let copy = Self.value(of: form) { value = copy }
    }

    /// Whether the value was changed, as far as its form, or else `==`, tells.
    var isChange: Bool {
        guard let value, let old else { return value != nil || old != nil }
        if let form { return form != Self.form(of: value) }
        return type(of: old as Any) is AnyClass || !areKnownSame(old, value)
    }

    private static func form(of value: Value) -> PropertyList? {
        (value as? any DefaultConvertible).flatMap { try? PropertyList($0.serialize()) }
    }

    private static func value(of form: PropertyList) -> Value? {
        (Value.self as? any DefaultConvertible.Type)?.init(form.object) as? Value
    }
}
