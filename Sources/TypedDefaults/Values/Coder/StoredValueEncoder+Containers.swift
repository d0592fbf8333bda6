import SettingsFile

// Containers that stay open.
extension StoredValueEncoder {
    /// Returns the encoder that is open under a key, or a new one. A subclass may ask for the
    /// container that its superclass has written. As in JSON, both share one.
    private func opening(_ key: any CodingKey) -> StoredValueEncoder {
        if let known = open.first(where: { $0.encoder.key?.stringValue.hasSameBytes(as: key.stringValue) == true }) {
            return known.encoder
        }
        return opening(key) { append(key: key) }
    }

    private func openingElement() -> StoredValueEncoder { opening(IndexKey(count)) {} }

    private func opening(_ key: any CodingKey, _ appendKey: () -> Void) -> StoredValueEncoder {
        // Beyond the limit, it is a sibling, because releasing a chain of any length would recurse
        // as deeply.
        let outer = isTooDeep ? parent ?? self : self
        let encoder = StoredValueEncoder(parent: outer, key: key, valueType: nil, sharesBytes: false)
        guard isWriting, !isTooDeep else { return encoder }
        appendKey()
        open.append((writer.pointee.count, encoder))
        count += 1
        return encoder
    }

    /// Moves the bytes of the open containers to their places.
    private func insertOpen() throws {
        let bytes = writer.pointee.withBytes { Array($0[start...]) }
        writer.pointee.truncate(to: start)
        var position = start
        for (index, (offset, encoder)) in open.enumerated() {
            try encoder.finish()
            append(bytes[(position - start)..<(offset - start)])
            open[index].offset = writer.pointee.count
            encoder.writer.pointee.withBytes { writer.pointee.append($0) }
            position = offset
        }
        append(bytes[(position - start)...])
    }

    private func append(_ bytes: ArraySlice<UInt8>) { bytes.withUnsafeBytes { writer.pointee.append($0) } }
}

// The end of a value.
extension StoredValueEncoder {
    /// Returns the stored form of the root; `nil` for an optional without a value.
    func finishedValue() throws -> StoredValue? {
        try finish()
        return shape == .single && count == 0 ? nil : .bytes(writer.pointee.withBytes { Array($0) })
    }

    func finish() throws {
        // First, because a refused call may have removed bytes between open containers.
        if let failure { throw failure }
        if !open.isEmpty { try insertOpen() }
        if isTooDeep { throw invalid(PropertyList.tooDeep) }
        state = .finished
        switch shape {
        case .empty: writer.pointee.append(.dictionary([:]))
        case .single: guard count > 0 || isOptionalRoot else { throw invalid("encoded no value") }
        case .keyed:
            if keys.mayRepeat { try removeRepeatedKeys() }
            writer.pointee.insert(count: count, at: start + 1, replacing: 1)
        case .unkeyed:
            writer.pointee.insert(count: count, at: start + 1, replacing: 1)
            guard count > 1, let type = valueType as? any StandardCollection.Type, type.isUnordered else { return }
            let node = writer.pointee.value(from: start).ordered(as: type)
            writer.pointee.truncate(to: start)
            writer.pointee.append(node)
        }
    }

    /// Keeps the last of the entries with one key. As in JSON, a container that was opened under
    /// the key of an array or a dictionary continues it.
    private func removeRepeatedKeys() throws {
        let bytes = writer.pointee.withBytes { Array($0[start...]) }
        var entries: [String: (range: Range<Int>, value: Int)] = [:]
        var continued: [String: PropertyList] = [:]
        try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes, at: Self.headerLength)
            for _ in 0..<count {
                let first = reader.position
                // Safe: this encoder has written the entries.
                let (name, value) = (reader.string()!, reader.position)
                _ = reader.skipValue()
                if let index = entries.index(forKey: name) {
                    guard entries[index].key.hasSameBytes(as: name) else {
                        throw invalid("two keys of one container are the same text in different Unicode forms")
                    }
                    if open.contains(where: { $0.offset == start + value }) {
                        var former = ByteReader(bytes, at: entries[index].value.value)
                        var latter = ByteReader(bytes, at: value)
                        switch (former.value()!, latter.value()!) {
                        case (.array(let former), .array(let latter)): continued[name] = .array(former + latter)
                        case (.dictionary(let former), .dictionary(let latter)):
                            continued[name] = .dictionary(former.merging(latter) { _, latter in latter })
                        default: throw invalid("opened a container under the key of a value of another kind")
                        }
                    } else {
                        continued[name] = nil
                    }
                }
                entries[name] = (first..<reader.position, value)
            }
        }
        guard entries.count < count else { return }
        writer.pointee.truncate(to: start + Self.headerLength)
        for (name, (range, value)) in entries.sorted(by: { $0.value.value < $1.value.value }) {
            append(bytes[range.lowerBound..<(continued[name] == nil ? range.upperBound : value)])
            if let value = continued[name] { writer.pointee.append(value) }
        }
        count = entries.count
    }

    /// Makes later calls of a container that has left `encode(to:)` harmless, and releases the
    /// encoders that stayed open, which have references to this one.
    func close() {
        state = .finished
        for (_, encoder) in open { encoder.close() }
        open = []
    }
}

