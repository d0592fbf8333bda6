/// What other processes changed in a settings file, by generation.
struct ExternalChanges {
    /// How often others were seen to have changed something.
    private(set) var generation: UInt64 = 1
    /// The changed keys of each generation; `nil` for all keys.
    private var entries: [(generation: UInt64, keys: [String]?)] = []
    /// The number of entries and of keys in them.
    private var count = 0
    private static let limit = 4_096

    /// Begins a generation in which others have changed those keys, or any key if they are `nil`.
    mutating func add(_ keys: [String]?) {
        generation &+= 1
        entries.append((generation, keys))
        count += 1 + (keys?.count ?? 0)
        // A process need not ask for changes. Beyond the limit any key may have changed.
        if count > Self.limit { (entries, count) = ([(generation, nil)], 1) }
    }

    /// Removes what is not later than that generation, and returns the keys that may have changed after it, or `nil` if any key may.
    mutating func take(since generation: UInt64) -> [String]? {
        entries.removeAll { $0.generation <= generation }
        count = entries.reduce(0) { $0 + 1 + ($1.keys?.count ?? 0) }
        return entries.contains { $0.keys == nil } ? nil : entries.flatMap { $0.keys ?? [] }
    }
}
