#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A collection that encodes its elements in whatever order they have in memory, which equal ones need not have in common.
protocol UnorderedValue {
    /// How many elements of the array that it encodes belong together.
    static var stride: Int { get }
}

extension Set: UnorderedValue {
    static var stride: Int { 1 }
}

// With keys that are no strings it encodes an array of keys and values in turn.
extension Dictionary: UnorderedValue {
    static var stride: Int { 2 }
}

extension PropertyList {
    /// What a value of that type has encoded, sorted if it is unordered, so that equal values are stored as equal.
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

/// The place of an element among others: by kind first, then by value.
///
/// A total order, the same in each process: of three elements of different kinds a comparison by
/// different rules could go round in a circle, and equal sets would be stored in different orders.
private enum SortingPlace {
    case integer(PropertyList.Integer)
    case double(UInt64)
    case string(String)
    /// The bytes of any other element, made once and not at each comparison.
    case bytes([UInt8])

    init(_ element: PropertyList) {
        switch element {
        case .integer(let value): self = .integer(value)
        case .double(let value): self = .double(value.bitPattern)
        case .string(let value): self = .string(value)
        default:
            var bytes: [UInt8] = []
            element.appendSortingBytes(to: &bytes)
            self = .bytes(bytes)
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
    /// Bytes that are the same for equal values and differ for others.
    fileprivate func appendSortingBytes(to bytes: inout [UInt8]) {
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
            for element in value { element.appendSortingBytes(to: &bytes) }
        case .dictionary(let value):
            bytes.append(7)
            append(UInt64(value.count))
            for (key, element) in value.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                append(key)
                element.appendSortingBytes(to: &bytes)
            }
        }
    }
}
