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
        if let config = value as? any DefaultConfig { return try PropertyList(config.serialize()) }
        var written: SuiteContents = [:]
        written[self] = value
        return written[name]
    }

    func choose(_ form: PropertyList, in contents: inout SuiteContents) {
        contents[self] = ([name: form] as SuiteContents)[self]
    }
}

extension SuiteContents {
    var entries: [String: PropertyList] { reduce(into: [:]) { $0[$1.key] = $1.value } }
    /// The stored properties by their paths.
    var properties: [String: PropertyList] { PropertyList.dictionary(entries).properties() }
}

extension PropertyList {
    var entries: [String: PropertyList]? { if case .dictionary(let entries) = self { entries } else { nil } }
    var number: Double? { (object as? Double) ?? (object as? any BinaryInteger).map { Double($0) } }

    func replacing(_ path: ArraySlice<String>, by value: PropertyList) -> PropertyList {
        guard let name = path.first else { return value }
        let part = (entries?[name] ?? [:]).replacing(path.dropFirst(), by: value)
        return .dictionary((entries ?? [:]).merging([name: part]) { $1 })
    }

    /// Returns the properties of all settings by their paths. A dictionary inside another one is a
    /// struct, unless it has the form of an enum with values.
    func properties(_ path: [String] = []) -> [String: PropertyList] {
        guard let entries, path.count < 2 || entries.count > 1 || entries.first.map({ $0.value.entries == nil }) == true
        else { return [path.joined(separator: "."): self] }
        return entries.reduce(into: [:]) { $0.merge($1.value.properties(path + [$1.key])) { $1 } }
    }
}
