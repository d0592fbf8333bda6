import SettingsFile

// Reads the stored bytes, which are known to be valid, and the entries of dictionaries.
extension StoredValueDecoder {
    /// The entries of a dictionary.
    enum Entries {
        case tree([String: PropertyList])
        /// The entries are searched one after the other.
        case bytes(count: Int, first: Int)
    }

    func tree(of node: Node) -> PropertyList {
        switch node {
        case .value(let value): value
        case .bytes(let offset): bytes.read(at: offset) { $0.value()! }
        }
    }

    func plainBool(at offset: Int) -> Bool? { bytes[offset] <= 1 ? bytes[offset] == 1 : nil }

    func plainInt(at offset: Int) -> Int? {
        word(at: offset, .integer).flatMap { Int(exactly: Int64(bitPattern: $0)) }
    }

    func plainDouble(at offset: Int) -> Double? { word(at: offset, .double).map(Double.init(bitPattern:)) }

    private func word(at offset: Int, _ tag: ValueTag) -> UInt64? {
        bytes[offset] == tag.rawValue ? bytes.read(at: offset + 1) { $0.word() } : nil
    }

    /// Returns a string that is not escaped.
    func plainString(at offset: Int) -> String? {
        guard bytes[offset] == ValueTag.string.rawValue else { return nil }
        return bytes.read(at: offset + 1) { reader in
            let text = UnsafeRawBufferPointer(rebasing: reader.bytes[reader.counted()!])
            return text.first == UInt8(ascii: "$") ? nil : String(decoding: text, as: UTF8.self)
        }
    }

    /// Finds the entries of the node. Returns false if it is not a dictionary.
    func openEntries() -> Bool {
        switch node {
        case .value(.dictionary(let tree)): entries = .tree(tree)
        case .bytes(let offset) where bytes[offset] == ValueTag.dictionary.rawValue:
            let (count, first) = bytes.header(at: offset)
            if count > ByteReader.searchLimit, case .dictionary(let tree) = tree(of: node) {
                entries = .tree(tree)
            } else {
                entries = .bytes(count: count, first: first)
            }
        default: return false
        }
        return true
    }

    var names: [String] {
        switch entries {
        case .tree(let entries): Array(entries.keys)
        case .bytes(let count, let first):
            bytes.read(at: first) { reader in
                (0..<count).map { _ in
                    defer { _ = reader.skipValue() }
                    return reader.string()!
                }
            }
        }
    }

    func find(_ name: String) -> Node? {
        switch entries {
        case .tree(let entries): return entries[name].map(Node.value)
        case .bytes(let count, let first):
            if let offset = offset(of: name, count, first) { return bytes.node(at: offset) }
            // Two non-ASCII strings can be equal in different Unicode forms.
            guard !(names + [name]).allSatisfy({ $0.utf8.allSatisfy { $0 < 0x80 } }),
                case .dictionary(let tree) = tree(of: node)
            else { return nil }
            return tree[name].map(Node.value)
        }
    }

    /// Returns the offset of the value of a key, and moves the cursor there.
    func offset(of name: String, _ count: Int, _ first: Int) -> Int? {
        var name = name
        return name.withUTF8 { name in
            bytes.withUnsafeBytes { bytes in
                let name = UnsafeRawBufferPointer(name)
                var (reader, left) = (ByteReader(bytes, at: cursor.position), cursor.left)
                if left > 0 {
                    _ = reader.skipValue()
                    left -= 1
                }
                var ahead = left
                if reader.skip(to: name, within: &ahead) {
                    cursor = (ahead, reader.position)
                    return reader.position
                }
                reader = ByteReader(bytes, at: first)
                var behind = count - left
                guard reader.skip(to: name, within: &behind) else { return nil }
                cursor = (behind + left, reader.position)
                return reader.position
            }
        }
    }
}

extension [UInt8] {
    @inline(__always)
    func read<Result>(at offset: Int, _ body: (inout ByteReader) -> Result) -> Result {
        withUnsafeBytes { bytes in
            var reader = ByteReader(bytes, at: offset)
            return body(&reader)
        }
    }

    /// Returns the number of values in an array or a dictionary, and the offset of the first one.
    func header(at offset: Int) -> (count: Int, first: Int) {
        read(at: offset + 1) { ($0.count()!, $0.position) }
    }

    func node(at offset: Int) -> StoredValueDecoder.Node {
        self[offset] >= ValueTag.array.rawValue ? .bytes(at: offset) : .value(read(at: offset) { $0.value()! })
    }
}
