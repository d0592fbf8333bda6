/// The index of an element in a coding path.
struct IndexKey: CodingKey {
    let index: Int
    init(_ index: Int) { self.index = index }
    init?(intValue: Int) { index = intValue }
    init?(stringValue: String) { return nil }
    var intValue: Int? { index }
    var stringValue: String { String(index) }
}

/// The key under which a class encodes its superclass.
struct SuperKey: CodingKey {
    init() {}
    init?(intValue: Int) { return nil }
    init?(stringValue: String) { return nil }
    var intValue: Int? { nil }
    var stringValue: String { "super" }
}

extension CodingKey {
    /// Whether the key is data, like the keys of a dictionary, and not the name of a property.
    ///
    /// The cases of an enum are names. A key of another type may hold any text, even if the type
    /// validates it, and so may a key of an enum that accepts any string.
    var isData: Bool {
        if self is SuperKey || self is IndexKey { return false }
        let mirror = Mirror(reflecting: self)
        return mirror.displayStyle != .enum || !mirror.children.isEmpty || Self(stringValue: "\0") != nil
    }

    /// The key as it appears in an error: `*` where it is data.
    var nameInErrors: String {
        // Foundation's decoders use one type for array indices and other keys.
        if let intValue, stringValue == "Index \(intValue)" { return "\(intValue)" }
        return isData ? "*" : stringValue
    }
}
