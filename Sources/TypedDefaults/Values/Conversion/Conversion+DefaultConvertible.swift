extension Conversion where Value: DefaultConvertible {
    /// Converts by the type's own `init?(_:)` and `serialize()`.
    static var convertible: Conversion {
        let implementation = DefaultImplementation<Value>()
        var conversion = Conversion(
            kind: .convertible, store: { value throws(DefaultsError) in try implementation.encode(value) },
            decodeBox: implementation.decodeBox)
        guard let config = Value.self as? any DefaultConfig.Type else { return conversion }
        conversion.defaults = config.defaults
        return following(config, conversion) as! Conversion  // Safe: `config` is `Value`.
    }

    private static func following<Config: DefaultConfig>(_ config: Config.Type, _ conversion: Conversion) -> Any {
        (conversion as Any as! Conversion<Config>).following(config.rules)  // Safe: `config` is `Value`.
    }

    /// Encodes a value with a hand-written `serialize()`.
    @Sendable
    static func encodingByHand(_ value: Value) throws(DefaultsError) -> StoredValue? {
        .tree(try PropertyList(value.serialize()))
    }

    /// Decodes a value with a hand-written `init?(_:)`.
    static func decodingByHand(_ stored: PropertyList) throws(DefaultsError) -> Value {
        guard let value = Value(stored.object) else {
            throw DefaultsError(
                .unreadable, type: "\(Value.self)", reason: "init(_:) returned nil for the stored value")
        }
        return value
    }
}
