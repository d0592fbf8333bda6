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
///
/// Commits of this process that the cluster has acknowledged, but the watch has not delivered, lie
/// over these values until the mirror reaches their revision. So a process reads what it has
/// written.
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
    /// The values as of `revision`.
    private(set) var entries: [Key: Entry] = [:]
    /// All changes of the suite's keys up to this revision are in `entries`.
    private(set) var revision: Int64 = 0
    /// The edits of acknowledged commits with later revisions. Contains `nil` for a removal.
    private var overlay: [Key: (entry: Entry?, revision: Int64)] = [:]
    /// The cluster that this is a copy of; a restored one has another number.
    var cluster: String?
    /// The generation of the backend. Each change of what a read returns begins another one, so
    /// values of one generation are consistent. Each commit of this process begins one of its own.
    private(set) var generation: UInt64 = 1
    private var changes: [(generation: UInt64, keys: [Key]?)] = []

    /// The keys that have changed since the current write began; `nil` outside a write.
    private var changedInWrite: Set<Key>?
    /// When the writer's key was changed last; 0 if it is missing.
    var writerRevision: Int64 = 0
    /// The commits of this process whose outcome is open, and that no read shows yet.
    private(set) var ownCommits: Set<[UInt8]> = []
    /// The last commit of this process that took effect on its own, and the generation that it
    /// began.
    private var lastOwnCommit: (id: [UInt8], generation: UInt64)?

    init(names: Names) { self.names = names }

    // Reading

    /// Returns what the cluster holds under a key, as far as this process knows.
    subscript(key: Key) -> Entry? {
        if !overlay.isEmpty, let own = overlay[key] { own.entry } else { entries[key] }
    }

    /// All keys with a value.
    var keys: [Key] {
        overlay.isEmpty ? Array(entries.keys) : Set(entries.keys).union(overlay.keys).filter { self[$0] != nil }
    }

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
            let keys = commit.compactMap { names.setting($0.name) }
            let new = change(keys, to: first.revision) { mirror in
                for event in commit {
                    guard let key = mirror.names.setting(event.name) else { continue }
                    mirror.entries[key] = event.value.map { Entry(json: $0, revision: event.revision) }
                }
            }
            let id = commit.last { $0.name == names.writer }.flatMap { apply(writer: $0) }
            if let id, ownCommits.remove(id) != nil {
                note(exchange(&pending, with: []))
                begin(id, keys)
            } else {
                changed += new
                pending += new
            }
        }
        note(pending)
        return changed
    }

    /// Returns the number of the commit of this process that changed the writer's key, if one did.
    private mutating func apply(writer event: Event) -> [UInt8]? {
        // The answer to a later commit may have come before.
        if event.revision > writerRevision { writerRevision = event.value == nil ? 0 : event.revision }
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
        let changed = change(Array(entries.keys) + new.keys, to: revision) { mirror in
            mirror.entries = new
            // The cluster may have lost these commits.
            if isRestored { (mirror.overlay, mirror.ownCommits) = ([:], []) }
        }
        note(changed)
        return changed
    }

    /// Lays the edits of an acknowledged commit over the values, until the mirror has reached its
    /// revision, unless the cluster was restored from a backup in the meantime.
    mutating func overlay(_ edits: [(key: Key, json: [UInt8]?)], of id: [UInt8], at revision: Int64) {
        guard revision > self.revision, ownCommits.contains(id) else { return }
        let keys = edits.map(\.key)
        _ = change(keys, to: self.revision) { mirror in
            for (key, json) in edits {
                mirror.overlay[key] = (json.map { Entry(json: $0, revision: revision) }, revision)
            }
        }
        begin(id, keys)
    }

    /// Changes entries and the revision.
    ///
    /// - Returns: The keys for which reads return other values.
    private mutating func change(
        _ keys: [Key], to revision: Int64, _ body: (inout EtcdMirror) -> Void
    ) -> [Key] {
        let old = Set(keys).union(overlay.keys).map { (key: $0, entry: self[$0]) }
        body(&self)
        self.revision = revision
        if !overlay.isEmpty { overlay = overlay.filter { $0.value.revision > revision } }
        var changed: [Key] = []
        for (key, old) in old {
            let new = self[key]
            if old?.revision != new?.revision { changedInWrite?.insert(key) }
            if old?.json != new?.json { changed.append(key) }
        }
        return changed
    }

    private mutating func note(_ changed: [Key]) { if !changed.isEmpty { beginGeneration(changed) } }

    /// Begins the generation of a commit of this process.
    private mutating func begin(_ id: [UInt8], _ keys: [Key]) {
        beginGeneration(keys)
        lastOwnCommit = (id, generation)
    }

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
        let keys = Set(edited).union(reads ?? self.keys)
        guard reads == nil ? changed.isEmpty : changed.isDisjoint(with: keys) else { return nil }
        // More keys than fit are compared as a range, with all other keys of the suite. This finds
        // what was changed or added. Of what was removed it finds what this library has removed,
        // because each commit changes the key of its writer.
        let (first, isRange) = (edited + keys.subtracting(edited), reads == nil || keys.count > Self.comparisonLimit)
        let single = first.prefix(Self.comparisonLimit - (isRange ? 1 : 0)).map { key in
            Comparison(key: base64(names.value(key)), mod_revision: "\(self[key]?.revision ?? 0)")
        }
        guard isRange else { return single }
        let range = Comparison(
            key: base64(names.start), range_end: base64(names.end), result: "LESS", mod_revision: "\(revision + 1)")
        return single + [range]
    }

    mutating func beginCommit(_ id: [UInt8]) { ownCommits.insert(id) }
    /// Ends a commit. If it is stored and has not taken effect yet, it will count as one by others.
    ///
    /// - Returns: The generation that it began; `nil` if it has not taken effect, or did so
    ///   together with other changes.
    @discardableResult
    mutating func endCommit(_ id: [UInt8]) -> UInt64? {
        ownCommits.remove(id)
        guard let lastOwnCommit, lastOwnCommit.id == id else { return nil }
        return lastOwnCommit.generation
    }
}
