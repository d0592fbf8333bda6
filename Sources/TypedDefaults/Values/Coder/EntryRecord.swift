/// Records the stored entries that no type reads.
final class EntryRecord {
    private var unknown: [[String]: (path: [String], names: Set<String>)] = [:]

    /// Records the entries of a dictionary that a type does not have. It may be the second type
    /// that reads the dictionary, such as a superclass.
    func note(_ names: some Sequence<String>, at path: [any CodingKey]) {
        let key = path.map(\.stringValue)
        let known = unknown[key]?.names
        let names = Set(names)
        unknown[key] = (path.map(\.nameInErrors), known?.intersection(names) ?? names)
    }

    /// The errors, one for each entry.
    func errors(type: Any.Type) -> [DefaultsError] {
        unknown.sorted { $0.key.lexicographicallyPrecedes($1.key) }.flatMap { _, entries in
            entries.names.sorted().map { name in
                DefaultsError(
                    .unknownEntry, type: "\(type)", path: entries.path + [name],
                    reason: "the type has no such property")
            }
        }
    }
}
