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
    /// Whether the key is data, as those of a dictionary are, and not the name of a property.
    ///
    /// Names are the cases of an enum. A key of another type may hold any text, even if its type
    /// checks the text, and so may an enum that takes any string.
    var isData: Bool {
        if self is SuperKey || self is IndexKey { return false }
        let mirror = Mirror(reflecting: self)
        return mirror.displayStyle != .enum || !mirror.children.isEmpty || Self(stringValue: "\0") != nil
    }

    /// The key as it appears in an error: `*` where it is data.
    var nameInErrors: String {
        // Foundation's decoders use one type for the places in arrays and other keys.
        if let intValue, stringValue == "Index \(intValue)" { return "\(intValue)" }
        return isData ? "*" : stringValue
    }
}
