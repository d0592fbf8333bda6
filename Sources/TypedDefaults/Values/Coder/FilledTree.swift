// How properties that are missing in a stored value get their value from the default.

/// Decodes a value. If an entry is missing, adds it and starts over.
///
/// - Parameter fill: Returns the stored tree with the entry at a path added; `nil` if the default
///   lacks it too.
func decodeFilling<Stored, Value>(
    _ stored: Stored, decode: (Stored) throws -> Value, fill: (Stored, ArraySlice<String>) throws -> Stored?
) throws -> Value {
    var stored = stored
    while true {
        do {
            return try decode(stored)
        } catch DecodingError.keyNotFound(let key, let context) {
            let path = context.codingPath.map(\.stringValue) + [key.stringValue]
            guard let filled = try fill(stored, path[...]) else { throw DecodingError.keyNotFound(key, context) }
            stored = filled
        }
    }
}

/// A tree with dictionaries as inner nodes.
protocol FillableTree {
    static func dictionary(_ entries: [String: Self]) -> Self

    /// The entries of a dictionary; `nil` for any other node.
    var entries: [String: Self]? { get }
}

extension FillableTree {
    /// Returns the tree with one missing entry taken from another tree; `nil` if that lacks it too.
    func filled(_ path: ArraySlice<String>, from other: Self) -> Self? {
        guard let key = path.first, var entries, let value = other.entries?[key] else { return nil }
        if path.count == 1 {
            guard entries[key] == nil else { return nil }
            entries[key] = value
        } else {
            guard let inner = entries[key]?.filled(path.dropFirst(), from: value) else { return nil }
            entries[key] = inner
        }
        return .dictionary(entries)
    }
}

extension PropertyList: FillableTree {
    var entries: [String: PropertyList]? { if case .dictionary(let entries) = self { entries } else { nil } }
}
