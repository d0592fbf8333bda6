// How properties that are missing in what is stored get the value that they have in the default.

/// Decodes a value. As often as an entry is missing, it is added and decoding starts over.
///
/// - Parameter fill: Returns the stored tree with the entry at a path added; nil if the default has none either.
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

/// A tree whose inner nodes are dictionaries, among others.
protocol FillableTree {
    static func dictionary(_ entries: [String: Self]) -> Self

    /// The entries of a dictionary; nil for any other node.
    var entries: [String: Self]? { get }
}

extension FillableTree {
    /// The tree with one missing entry taken from another one; nil if that has none either.
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
