import TypedDefaults

/// The settings of a program, as its present types read and write them.
struct ReleasedProgram {
    var settings: [any ReleasedSetting]
    var migrator = DefaultsMigrator()
    var customSamples: [String: (inout SuiteContents) throws -> Void] = [:]

    /// Returns a user who launches the program.
    func launch(with contents: SuiteContents) throws -> ReleasedUser {
        var contents = contents
        try migrator.migrate(&contents)
        // Throws for a value that cannot be stored.
        try DefaultsSuite.inMemory().replaceContents(with: contents)
        let reads = try settings.reduce(into: [:]) { $0[$1.name] = try $1.read(contents) }
        return (contents, contents.properties, PropertyList.dictionary(reads).properties())
    }

    /// Returns the name of a property in lines: that of the only config is left out.
    func shortName(_ path: String) -> String {
        let prefixes = settings.filter(\.isConfig).map { "\($0.name)." }
        return prefixes.count == 1 && path.hasPrefix(prefixes[0]) ? String(path.dropFirst(prefixes[0].count)) : path
    }

    /// Returns the properties that have other values in each run.
    private func randomProperties(_ record: ReleaseRecord) throws -> [String] {
        let again = try ReleaseRecord(of: self)
        let users = zip(record.samples.map { record.user($0).reads }, again.samples.map { again.user($0).reads })
        // The default of a config is the same as long as the process runs.
        let starts = settings.flatMap { setting in
            let change = setting.fixed.flatMap { setting.fixed?.changes(from: $0) }
            return change.map { PropertyList.dictionary([setting.name: $0]).properties().keys.map { $0 } } ?? []
        }
        return Set(users.flatMap { one, two in one.keys.filter { one[$0] != two[$0] } } + starts).sorted()
    }

    /// Compares the program with the records of its releases, which are files in a folder.
    ///
    /// - Returns: What to tell the developer; `nil` if the record of this release is up to date.
    func check(_ version: String, in folder: String, isRecording: Bool) throws -> String? {
        var others: [String: ReleaseRecord] = [:]
        for file in try Fixture.all(in: folder) {
            // A damaged record of this release is written again.
            let isReplaced = isRecording && file.name == version
            others[file.name] = isReplaced ? try? file.decode(ReleaseRecord.self) : try file.decode(ReleaseRecord.self)
        }
        let old = others.removeValue(forKey: version)
        var new = try ReleaseRecord(of: self)
        for (version, other) in others.sorted(by: { $0.key < $1.key }) {
            for line in ReleaseComparison(self, from: other, to: new).lines
            // An earlier release may have made the same difference for these users.
            where !others.values.contains(where: { $0.approved[line]?.contains(version) == true }) {
                new.approved[line, default: []].append(version)
            }
        }
        guard old != new else { return isRecording ? "The record of \(version) is up to date. Stop recording." : nil }
        let open = new.approved.filter { $0.value != old?.approved[$0.key] }
        var texts = ["Release \(version) \(old == nil ? "has no record" : "differs from its record"):"]
        texts += open.map { "\($0.key) (users of \($0.value.joined(separator: ", ")))" }.sorted()
        let gone = (old?.approved ?? [:]).keys.filter { new.approved[$0] == nil }
        texts += gone.map { "no longer happens: \($0)" }.sorted()
        let random = try randomProperties(new)
        texts += random.map { "\($0) differs in each run, and no fixed value was found: give it a fixed default." }
        if let old {
            let lines = old.isSame(as: new) ? [] : ReleaseComparison(self, from: old, to: new).lines
            texts += lines.map { "since its record: \($0)" }.sorted()
            let parts = try PropertyList(encoding: new).changes(from: PropertyList(encoding: old))?.entries?.keys
                .sorted()
            if texts.count == 1, let parts {
                texts.append("No user notices this: other \(parts.joined(separator: ", ")).")
            }
            let isOther = Set(old.reads.keys).isDisjoint(with: new.reads.keys)
            let next = "If \(version) has been released, its record must not change: pass the next version."
            let other = "If another test records other settings here, pass `named:` to both."
            if random.isEmpty, !old.isSame(as: new) { texts.append(isOther ? other : next) }
        }
        if texts.count > 1, random.isEmpty {
            texts.append("Usual cures: a step of the migrator, a wider type or rule, an optional.")
        }
        texts += new.unsampled.map {
            "No sample chooses \($0): pass `samples`, or make an enum without associated values CaseIterable."
        }
        let idle = new.samples.filter { customSamples[$0.name] != nil && $0.reads.isEmpty }
        texts += idle.map { "The sample “\($0.name)” changes nothing that these settings read." }
        let file = Fixture(path: "\(folder)/\(version).json")
        if isRecording { try file.write(PropertyList(encoding: new).json(isPretty: true) + "\n".utf8) }
        let next = isRecording ? "Review and commit" : "To approve, run it once with `record: true`, and commit"
        return (texts + ["\(next) \(file.path)"]).joined(separator: "\n")
    }
}

