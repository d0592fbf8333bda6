import SettingsFile

/// A value in its stored form: the bytes that the encoder wrote, or a tree.
///
/// The bytes are in the format of a settings file. Comparing, storing and decoding them needs no
/// tree, and a tree is created from them only where one is needed.
package enum StoredValue: Sendable {
    /// The bytes of one value, nested no deeper than ``PropertyList/depthLimit``.
    case bytes([UInt8])
    case tree(PropertyList)

    package var tree: PropertyList {
        switch self {
        case .tree(let tree): tree
        // Safe: the encoder wrote the bytes, or the backend has checked them.
        case .bytes(let bytes): bytes.withUnsafeBytes(ByteReader.wholeValue)!
        }
    }
}

extension StoredValue: Equatable {
    /// Returns whether both are equal property lists, regardless of the order of their entries.
    package static func == (lhs: StoredValue, rhs: StoredValue) -> Bool {
        guard case (.bytes(let one), .bytes(let other)) = (lhs, rhs) else { return lhs.tree == rhs.tree }
        let areSame: Bool? = one.withUnsafeBytes { one in
            other.withUnsafeBytes { other in
                guard let offset = offsetOfDifference(one, other) else { return true }
                // If both have the same keys up to here, the values of the last one differ.
                // Otherwise, the order of the entries may differ.
                var reader = ByteReader(one)
                return reader.skipsKey(at: offset) ? nil : false
            }
        }
        return areSame ?? (lhs.tree == rhs.tree)
    }

    /// Returns whether both have the same form and content. Equal values may have different bytes.
    func isIdentical(to other: StoredValue) -> Bool {
        switch (self, other) {
        case (.bytes(let one), .bytes(let other)):
            one.withUnsafeBytes { one in other.withUnsafeBytes { areEqual(one, $0) } }
        case (.tree(let one), .tree(let other)): one == other
        default: false
        }
    }

    /// Returns the index of the first byte in which they differ; `nil` if they are equal.
    private static func offsetOfDifference(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Int? {
        let count = min(one.count, other.count)
        var offset = 0
        while offset + 8 <= count,
            one.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                == other.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        {
            offset += 8
        }
        while offset < count, one[offset] == other[offset] { offset += 1 }
        return offset == one.count && offset == other.count ? nil : offset
    }
}
