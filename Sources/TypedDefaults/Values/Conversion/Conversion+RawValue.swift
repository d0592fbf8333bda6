import SettingsFile

extension Conversion where Value: RawRepresentable, Value.RawValue: Codable & Sendable {
    static var rawValue: Conversion {
        let raw = Conversion<Value.RawValue>.codable
        @Sendable func encode(_ value: Value) throws(DefaultsError) -> PropertyList? {
            guard let stored = try raw.encode(value.rawValue) else {
                throw .refused(path: [], type: Value.self, "a raw value must not be nil, because nil removes the key")
            }
            return stored
        }
        @Sendable func decode(_ stored: PropertyList, mode: DecodingMode) throws(DefaultsError) -> Value {
            guard let value = Value(rawValue: try raw.decode(stored, mode)) else {
                throw DefaultsError(
                    .unreadable, type: "\(Value.self)", reason: "the type has no value with the stored raw value")
            }
            return value
        }
        // Read only if the lock is free, because in a forked child it may never be released.
        let isChecked = Locked(false)
        return Conversion(
            kind: .rawValue,
            encode: { value throws(DefaultsError) in
                let stored = try encode(value)
                if isChecked.withLockIfFree({ $0 }) != true, let stored {
                    try RoundTrip(
                        value: value, written: stored, read: { try decode($0, mode: .stored) }, write: encode,
                        trace: encode, ignores: { _, _ in false },
                        reason: "the raw value changed in a round trip"
                    ).check()
                    isChecked.withLockIfFree { $0 = true }
                }
                return stored
            }, decode: decode)
    }
}
