/// The stored entries that no type reads, and the faults that a list would not find otherwise.
final class FaultList {
    private var unknown: [[String]: (path: [String], names: Set<String>, areData: Bool)] = [:]
    /// The faults of parts of a value that is at fault as a whole.
    var faults: [DefaultsError] = []

    /// Forgets the entries that an attempt has found.
    func removeEntries() { unknown = [:] }

    /// Adds the entries of a dictionary that a type does not have. It may be the second type
    /// that reads the dictionary, such as a superclass.
    ///
    /// - Parameter areData: Whether the names are data, like the keys of a dictionary.
    func note(_ names: some Sequence<String>, areData: Bool = false, at path: [any CodingKey]) {
        let key = path.map(\.stringValue)
        let known = unknown[key]
        let names = Set(names)
        unknown[key] = (
            path.map(\.nameInErrors), known?.names.intersection(names) ?? names, areData || known?.areData == true
        )
    }

    /// Returns to the indices of the stored elements, some of which were left out.
    ///
    /// - Parameter indices: For each list, the indices of the elements that stay.
    func translate(_ indices: [[String]: [Int]]) {
        guard !indices.isEmpty else { return }
        for (key, entries) in unknown {
            var path = entries.path
            for place in key.indices {
                guard let kept = indices[Array(key[..<place])], let index = Int(key[place]),
                    kept.indices.contains(index)
                else { continue }
                path[place] = "\(kept[index])"
            }
            unknown[key]?.path = path
        }
    }

    /// The errors, one for each entry.
    func errors(type: Any.Type) -> [DefaultsError] {
        unknown.sorted { $0.key.lexicographicallyPrecedes($1.key) }.flatMap { _, entries in
            entries.names.sorted().map { name in
                DefaultsError(
                    .unknownEntry, type: "\(type)", path: entries.path + [entries.areData ? "*" : name],
                    reason: "the type has no such property")
            }
        }
    }
}
