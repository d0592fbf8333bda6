#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A value that Foundation's JSON encoder encodes as usual, except that the elements of sets, and
/// of dictionaries whose keys are not strings, are sorted, so that equal values have equal bytes.
struct OrderedJSON<Value: Encodable>: Encodable {
    let value: Value

    static func data(of value: Value) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(OrderedJSON(value: value))
    }

    func encode(to encoder: any Encoder) throws {
        // Foundation encodes data, dates, URLs and decimal numbers in forms of their own.
        if NativeTypes[Value.self] != nil {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        } else if let parts = (value as? any UnorderedInJSON)?.parts {
            var container = encoder.unkeyedContainer()
            let ordered = try parts.map { (place: try Self.place(of: $0[0]), part: $0) }
                .sorted { $0.place.lexicographicallyPrecedes($1.place) }
            for part in ordered.lazy.map(\.part).joined() { try container.encode(part) }
        } else {
            try value.encode(to: OrderingEncoder(base: encoder))
        }
    }

    private static func place<Part: Encodable>(of part: Part) throws -> Data {
        try OrderedJSON<[Part]>.data(of: [part])
    }
}

/// A collection that encodes itself as an array in the order in memory.
private protocol UnorderedInJSON {
    /// The elements, or the keys with their values; `nil` for a dictionary that is encoded as one.
    var parts: [[any Encodable]]? { get }
}

extension Set: UnorderedInJSON where Element: Encodable {
    fileprivate var parts: [[any Encodable]]? { map { [OrderedJSON(value: $0)] } }
}

extension Dictionary: UnorderedInJSON where Key: Encodable, Value: Encodable {
    fileprivate var parts: [[any Encodable]]? {
        guard !(Key.self is any CodingKeyRepresentable.Type) else { return nil }
        return map { [OrderedJSON<Key>(value: $0), OrderedJSON<Value>(value: $1)] }
    }
}

/// Passes each value on as ``OrderedJSON``.
private struct OrderingEncoder: Encoder {
    let base: any Encoder
    var codingPath: [any CodingKey] { base.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Keyed(base: base.container(keyedBy: type)))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { Unkeyed(base: base.unkeyedContainer()) }
    func singleValueContainer() -> any SingleValueEncodingContainer { Single(base: base.singleValueContainer()) }

    private struct Keyed<Key: CodingKey>: NilEncodingContainer {
        var base: KeyedEncodingContainer<Key>
        var codingPath: [any CodingKey] { base.codingPath }

        mutating func encodeNil(forKey key: Key) throws { try base.encodeNil(forKey: key) }
        mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
            try base.encode(OrderedJSON(value: value), forKey: key)
        }
        mutating func encodeOptional<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
            if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
        }
        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Nested> {
            KeyedEncodingContainer(OrderingEncoder.Keyed(base: base.nestedContainer(keyedBy: type, forKey: key)))
        }
        mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            Unkeyed(base: base.nestedUnkeyedContainer(forKey: key))
        }
        mutating func superEncoder() -> any Encoder { OrderingEncoder(base: base.superEncoder()) }
        mutating func superEncoder(forKey key: Key) -> any Encoder {
            OrderingEncoder(base: base.superEncoder(forKey: key))
        }
    }

    private struct Unkeyed: UnkeyedEncodingContainer {
        var base: any UnkeyedEncodingContainer
        var codingPath: [any CodingKey] { base.codingPath }
        var count: Int { base.count }

        mutating func encodeNil() throws { try base.encodeNil() }
        mutating func encode<Value: Encodable>(_ value: Value) throws { try base.encode(OrderedJSON(value: value)) }
        mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
            KeyedEncodingContainer(Keyed(base: base.nestedContainer(keyedBy: type)))
        }
        mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
            Unkeyed(base: base.nestedUnkeyedContainer())
        }
        mutating func superEncoder() -> any Encoder { OrderingEncoder(base: base.superEncoder()) }
    }

    private struct Single: SingleValueEncodingContainer {
        var base: any SingleValueEncodingContainer
        var codingPath: [any CodingKey] { base.codingPath }

        mutating func encodeNil() throws { try base.encodeNil() }
        mutating func encode<Value: Encodable>(_ value: Value) throws { try base.encode(OrderedJSON(value: value)) }
    }
}
