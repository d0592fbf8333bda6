import SettingsFile

// The containers. One generic `decode` also meets the requirements for the standard types.
extension StoredValueDecoder {
    struct KeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let decoder: StoredValueDecoder
        var codingPath: [any CodingKey] { decoder.codingPath }
        var allKeys: [Key] { decoder.names.compactMap(Key.init(stringValue:)) }

        func contains(_ key: Key) -> Bool {
            // What follows is the search for the value.
            let cursor = decoder.cursor
            defer { decoder.cursor = cursor }
            return decoder.find(key.stringValue) != nil
        }

        private func node(_ key: some CodingKey) throws -> Node {
            guard let node = decoder.find(key.stringValue) else { throw decoder.absent(key) }
            return node
        }

        /// Returns the entry that takes the place of a missing one; `nil` if the entry is stored,
        /// or if there is none.
        private func supplied(_ key: Key) -> Node? {
            guard let supplied = decoder.root.rules.supplied, decoder.isWhole,
                let entry = supplied[key.stringValue]
            else { return nil }
            // The search in bytes has found nothing.
            if case .bytes = decoder.entries { return entry }
            return contains(key) ? nil : entry
        }

        private func nested(_ key: some CodingKey) throws -> StoredValueDecoder {
            try StoredValueDecoder(parent: decoder, node: node(key), key: key)
        }

        func decodeNil(forKey key: Key) throws -> Bool { try node(key).isNilMarker }
        func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
            guard let node = decoder.find(key.stringValue), !node.isNilMarker else { return nil }
            if type is any AnyOptional.Type { return try decoder.decode(Value?.self, from: node, key: key) }
            return try decoder.decode(type, from: node, key: key)
        }

        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
            var offset: Int?
            if case .bytes(let count, let first) = decoder.entries {
                offset = decoder.offset(of: key.stringValue, count, first)
            }
            // Not in a function that returns an optional; see `same(_:as:)`.
            if let offset {
                if Value.self == Bool.self, let value = decoder.plainBool(at: offset) {
                    return same(value, as: Value.self)
                }
                if Value.self == String.self, let value = decoder.plainString(at: offset) {
                    return same(value, as: Value.self)
                }
                if Value.self == Int.self, let value = decoder.plainInt(at: offset) {
                    return same(value, as: Value.self)
                }
                if Value.self == Double.self, let value = decoder.plainDouble(at: offset) {
                    return same(value, as: Value.self)
                }
            }
            return try decoder.decode(
                Value.self, from: offset.map(decoder.bytes.node) ?? supplied(key) ?? node(key), key: key)
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<Nested> { try nested(key).container(keyedBy: type) }
        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            try nested(key).unkeyedContainer()
        }
        func superDecoder() throws -> any Decoder { try nested(SuperKey()) }
        func superDecoder(forKey key: Key) throws -> any Decoder { try nested(key) }
    }

    struct UnkeyedContainer: UnkeyedDecodingContainer {
        private enum Elements {
            case tree([PropertyList])
            /// The offset of the current element.
            case bytes(at: Int)
        }
        let decoder: StoredValueDecoder
        private var elements: Elements
        let count: Int?
        private(set) var currentIndex = 0
        var codingPath: [any CodingKey] { decoder.codingPath }
        var isAtEnd: Bool { currentIndex == count }

        /// Returns `nil` if the decoder does not read an array.
        init?(decoder: StoredValueDecoder) {
            self.decoder = decoder
            switch decoder.node {
            case .value(.array(let elements)): (self.elements, count) = (.tree(elements), elements.count)
            case .bytes(let offset) where decoder.bytes[offset] == ValueTag.array.rawValue:
                let (count, first) = decoder.bytes.header(at: offset)
                (elements, self.count) = (.bytes(at: first), count)
            default: return nil
            }
        }

        private func node(_ type: Any.Type) throws -> Node {
            guard !isAtEnd else {
                throw DecodingError.valueNotFound(
                    type, decoder.context("the array ends here", at: IndexKey(currentIndex)))
            }
            switch elements {
            case .tree(let elements): return .value(elements[currentIndex])
            case .bytes(let offset): return decoder.bytes.node(at: offset)
            }
        }

        private mutating func advance() {
            currentIndex += 1
            guard case .bytes(let offset) = elements else { return }
            elements = .bytes(
                at: decoder.bytes.read(at: offset) { reader in
                    _ = reader.skipValue()
                    return reader.position
                })
        }

        /// Returns a container for the next element and moves past the element.
        private mutating func next<Container>(
            _ type: Any.Type, _ open: (StoredValueDecoder) throws -> Container
        ) throws -> Container {
            let next = try open(StoredValueDecoder(parent: decoder, node: node(type), key: IndexKey(currentIndex)))
            advance()
            return next
        }

        mutating func decodeNil() throws -> Bool {
            guard try node(Any.self).isNilMarker else { return false }
            advance()
            return true
        }

        mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            let value = try decoder.decode(Value.self, from: node(Value.self), key: IndexKey(currentIndex))
            advance()
            return value
        }

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type
        ) throws -> KeyedDecodingContainer<Nested> { try next([String: Any].self) { try $0.container(keyedBy: type) } }
        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
            try next([Any].self) { try $0.unkeyedContainer() }
        }
        mutating func superDecoder() throws -> any Decoder { try next((any Decoder).self) { $0 } }
    }

    struct SingleValueContainer: SingleValueDecodingContainer {
        let decoder: StoredValueDecoder
        var codingPath: [any CodingKey] { decoder.codingPath }

        func decodeNil() -> Bool { !decoder.isOptionalRoot && decoder.node.isNilMarker }
        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.decodeSingle(type) }
    }
}