/// A user of a release: the properties that are stored and those that the program reads, by their
/// paths.
typealias ReleasedUser = (contents: SuiteContents, stored: [String: PropertyList], reads: [String: PropertyList])

/// A setting of any type.
protocol ReleasedSetting {
    var name: String { get }
    associatedtype Value
    var defaultValue: Value { get }
    func faults(in form: PropertyList) -> [DefaultsError]
    /// Returns the form of the value that is read; `nil` for a missing optional.
    func read(_ contents: SuiteContents) throws -> PropertyList?
    /// Stores the value of a form as an assignment of the program does.
    func choose(_ form: PropertyList, in contents: inout SuiteContents)
}

extension DefaultKey: ReleasedSetting {
    func read(_ contents: SuiteContents) throws -> PropertyList? {
        let value = contents[self]
        // Assigning a config would store only what differs from its default.
        if let config = value as? any DefaultConfig { return try PropertyList(config.serialize()).withoutNil }
        var written: SuiteContents = [:]
        written[self] = value
        return written[name]?.withoutNil
    }

    func choose(_ form: PropertyList, in contents: inout SuiteContents) {
        contents[self] = ([name: form] as SuiteContents)[self]
    }
}

extension SuiteContents {
    var entries: [String: PropertyList] { reduce(into: [:]) { $0[$1.key] = $1.value } }
    /// The stored properties by their paths.
    var properties: [String: PropertyList] { PropertyList.dictionary(entries).withoutNil.properties() }
}

extension PropertyList {
    var number: Double? { (object as? Double) ?? (object as? any BinaryInteger).map { Double($0) } }

    /// This form without the properties that are nil.
    var withoutNil: PropertyList {
        switch self {
        case .array(let elements): .array(elements.map(\.withoutNil))
        case .dictionary(let entries): .dictionary(entries.filter { $0.value != "$null" }.mapValues(\.withoutNil))
        default: self
        }
    }

    func replacing(_ path: ArraySlice<String>, by value: PropertyList) -> PropertyList {
        guard let name = path.first else { return value }
        let part = (entries?[name] ?? [:]).replacing(path.dropFirst(), by: value)
        return .dictionary((entries ?? [:]).merging([name: part]) { $1 })
    }

    /// Returns the entries that differ from those of another form, at the greatest depth.
    func changes(from other: PropertyList) -> PropertyList? {
        guard self != other else { return nil }
        guard let entries, let others = other.entries, entries.keys == others.keys else { return self }
        return .dictionary(entries.reduce(into: [:]) { $0[$1.key] = $1.value.changes(from: others[$1.key] ?? [:]) })
    }

    /// Returns the properties of all settings by their paths. A dictionary inside another one is a
    /// struct, unless it has the form of an enum with values.
    func properties(_ path: [String] = []) -> [String: PropertyList] {
        guard let entries, path.count < 2 || entries.count > 1 || entries.first.map({ $0.value.entries == nil }) == true
        else { return [path.joined(separator: "."): self] }
        return entries.reduce(into: [:]) { $0.merge($1.value.properties(path + [$1.key])) { $1 } }
    }
}
