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

extension DefaultStoreType {
    /// Updates the stored value, or a default in its place.
    ///
    /// - Parameter replace: Called in place of the update if the stored value is unreadable.
    func updateStored<Result>(
        or defaultValue: () -> Default, _ body: (inout Default) throws -> Result,
        orReplace replace: (DefaultsError) throws -> Result
    ) throws -> Result {
        var hasRun = false
        do {
            return try updateStored { stored in
                hasRun = true
                let (value, result) = try edited(stored, or: defaultValue, body)
                stored = value
                return result
            }
        } catch let error as DefaultsError where error.kind == .unreadable && !hasRun { return try replace(error) }
    }

    /// Edits the stored value, or a default in its place.
    ///
    /// - Returns: What to store, and what `body` returns.
    func edited<Result>(
        _ stored: Default?, or defaultValue: () -> Default, _ body: (inout Default) throws -> Result
    ) throws -> (Default?, Result) {
        var edit = StoreEdit(stored ?? defaultValue())
        let result = try body(&edit.value!)
        let isAssigned = stored == nil && WriteIntent.current(for: Default.self) == .assigning
        return (edit.isChange || isAssigned ? edit.value : stored, result)
    }
}
