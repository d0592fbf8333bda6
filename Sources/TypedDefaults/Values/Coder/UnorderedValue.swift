#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A collection that encodes its elements in their order in memory, which may differ between equal
/// collections.
protocol UnorderedValue {
    /// The number of consecutive elements of the encoded array that belong together.
    static var stride: Int { get }
}

extension Set: UnorderedValue {
    static var stride: Int { 1 }
}

// A dictionary whose keys are not strings encodes an array of alternating keys and values.
extension Dictionary: UnorderedValue {
    static var stride: Int { 2 }
}

extension PropertyList {
    /// Returns the encoded value, sorted if the type is unordered, so that equal values have equal
    /// stored forms.
    func ordered(as type: Any.Type) -> PropertyList {
        guard case .array(let elements) = self, let type = type as? any UnorderedValue.Type,
            elements.count > type.stride
        else { return self }
        let groups = stride(from: 0, to: elements.count, by: type.stride)
            .map { (place: SortingPlace(elements[$0]), index: $0) }
            .sorted { $0.place.isBefore($1.place) }
        return .array(groups.flatMap { elements[$0.index..<min($0.index + type.stride, elements.count)] })
    }
}

/// The sort key of an element: its kind first, then its value.
///
/// The order is total and the same in each process. If elements of different kinds were compared by
/// different rules, the order could have cycles, and equal sets could be stored differently.
private enum SortingPlace {
    case integer(PropertyList.Integer)
    case double(UInt64)
    case string(String)
    /// The bytes of any other element, created once and not at each comparison.
    case bytes([UInt8])

    init(_ element: PropertyList) {
        switch element {
        case .integer(let value): self = .integer(value)
        case .double(let value): self = .double(value.bitPattern)
        case .string(let value): self = .string(value)
        default:
            self = .bytes(element.sortingBytes())
        }
    }

    private var rank: Int {
        switch self {
        case .integer: 0
        case .double: 1
        case .string: 2
        case .bytes: 3
        }
    }

    func isBefore(_ other: SortingPlace) -> Bool {
        switch (self, other) {
        case (.integer(let one), .integer(let other)): one.isBefore(other)
        case (.double(let one), .double(let other)): one < other
        case (.string(let one), .string(let other)): one.utf8.lexicographicallyPrecedes(other.utf8)
        case (.bytes(let one), .bytes(let other)): one.lexicographicallyPrecedes(other)
        default: rank < other.rank
        }
    }
}

extension PropertyList {
    /// Bytes that are the same for values which differ only in the order of arrays, and differ for
    /// other values.
    var bytesRegardlessOfOrder: [UInt8] { sortingBytes(sortsArrays: true) }

    /// Returns bytes that are the same for equal values and differ for others.
    fileprivate func sortingBytes(sortsArrays: Bool = false) -> [UInt8] {
        var bytes: [UInt8] = []
        appendSortingBytes(to: &bytes, sortsArrays: sortsArrays)
        return bytes
    }

    private func appendSortingBytes(to bytes: inout [UInt8], sortsArrays: Bool) {
        func append(_ number: UInt64) {
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        }
        func append(_ string: String) {
            append(UInt64(string.utf8.count))
            bytes.append(contentsOf: string.utf8)
        }
        switch self {
        case .bool(let value): bytes += [0, value ? 1 : 0]
        case .integer(let value):
            let negative = Int64(exactly: value).flatMap { $0 < 0 ? UInt64(bitPattern: $0) : nil }
            bytes += [1, negative == nil ? 1 : 0]
            append(negative ?? UInt64(exactly: value) ?? 0)
        case .double(let value):
            bytes.append(2)
            append(value.bitPattern)
        case .string(let value):
            bytes.append(3)
            append(value)
        case .data(let value):
            bytes.append(4)
            append(UInt64(value.count))
            bytes.append(contentsOf: value)
        case .date(let value):
            bytes.append(5)
            append(value.timeIntervalSinceReferenceDate.bitPattern)
        case .array(let value):
            bytes.append(6)
            append(UInt64(value.count))
            let elements = value.map { $0.sortingBytes(sortsArrays: sortsArrays) }
            bytes += (sortsArrays ? elements.sorted { $0.lexicographicallyPrecedes($1) } : elements).joined()
        case .dictionary(let value):
            bytes.append(7)
            append(UInt64(value.count))
            for (key, element) in value.map({ (key: $0.key, value: $0.value) }).sortedByBytes() {
                append(key)
                element.appendSortingBytes(to: &bytes, sortsArrays: sortsArrays)
            }
        }
    }
}
