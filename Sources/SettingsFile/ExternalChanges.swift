/// The changes of other processes to a settings file, by generation.
struct ExternalChanges {
    /// The number of times that a change was detected.
    private(set) var generation: UInt64 = 1
    /// The changed keys of each generation; `nil` for all keys.
    private var entries: [(generation: UInt64, keys: [String]?)] = []
    /// The number of entries plus the number of keys in them.
    private var count = 0
    private static let limit = 4_096

    /// Starts a generation in which other processes changed the given keys; `nil` for any key.
    mutating func add(_ keys: [String]?) {
        generation &+= 1
        entries.append((generation, keys))
        count += 1 + (keys?.count ?? 0)
        // A process may never ask for the changes. Beyond the limit, any key counts as changed.
        if count > Self.limit { (entries, count) = ([(generation, nil)], 1) }
    }

    /// Removes the entries up to a generation, and returns the keys that may have changed after it;
    /// `nil` for any key.
    mutating func take(since generation: UInt64) -> [String]? {
        entries.removeAll { $0.generation <= generation }
        count = entries.reduce(0) { $0 + 1 + ($1.keys?.count ?? 0) }
        return entries.contains { $0.keys == nil } ? nil : entries.flatMap { $0.keys ?? [] }
    }
}
