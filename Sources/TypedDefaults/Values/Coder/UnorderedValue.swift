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
        guard case .array(let elements) = self, let type = type as? any UnorderedValue.Type else { return self }
        let groups = stride(from: 0, to: elements.count, by: type.stride).map {
            elements[$0..<min($0 + type.stride, elements.count)]
        }
        // Safe: no group is empty.
        return .array(groups.sorted { $0.first!.isBefore($1.first!) }.flatMap(\.self))
    }

    private func isBefore(_ other: PropertyList) -> Bool {
        switch (self, other) {
        case (.string(let one), .string(let other)): one.utf8.lexicographicallyPrecedes(other.utf8)
        case (.integer(let one), .integer(let other)): one.isBefore(other)
        case (.double(let one), .double(let other)): one.bitPattern < other.bitPattern
        // Any order will do that is the same as long as the process lives.
        default: hashRegardlessOfOrder < other.hashRegardlessOfOrder
        }
    }
}
