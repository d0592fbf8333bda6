extension Conversion where Value: DefaultConvertible {
    /// Converts by the type's own `init?(_:)` and `serialize()`.
    static var convertible: Conversion {
        let implementation = DefaultImplementation<Value>()
        var conversion = Conversion(
            kind: .convertible, store: { value throws(DefaultsError) in try implementation.encode(value) },
            decodeBox: implementation.decodeBox)
        conversion.defaults = Value.configDefaults
        return conversion.followingOwnRules
    }

    /// Encodes a value with a hand-written `serialize()`.
    @Sendable
    static func encodingByHand(_ value: Value) throws(DefaultsError) -> PropertyList? {
        try PropertyList(value.serialize())
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

extension Conversion {
    /// The same conversion, for values that meet the rules of their type if it is a config.
    var followingOwnRules: Conversion {
        guard let config = Value.self as? any DefaultConfig.Type else { return self }
        return following(config) as! Conversion  // Safe: `config` is `Value`.
    }

    private func following<Config: DefaultConfig>(_ config: Config.Type) -> Any {
        (self as Any as! Conversion<Config>).following(config.rules)  // Safe: `config` is `Value`.
    }
}
