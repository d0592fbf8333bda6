/// The changes of a settings file, by generation.
struct Changes {
    private enum Change {
        case keys([String])
        /// A commit of this process. Its keys are read if someone asks for them.
        case commit(record: [UInt8], payload: Range<Int>)
        /// Any key may have changed.
        case any
    }

    /// The number of commits of this process, and of times that a change by others was detected.
    private(set) var generation: UInt64 = 1
    /// The changes of the last generations, oldest first. Of earlier ones, any key counts as
    /// changed.
    private var last: [Change] = []
    /// The number of changes plus the number of keys in them.
    private var count = 0
    private static let limit = 4_096

    /// Begins a generation in which the given keys changed; `nil` for any key.
    mutating func add(_ keys: [String]?) {
        append(keys.map(Change.keys) ?? .any, keyCount: keys?.count ?? 0)
    }

    /// Begins the generation of a commit of this process. The committer knew all changes before it.
    mutating func add(commit record: [UInt8], _ payload: Range<Int>) {
        last.removeAll(keepingCapacity: true)
        count = 0
        append(.commit(record: record, payload: payload), keyCount: 0)
    }

    private mutating func append(_ change: Change, keyCount: Int) {
        generation &+= 1
        count += 1 + keyCount
        // A process may never ask for the changes.
        if count > Self.limit { (last, count) = ([], 0) } else { last.append(change) }
    }

    /// Drops the changes up to a generation, and returns the keys that may have changed after it;
    /// `nil` for any key.
    mutating func take(since generation: UInt64) -> [String]? {
        let missed = Int(clamping: self.generation - min(generation, self.generation))
        guard missed <= last.count else { return nil }
        last.removeFirst(last.count - missed)
        count = last.count
        var keys: [String] = []
        for change in last {
            switch change {
            case .any: return nil
            case .keys(let changed):
                keys += changed
                count += changed.count
            case .commit(let record, let payload):
                record.withUnsafeBytes { bytes in
                    _ = RecordFormat.forEachEdit(in: bytes, payload) { key, _ in
                        keys.append(String(decoding: bytes[key], as: UTF8.self))
                        return true
                    }
                }
            }
        }
        return keys
    }
}
