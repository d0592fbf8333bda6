/// The keys of one suite in etcd: `<prefix>v/<key>` for values, `<prefix>w/<writer>` for writers.
struct Names: Sendable {
    /// All of them, for the watch and for comparisons.
    let start: [UInt8], end: [UInt8]
    /// The values.
    let values: [UInt8], valuesEnd: [UInt8]
    /// The key of this writer.
    let writer: [UInt8]

    init(prefix: String, writer: String) {
        let prefix = Array(prefix.utf8)
        (start, end) = (prefix + "v/".utf8, prefix + "x".utf8)
        (values, valuesEnd) = (start, prefix + "v0".utf8)
        self.writer = prefix + "w/\(writer)".utf8
    }

    func value(_ key: [UInt8]) -> [UInt8] { values + key }

    /// Returns the key of a setting; `nil` for a writer's key.
    func setting(_ name: [UInt8]) -> [UInt8]? { name.starts(with: values) ? Array(name.dropFirst(values.count)) : nil }
}

/// The values of a suite as of one revision of the cluster, and the changes since earlier ones.
struct EtcdMirror {
    /// The bytes of a key, because Swift compares text by its Unicode form.
    typealias Key = [UInt8]

    struct Entry {
        var json: [UInt8]
        /// The revision that changed the key last.
        var revision: Int64
    }
    struct Event {
        var name: [UInt8]
        /// `nil` if the key was removed.
        var value: [UInt8]?
        var revision: Int64
    }

    let names: Names
    private(set) var entries: [Key: Entry] = [:]
    /// All changes of the suite's keys up to this revision are in `entries`.
    private(set) var revision: Int64 = 0
    /// The cluster that this is a copy of; a restored one has another number.
    var cluster: String?
    /// The generation of the backend. Each commit of its own begins one.
    private(set) var generation: UInt64 = 1
    private var changes: [(generation: UInt64, keys: [Key]?)] = []

    /// The keys that have changed since the current write began; `nil` outside a write.
    private var changedInWrite: Set<Key>?
    /// When the writer's key was changed last; 0 if it is missing.
    var writerRevision: Int64 = 0
    /// The commits of this process that are not in `entries` yet.
    private(set) var ownCommits: Set<[UInt8]> = []
    /// The last commit of this process that is in `entries`, and the generation that it began.
    private var lastOwnCommit: (id: [UInt8], generation: UInt64)?

    init(names: Names) { self.names = names }

    // Following the cluster

    /// Applies events of a watch.
    ///
    /// - Returns: The keys of settings that others have changed.
    mutating func apply(_ events: [Event]) -> [Key] {
        let events = events.filter { $0.revision > revision }
        // What others have changed, and what of that begins the next generation.
        var (changed, pending) = ([Key](), [Key]())
        var rest = events[...]
        while let first = rest.first {
            // The events of one revision are one commit.
            let commit = rest.prefix { $0.revision == first.revision }
            rest = rest.dropFirst(commit.count)
            let id = commit.first { $0.name == names.writer }.flatMap { apply(writer: $0) }
            let isOwn = id.map { ownCommits.remove($0) != nil } ?? false
            if isOwn { note(exchange(&pending, with: [])) }
            var keys: [Key] = []
            for event in commit {
                guard let key = names.setting(event.name) else { continue }
                let old = entries[key]
                entries[key] = event.value.map { Entry(json: $0, revision: event.revision) }
                changedInWrite?.insert(key)
                if isOwn || old?.json != event.value { keys.append(key) }
            }
            revision = first.revision
            if isOwn {
                beginGeneration(keys)
            } else {
                changed += keys
                pending += keys
            }
            if let id { lastOwnCommit = (id, generation) }
        }
        note(pending)
        return changed
    }

    /// Returns the number of the commit of this process that changed the writer's key, if one did.
    private mutating func apply(writer event: Event) -> [UInt8]? {
        writerRevision = event.value == nil ? 0 : event.revision
        return event.value
    }

