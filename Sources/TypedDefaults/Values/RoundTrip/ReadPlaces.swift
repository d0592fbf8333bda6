/// Collects the places of a tree that a value was made from.
final class ReadPlaces {
    private var paths: Set<[String]> = []

    func insert(_ path: [any CodingKey]) {
        var names = path.map(\.stringValue)
        // The values around a place count as read as well.
        while !names.isEmpty, paths.insert(names).inserted { names.removeLast() }
    }

    func contains(_ path: [String]) -> Bool { path.isEmpty || paths.contains(path) }

    /// Returns the paths in a traced tree of values that were not read.
    func unread(in tree: PropertyList, at path: [String] = []) -> [[String]] {
        switch tree {
        case .array(let elements):
            elements.enumerated().flatMap { unread(in: $1, at: path + ["\($0)"]) }
        // A value with a native form is read as a whole.
        case .dictionary(let entries) where entries[RoundTripTrace.keyOfType] == nil:
            entries.filter { !RoundTripTrace.isMark($0.key) }.flatMap { key, entry in
                unread(in: entry, at: key == RoundTripTrace.keyOfContent ? path : path + [key])
            }
        default: contains(path) || tree.isNilMarker ? [] : [path]
        }
    }
}
