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
        self = try StoredValue.encoding(value, traits, userInfo: userInfo, isTree: true).value?.tree ?? .nilMarker
    }
}

extension StoredValue {
    /// Encodes a value as a whole setting.
    ///
    /// - Parameters:
    ///   - isTree: Whether the caller needs a tree.
    ///   - trace: Encodes for a comparison, unless it is `nil`; see ``RoundTripTrace``.
    /// - Returns: The stored form, which is `nil` for an optional without a value, and whether the
    ///   value has to be read back and compared because one of its types may read something else.
    static func encoding<Value: Encodable>(
        _ value: Value, _ traits: RootTraits, userInfo: [CodingUserInfoKey: any Sendable] = [:],
        isTree: Bool = false, trace: RoundTripTrace? = nil
    ) throws -> (value: StoredValue?, needsCheck: Bool) {
        if traits.isNative, trace == nil, let native = try nativeForm(of: value) { return (.tree(native), false) }
        let encoder = StoredValueEncoder(
            Value.self, userInfo: userInfo, isOptionalRoot: traits.isOptional, isTree: isTree, trace: trace)
        defer { encoder.close() }
        // A comparison distinguishes a `String` from a `URL` with the same text, also at the root.
        if trace != nil, let native = try encoder.nativeNode(of: value, key: nil) { return (.tree(native), false) }
        try value.encode(to: encoder)
        guard let stored = try encoder.storedValue(of: value) else { return (nil, encoder.needsCheck) }
        return (stored, encoder.needsCheck || !encoder.isChecked(isNil: false))
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
