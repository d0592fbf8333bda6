/// Collects the places of a tree that a value was made from.
final class ReadPlaces {
    private var paths: Set<[String]> = []

    func insert(_ path: [any CodingKey]) {
        var names = path.map(\.stringValue)
        // The values around a place count as read as well.
        while !names.isEmpty, paths.insert(names).inserted { names.removeLast() }
    }

    func contains(_ path: [String]) -> Bool { path.isEmpty || paths.contains(path) }
}
