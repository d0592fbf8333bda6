/// The keys of one suite in etcd: `<prefix>v/<key>` for values, and `<prefix>rev`.
struct Names: Sendable {
    /// Each commit puts a token of its own here. The revision of this key is the number of the
    /// suite.
    let rev: [UInt8]
    /// The values.
    let values: [UInt8], valuesEnd: [UInt8]

    init(prefix: String) {
        let prefix = Array(prefix.utf8)
        (rev, values, valuesEnd) = (prefix + "rev".utf8, prefix + "v/".utf8, prefix + "v0".utf8)
    }

    func value(_ key: [UInt8]) -> [UInt8] { values + key }

    /// Returns the key of a setting; `nil` for another name.
    func setting(_ name: [UInt8]) -> [UInt8]? { name.starts(with: values) ? Array(name.dropFirst(values.count)) : nil }
}

/// The values of a suite as of one revision of the cluster, and the changes since earlier ones.
///
/// It has the commits of this process as soon as the cluster has acknowledged them, before the
/// watch delivers them: a commit compares the number of the suite, so no other commit lies between
/// it and the values here.
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
    /// What this process has removed, until the watch has delivered that.
    private var removed: [Key: Int64] = [:]
    /// The watch has delivered all changes up to this revision.
    private(set) var revision: Int64 = 0
    /// The number of the suite: the revision of the last commit; 0 if there was none.
    private(set) var number: Int64 = 0
    /// The cluster that this is a copy of; a restored one has another number.
    var cluster: String?
    /// The generation of the backend. Each change of what a read returns, and each commit, begins
    /// another one, so values of one generation are consistent.
    private(set) var generation: UInt64 = 1
    private var changes: [(generation: UInt64, keys: [Key]?)] = []
    /// The generation that began with the last commit.
    private var commitGeneration: UInt64 = 1
    /// The commit of this process that is under way, and its generation once it has taken effect.
    private(set) var own: (token: [UInt8], generation: UInt64?)?

    init(names: Names) { self.names = names }

    // Following the cluster

    /// Applies events of a watch.
    ///
    /// - Returns: The keys of settings that others have changed.
    mutating func apply(_ events: [Event]) -> [Key] {
        // What others have changed, and what of that begins the next generation.
        var (changed, pending) = ([Key](), [Key]())
        var rest = events.filter { $0.revision > revision }[...]
        while let first = rest.first {
            // The events of one revision are one commit.
            let commit = rest.prefix { $0.revision == first.revision }
            rest = rest.dropFirst(commit.count)
            revision = first.revision
            let old = number
            var new: [Key] = []
            for event in commit {
                if let key = names.setting(event.name) {
                    // A commit of this process was perhaps acknowledged before.
                    guard entries[key]?.revision ?? removed[key] ?? 0 < revision else { continue }
                    let entry = event.value.map { Entry(json: $0, revision: revision) }
                    if entries[key]?.json != entry?.json { new.append(key) }
                    entries[key] = entry
                } else if event.name == names.rev, revision > number {
                    number = event.value == nil ? 0 : revision
                }
            }
            if let own, own.generation == nil, commit.contains(where: { $0.name == names.rev && $0.value == own.token })
            {
                begin(with: exchange(&pending, with: []))
                begin(with: commit.compactMap { names.setting($0.name) }, isCommit: true)
                self.own?.generation = generation
            } else {
                changed += new
                pending += new
                if number != old { begin(with: exchange(&pending, with: []), isCommit: true) }
            }
        }
        begin(with: pending)
        if !removed.isEmpty { removed = removed.filter { $0.value > revision } }
        return changed
    }

    /// Replaces everything by what the cluster holds at a revision.
    ///
    /// - Parameter isRestored: Whether the cluster was restored from a backup, so that its revision
    ///   may be an earlier one.
    /// - Returns: The keys of settings with other values.
    mutating func replace(with all: [KeyValue], at revision: Int64, isRestored: Bool = false) -> [Key] {
        guard revision >= max(self.revision, number) || isRestored else { return [] }
        let (old, oldNumber) = (entries, number)
        (entries, number, self.revision, removed) = ([:], 0, revision, [:])
        // The cluster may have lost the commit.
        if isRestored { own = nil }
        for pair in all {
            if let key = names.setting(pair.keyBytes) {
                entries[key] = Entry(json: pair.valueBytes, revision: pair.number)
            } else if pair.keyBytes == names.rev {
                number = pair.number
            }
        }
        let changed = Set(old.keys).union(entries.keys).filter { old[$0]?.json != entries[$0]?.json }
        begin(with: Array(changed), isCommit: number != oldNumber)
        return Array(changed)
    }

    /// Begins a generation if something has changed.
    private mutating func begin(with changed: [Key], isCommit: Bool = false) {
        guard !changed.isEmpty || isCommit else { return }
        beginGeneration(changed)
        if isCommit { commitGeneration = generation }
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

    /// Returns comparisons that hold as long as no machine has committed since a generation, and
    /// no other program has changed an edited key; `nil` if someone has already.
    func comparisons(edited: [Key], over generation: UInt64) -> [Comparison]? {
        guard commitGeneration <= generation, let changed = changes(since: generation) else { return nil }
        guard Set(changed).isDisjoint(with: edited) else { return nil }
        return [Comparison(key: base64(names.rev), mod_revision: "\(number)")]
            + edited.map { Comparison(key: base64(names.value($0)), mod_revision: "\(entries[$0]?.revision ?? 0)") }
    }

    mutating func beginCommit(_ token: [UInt8]) { own = (token, nil) }

    /// Ends a commit that the cluster has acknowledged.
    ///
    /// - Returns: The generation that it began; `nil` if it was read together with other changes.
    mutating func endCommit(
        _ token: [UInt8], _ edits: [(key: Key, json: [UInt8]?)], at revision: Int64
    ) -> UInt64? {
        // The cluster was perhaps restored from a backup, or the watch or a read was faster.
        guard let own, own.token == token else { return nil }
        self.own = nil
        guard own.generation == nil, revision > number else { return own.generation }
        for (key, json) in edits {
            entries[key] = json.map { Entry(json: $0, revision: revision) }
            removed[key] = json == nil ? revision : nil
        }
        number = revision
        begin(with: edits.map(\.key), isCommit: true)
        return generation
    }

    /// Ends a commit that is not known to be stored. If it is, it will count as one by others.
    ///
    /// - Returns: The generation that it began if the watch has delivered it.
    mutating func endCommit(_ token: [UInt8]) -> UInt64? {
        own?.token == token ? exchange(&own, with: nil)?.generation : nil
    }
}
