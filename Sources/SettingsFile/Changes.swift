/// The changes of a settings file, by generation.
struct Changes {
    /// The number of commits of this process, and of times that a change by others was detected.
    private(set) var generation: UInt64 = 1
    /// The keys that others changed in each of the last generations, oldest first; `nil` for any
    /// key. Of earlier generations, any key counts as changed.
    private var external: [[String]?] = []
    /// The number of these generations plus the number of keys.
    private var count = 0
    private static let limit = 4_096
    /// The record of the commit of this process before these generations. Its keys are read if
    /// someone asks for them.
    private var commit: (record: [UInt8], payload: Range<Int>)?

    /// Begins a generation in which others changed the given keys; `nil` for any key.
    mutating func add(_ keys: [String]?) {
        generation &+= 1
        external.append(keys)
        count += 1 + (keys?.count ?? 0)
        // A process may never ask for the changes.
        if count > Self.limit { forget() }
    }

    /// Begins the generation of a commit of this process. The committer knew all changes before it.
    mutating func add(commit record: [UInt8], _ payload: Range<Int>) {
        generation &+= 1
        if !external.isEmpty { forget() }
        commit = (record, payload)
    }

    private mutating func forget() { (external, count, commit) = ([], 0, nil) }

    /// Drops the changes up to a generation, and returns the keys that may have changed after it;
    /// `nil` for any key.
    mutating func take(since generation: UInt64) -> [String]? {
        let missed = Int(clamping: self.generation - min(generation, self.generation))
        var keys: [String] = []
        if missed > external.count {
            guard missed == external.count + 1, let commit else { return nil }
            keys = commit.record.withUnsafeBytes { RecordFormat.keys(in: $0, commit.payload) }
        } else {
            commit = nil
            external.removeFirst(external.count - missed)
        }
        count = external.reduce(0) { $0 + 1 + ($1?.count ?? 0) }
        for changed in external {
            guard let changed else { return nil }
            keys += changed
        }
        return keys
    }
}