// One generic `encode` also meets the requirements for the standard types.
extension StoredValueEncoder {
    struct KeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let encoder: StoredValueEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        func encodeNil(forKey key: Key) { encoder.encodeNil(forKey: key) }
        func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try encoder.encode(value, forKey: key) }
        func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
            guard let value else { return }
            // Of an optional in an optional, only the outer nil is a missing entry.
            if Value.self is any AnyOptional.Type {
                try encoder.encode(Optional(value), forKey: key)
            } else {
                try encoder.encode(value, forKey: key)
            }
        }
        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Nested> { encoder.opening(key).container(keyedBy: type) }
        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            encoder.opening(key).unkeyedContainer()
        }
        func superEncoder() -> any Encoder { encoder.opening(SuperKey()) }
        func superEncoder(forKey key: Key) -> any Encoder { encoder.opening(key) }
    }

    struct UnkeyedContainer: UnkeyedEncodingContainer {
        let encoder: StoredValueEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }
        var count: Int { encoder.count }

        func encodeNil() { encoder.encodeNil() }
        func encode<Value: Encodable>(_ value: Value) throws { try encoder.append(value) }
        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
            encoder.openingElement().container(keyedBy: type)
        }
        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.openingElement().unkeyedContainer() }
        func superEncoder() -> any Encoder { encoder.openingElement() }
    }

    struct SingleValueContainer: SingleValueEncodingContainer {
        let encoder: StoredValueEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        func encodeNil() { encoder.encodeSingleNil() }
        func encode<Value: Encodable>(_ value: Value) throws { try encoder.encodeSingle(value) }
    }
}

/// The keys of a container, in just enough detail to find out whether one occurs twice.
struct SeenKeys {
    /// A bit for each key, which similar keys share.
    private var bits: UInt64 = 0
    /// Whether two keys may be equal strings.
    private(set) var mayRepeat = false

    /// - Parameters:
    ///   - count: The number of earlier entries.
    ///   - bytes: Holds these entries, from `first` on; `nil` if some of them have no value yet.
    mutating func insert(
        _ key: UnsafeRawBufferPointer, after count: Int, in bytes: UnsafeRawBufferPointer, from first: Int?
    ) {
        let (new, isASCII) = key.keyBits
        // Two non-ASCII strings can be equal in different Unicode forms.
        if !isASCII {
            mayRepeat = true
        } else if bits & new == new, !mayRepeat {
            mayRepeat =
                if count <= 16, let first { ByteReader(bytes, at: first).hasKey(key, within: count) } else { true }
        }
        bits |= new
    }
}

extension UnsafeRawBufferPointer {
    /// Two bits that depend on the text of a key, and whether the text is ASCII.
    @inline(__always)
    var keyBits: (bits: UInt64, isASCII: Bool) {
        var (hash, all) = (UInt64(count), UInt64(0))
        func add(_ word: UInt64) {
            hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
            all |= word
        }
        // The last word may overlap the one before.
        if count >= 8 {
            var offset = 0
            while offset < count - 8 {
                add(loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                offset += 8
            }
            add(loadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
        } else if count >= 4 {
            let end = loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
            add(UInt64(loadUnaligned(as: UInt32.self)) << 32 | UInt64(end))
        } else if count > 0 {
            add(UInt64(self[0]) << 16 | UInt64(self[count / 2]) << 8 | UInt64(self[count - 1]))
        }
        return (1 << (hash >> 58) | 1 << (hash >> 52 & 63), all & 0x8080_8080_8080_8080 == 0)
    }
}