    /// Replaces everything by what the cluster holds at a revision.
    ///
    /// - Parameter isRestored: Whether the cluster was restored from a backup, so that its revision
    ///   may be an earlier one.
    /// - Returns: The keys of settings with other values.
    mutating func replace(with all: [KeyValue], at revision: Int64, isRestored: Bool = false) -> [Key] {
        guard revision >= self.revision || isRestored else { return [] }
        var new: [Key: Entry] = [:]
        for pair in all {
            guard let key = names.setting(pair.keyBytes) else { continue }
            new[key] = Entry(json: pair.valueBytes, revision: pair.number)
        }
        var changed: [Key] = []
        for key in Set(entries.keys).union(new.keys) {
            let (old, new) = (entries[key], new[key])
            if old?.revision != new?.revision { changedInWrite?.insert(key) }
            if old?.json != new?.json { changed.append(key) }
        }
        (entries, self.revision) = (new, revision)
        note(changed)
        return changed
    }

    private mutating func note(_ changed: [Key]) { if !changed.isEmpty { beginGeneration(changed) } }

    /// - Parameter keys: The keys that have changed; `nil` if reading starts or stops to fail.
    mutating func beginGeneration(_ keys: [Key]?) {
        generation += 1
        changes.append((generation, keys))
        if changes.count > 1_000 { changes.removeFirst(500) }
    }

    /// Returns the keys that have changed since a generation; `nil` for all.
    func changes(since generation: UInt64) -> [Key]? {
        guard generation < self.generation else { return [] }
        guard let first = changes.first, first.generation <= generation + 1 else { return nil }
        var keys: Set<Key> = []
        for change in changes.reversed().prefix(while: { $0.generation > generation }) {
            guard let changed = change.keys else { return nil }
            keys.formUnion(changed)
        }
        return Array(keys)
    }

    // Writing

    mutating func beginWrite() { changedInWrite = [] }
    mutating func endWrite() { changedInWrite = nil }

    /// The comparisons that one transaction has room for beside that of the writer's key.
    static let comparisonLimit = 127

    /// Returns comparisons that hold as long as nothing has changed that a commit depends on; `nil`
    /// if something has changed already.
    ///
    /// - Parameters:
    ///   - edited: The keys of the edits.
    ///   - reads: The other keys that the commit depends on; `nil` for all.
    func comparisons(edited: [Key], reads: [Key]?) -> [Comparison]? {
        let changed = changedInWrite ?? []
        let keys = Set(edited).union(reads ?? Array(entries.keys))
        guard reads == nil ? changed.isEmpty : changed.isDisjoint(with: keys) else { return nil }
        // More keys than fit are compared as a range, with all other keys of the suite. This finds
        // what was changed or added. Of what was removed it finds what this library has removed,
        // because each commit changes the key of its writer.
        let (first, isRange) = (edited + keys.subtracting(edited), reads == nil || keys.count > Self.comparisonLimit)
        let single = first.prefix(Self.comparisonLimit - (isRange ? 1 : 0)).map { key in
            Comparison(key: base64(names.value(key)), mod_revision: "\(entries[key]?.revision ?? 0)")
        }
        guard isRange else { return single }
        let range = Comparison(
            key: base64(names.start), range_end: base64(names.end), result: "LESS", mod_revision: "\(revision + 1)")
        return single + [range]
    }

    mutating func beginCommit(_ id: [UInt8]) { ownCommits.insert(id) }
    /// Ends a commit. If it is stored and not in `entries` yet, it will count as one by others.
    ///
    /// - Returns: The generation that it began; `nil` if it is not in `entries`, or if it got there
    ///   together with other changes.
    @discardableResult
    mutating func endCommit(_ id: [UInt8]) -> UInt64? {
        ownCommits.remove(id)
        guard let lastOwnCommit, lastOwnCommit.id == id else { return nil }
        return lastOwnCommit.generation
    }
}
