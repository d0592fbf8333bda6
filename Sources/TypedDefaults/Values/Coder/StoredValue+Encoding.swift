extension PropertyList {
    /// Encodes a value. `Data` and `Date` keep their form; `URL` and `Decimal` become strings.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - userInfo: The `userInfo` of the encoder that the value's `encode(to:)` receives.
    /// - Throws: An `EncodingError`, or any error that the value's own `encode(to:)` throws.
    public init(encoding value: some Encodable, userInfo: [CodingUserInfoKey: any Sendable] = [:]) throws {
        // The root is never optional here. There is no key to remove, so nil and the string `$null`
        // must differ.
        let traits = RootTraits(type(of: value), canBeOptional: false)
        self = try StoredValue.encoding(value, traits, userInfo: userInfo)?.tree ?? .nilMarker
    }
}

extension StoredValue {
    /// Encodes a value as a whole setting.
    ///
    /// - Returns: `nil` for an optional without a value.
    static func encoding<Value: Encodable>(
        _ value: Value, _ traits: RootTraits, userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws -> StoredValue? {
        if traits.isNative, let native = try nativeForm(of: value) { return .tree(native) }
        let encoder = StoredValueEncoder(Value.self, userInfo: userInfo, isOptionalRoot: traits.isOptional)
        defer { encoder.close() }
        try value.encode(to: encoder)
        return try encoder.finishedValue()
    }
}

/// The traits of the type of a whole setting that the coder needs.
///
/// They are determined once for each declaration and not at each save, because this searches the
/// type's conformances.
struct RootTraits: Sendable {
    /// Whether the type is an optional, so that a missing value is one of its values.
    let isOptional: Bool
    /// Whether the type has a form of its own; see `NativeValue`.
    let isNative: Bool

    init<Value>(_ type: Value.Type, canBeOptional: Bool = true) {
        let isPlain = isPlain(type)
        isOptional = canBeOptional && !isPlain && type is any AnyOptional.Type
        isNative = isPlain || NativeTypes[type] != nil
    }
}
