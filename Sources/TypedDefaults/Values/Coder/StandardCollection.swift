#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the coder knows about the collections of the standard library.
protocol StandardCollection {
    /// The type of the elements, or of the values of a dictionary.
    static var partType: Any.Type { get }
    /// Whether elements are encoded in their order in memory, which may differ between equal
    /// collections.
    static var isUnordered: Bool { get }
    /// Whether the collection stays valid without one of the elements of the encoded array, unlike
    /// one whose keys and values alternate.
    static var isList: Bool { get }
}

extension StandardCollection {
    static var isUnordered: Bool { false }
    static var isList: Bool { true }
}

extension Array: StandardCollection { static var partType: Any.Type { Element.self } }
extension ContiguousArray: StandardCollection { static var partType: Any.Type { Element.self } }
extension Set: StandardCollection {
    static var partType: Any.Type { Element.self }
    static var isUnordered: Bool { true }
}
extension Dictionary: StandardCollection {
    static var partType: Any.Type { Value.self }
    static var isUnordered: Bool { true }
    static var isList: Bool { false }
}

extension PropertyList {
    /// Returns the encoded value, sorted if the type is unordered, so that equal values have equal
    /// stored forms.
    ///
    /// The order is total and the same in each process. It is part of the format.
    func ordered(as type: Any.Type) -> PropertyList {
        guard case .array(let elements) = self, let type = type as? any StandardCollection.Type, type.isUnordered
        else { return self }
        let length = type.isList ? 1 : 2
        let groups = stride(from: 0, to: elements.count, by: length)
            .map { (place: elements[$0].sortKey, index: $0) }
            .sorted { $0.place.lexicographicallyPrecedes($1.place) }
        return .array(groups.flatMap { elements[$0.index..<Swift.min($0.index + length, elements.count)] })
    }

    /// Numbers come first, then strings in the order of their bytes, then all others.
    private var sortKey: [UInt8] {
        switch self {
        case .integer, .unsigned, .double: canonicalBytes()
        case .string(let text): [3] + text.utf8
        default: [4] + canonicalBytes()
        }
    }

    /// Returns whether both are equal, or differ only in the order of arrays.
    func isEqualRegardlessOfOrder(to other: PropertyList) -> Bool {
        switch (self, other) {
        case (.dictionary(let one), .dictionary(let other)):
            one.count == other.count
                && one.allPairs(with: other) { _, one, other in
                    other.map { one.isEqualRegardlessOfOrder(to: $0) } ?? false
                }
        case (.array, .array): canonicalBytes(sortsArrays: true) == other.canonicalBytes(sortsArrays: true)
        default: self == other
        }
    }

    /// Returns bytes that are the same for equal values and differ for others.
    private func canonicalBytes(sortsArrays: Bool = false) -> [UInt8] {
        func word(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian, Array.init) }
        func counted(_ bytes: some Collection<UInt8>) -> [UInt8] { word(UInt64(bytes.count)) + bytes }
        switch self {
        case .bool(let value): return [0, value ? 1 : 0]
        case .integer(let value): return [1, value < 0 ? 0 : 1] + word(UInt64(bitPattern: value))
        case .unsigned(let value): return [1, 1] + word(value)
        case .double(let value): return [2] + word(value.bitPattern)
        case .string(let value): return [3] + counted(value.utf8)
        case .data(let value): return [4] + counted(value)
        case .date(let value): return [5] + word(value.timeIntervalSinceReferenceDate.bitPattern)
        case .array(let value):
            var elements = value.map { $0.canonicalBytes(sortsArrays: sortsArrays) }
            if sortsArrays { elements.sort { $0.lexicographicallyPrecedes($1) } }
            return [6] + word(UInt64(value.count)) + elements.joined()
        case .dictionary(let value):
            let entries = value.sortedByBytes()
            return [7] + word(UInt64(value.count))
                + entries.flatMap { counted($0.key.utf8) + $0.value.canonicalBytes(sortsArrays: sortsArrays) }
        }
    }
}
