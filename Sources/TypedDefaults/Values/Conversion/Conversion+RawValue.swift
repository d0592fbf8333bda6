extension Conversion where Value: RawRepresentable, Value.RawValue: Codable & Sendable {
    static var rawValue: Conversion {
        let raw = Conversion<Value.RawValue>.codable
        return Conversion(
            kind: .rawValue,
            store: { value throws(DefaultsError) in
                guard let stored = try raw.encoding(value.rawValue).get() else {
                    throw .refused(
                        path: [], type: Value.self, "a raw value must not be nil, because nil removes the key")
                }
                return stored
            },
            decodeBox: Box.decoding { stored, mode throws(DefaultsError) in
                guard let value = Value(rawValue: try raw.decode(stored, mode)) else {
                    throw DefaultsError(
                        .unreadable, type: "\(Value.self)", reason: "the type has no value with the stored raw value")
                }
                return value
            })
    }
}
