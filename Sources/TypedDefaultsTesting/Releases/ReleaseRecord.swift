import TypedDefaults

/// What the file of a release holds. Properties have the names of their paths.
struct ReleaseRecord: Codable, Equatable {
    struct Sample: Codable, Equatable {
        let name: String
        /// The property that was chosen; `nil` unless the test has found the sample itself.
        let chose: String?
        let stored: [String: PropertyList]
        /// The properties that read otherwise than for a user who never chose.
        let reads: [String: PropertyList?]
    }

    /// The lines that the release approves, each with the earlier releases whose users it concerns.
    var approved: [String: [String]] = [:]
    /// The values of properties that have no others.
    var cases: [String: [PropertyList]] = [:]
    /// The steps of migrations that the values of the release have been through.
    var history: [String]
    /// What a user reads who never chose.
    var reads: [String: PropertyList]
    /// Samples with one choice come before those with several.
    var samples: [Sample] = []
    /// The properties that no sample chooses.
    var unsampled: [String] = []

    /// Makes the record of the present release.
    init(of program: ReleasedProgram) throws {
        let start = try program.launch(with: program.settings.reduce(into: [:]) { $0[$1.name] = $1.pinned })
        (history, reads) = (start.contents.history ?? [], start.reads)
        var users: [(name: String, chose: String?, contents: SuiteContents)] = [("default", nil, start.contents)]
        var everything = start.contents
        for setting in program.settings {
            let (part, pinned) = (try setting.read(start.contents), setting.pinned?.entries)
            for (path, values, isClosed) in setting.choices(part ?? [:], part, setting.defaultValue) {
                let name = ([setting.name] + path).joined(separator: ".")
                if isClosed { cases[name] = [reads[name]].compactMap { $0 } + values }
                if values.isEmpty, pinned?[path.first ?? ""] == nil {
                    // An enum with values is one property.
                    let property = reads.keys.first { name.hasPrefix("\($0).") } ?? name
                    if !unsampled.contains(property) { unsampled.append(property) }
                }
                // The parts of a struct in a config are one choice.
                let unit = ([setting.name] + path.prefix(setting.isConfig ? 1 : 0)).joined(separator: ".")
                for value in values {
                    var contents = start.contents
                    setting.choose((part ?? [:]).replacing(path[...], by: value), in: &contents)
                    users.append(("\(program.shortName(name)) = \(value.jsonText)", program.shortName(unit), contents))
                }
                let more = (try setting.read(everything) ?? [:]).replacing(path[...], by: values.first ?? [:])
                if !values.isEmpty, setting.accepts(more) { setting.choose(more, in: &everything) }
            }
        }
        users.append(("everything", nil, everything))
        for (name, choose) in program.customSamples.sorted(by: { $0.key < $1.key }) {
            users.append((name, nil, start.contents))
            try choose(&users[users.count - 1].contents)
        }
        for (name, chose, contents) in users {
            let user = try program.launch(with: contents)
            let changed = Set(user.reads.keys).union(reads.keys).filter { user.reads[$0] != reads[$0] }
            let others = Dictionary(uniqueKeysWithValues: changed.map { ($0, user.reads[$0]) })
            samples.append(Sample(name: name, chose: chose, stored: user.contents.entries, reads: others))
            unsampled.removeAll(where: changed.contains)
        }
    }

    /// Returns whether users store and read the same in both.
    func isSame(as other: ReleaseRecord) -> Bool { samples == other.samples && reads == other.reads }

    /// Returns the user of a sample.
    func user(_ sample: Sample) -> ReleasedUser {
        var contents = sample.stored.reduce(into: [:] as SuiteContents) { $0[$1.key] = $1.value }
        contents.history = history
        return (contents, contents.properties, sample.reads.reduce(into: reads) { $0[$1.key] = $1.value })
    }
}
