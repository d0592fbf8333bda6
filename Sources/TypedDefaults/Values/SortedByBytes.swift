// The order of the UTF-8 bytes, which is the same for each Unicode version and in each process.

extension [String] {
    func sortedByBytes() -> [String] { sorted(by: arePreceding) }
}

extension Sequence<(key: String, value: PropertyList)> {
    package func sortedByBytes() -> [Element] { sorted { arePreceding($0.key, $1.key) } }
}

private func arePreceding(_ one: String, _ other: String) -> Bool { one.utf8.lexicographicallyPrecedes(other.utf8) }
