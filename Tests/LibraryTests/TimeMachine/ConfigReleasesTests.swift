import Foundation
import TestSupport
import Testing
import TypedDefaults

/// The config of one release of an app.
private protocol Release: DefaultConfig {
    /// What this release stores if it saves the value.
    var entries: Entries { get }
    var fontSize: Int { get set }
    var theme: String { get set }
    /// Changes what users of this release choose.
    mutating func choose()
}

private typealias Entries = [String: PropertyList]

private struct Page: Codable, Sendable {
    var left: Int
    var right: Int
    var entries: PropertyList { ["left": .integer(Int64(left)), "right": .integer(Int64(right))] }
}

private struct Reader1: Release {
    static let key = "Reader"
    var fontSize = 12
    var theme = "paper"

    var entries: Entries { ["fontSize": .integer(Int64(fontSize)), "theme": .string(theme)] }
    mutating func choose() { theme = "night" }
}

/// A larger font, and two new properties.
private struct Reader2: Release {
    static let key = "Reader"
    var fontSize = 14
    var theme = "paper"
    var lineSpacing = 1.25
    var page = Page(left: 20, right: 20)

    var entries: Entries {
        [
            "fontSize": .integer(Int64(fontSize)), "theme": .string(theme), "lineSpacing": .double(lineSpacing),
            "page": page.entries,
        ]
    }
    mutating func choose() {
        theme = "night"
        page.left = 5
    }
}

/// Another theme, spacing and page, and two more properties.
private struct Reader3: Release {
    static let key = "Reader"
    var fontSize = 14
    var theme = "sepia"
    var lineSpacing = 1.5
    var page = Page(left: 30, right: 30)
    var columns = 1
    var voice: String?

    var entries: Entries {
        var entries: Entries = [
            "fontSize": .integer(Int64(fontSize)), "theme": .string(theme), "lineSpacing": .double(lineSpacing),
            "page": page.entries, "columns": .integer(Int64(columns)),
        ]
        entries["voice"] = voice.map(PropertyList.string)
        return entries
    }
    mutating func choose() {
        theme = "night"
        columns = 2
        voice = "Ada"
    }
}

extension Release {
    static var json: DefaultKey<Self> { DefaultKey("Reader.json", default: Self(), form: .jsonData) }

    static func fill(_ suite: DefaultsSuite, _ number: Int) throws {
        var saved = Self()
        saved.theme = "day"
        try PersistentStore<Self>(in: suite.scoped("saved-\(number)/")).save(saved)
        suite.scoped("saved-\(number)/")[json] = saved
        try PersistentStore<Self>(in: suite.scoped("updated-\(number)/")).update { $0.choose() }
        try suite.scoped("updated-\(number)/").update(json) { $0.choose() }
    }
}

/// Tests what three releases of an app read from the configs that each of them saved and updated.
///
/// Two settings files hold these configs. The library wrote the first one when `update` still
/// stored all properties, and the second one when it began to store the chosen ones only.
struct ConfigReleasesTests {
    enum Fixture: String, CaseIterable, Sendable {
        case wholeUpdates = "config-whole-updates"
        case chosenUpdates = "config-chosen-updates"

        fileprivate func contents() throws -> SuiteContents {
            let file = try makeFile()
            defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
            try FileManager.default.copyItem(
                at: Fixtures.folder.appending(path: "\(rawValue).defaults"), to: file)
            return try DefaultsSuite(file: file).contents()
        }

        fileprivate var updates: [Entries] { self == .wholeUpdates ? Stored.wholeUpdates : Stored.chosenUpdates }
    }

    /// A config in a fixture.
    struct Config: CustomTestStringConvertible, Sendable {
        let fixture: Fixture
        let scope: String
        fileprivate let entries: Entries
        fileprivate let json: String
        var testDescription: String { "\(scope) in \(fixture)" }
    }

    private static let releases: [any Release.Type] = [Reader1.self, Reader2.self, Reader3.self]

    private static let configs = Fixture.allCases.flatMap { fixture in
        (0..<3).flatMap { index in
            [
                Config(
                    fixture: fixture, scope: "saved-\(index + 1)/", entries: Stored.saves[index],
                    json: Stored.jsonSaves[index]),
                Config(
                    fixture: fixture, scope: "updated-\(index + 1)/", entries: fixture.updates[index],
                    json: Stored.jsonUpdates[index]),
            ]
        }
    }

    @Test(arguments: Fixture.allCases)
    func theFixtureHoldsTheseForms(fixture: Fixture) throws {
        var expected: SuiteContents = [:]
        for config in Self.configs where config.fixture == fixture {
            expected[config.scope + "Reader"] = .dictionary(config.entries)
            expected[config.scope + "Reader.json"] = .data(Data(config.json.utf8))
        }
        #expect(try fixture.contents() == expected)
    }

    @Test func eachReleaseStoresTheChosenPropertiesToday() throws {
        let suite = DefaultsSuite.inMemory()
        for (index, release) in Self.releases.enumerated() { try release.fill(suite, index + 1) }
        #expect(try suite.contents() == Fixture.chosenUpdates.contents())
    }

    @Test func propertiesThatWereNotChosenReadAsTheDefaultsOfTheRelease() throws {
        let updated = try Self.read("updated-1/", in: .chosenUpdates)
        #expect(updated[0] == ["fontSize": 12, "theme": "night"])
        #expect(
            updated[1] == [
                "fontSize": 14, "theme": "night", "lineSpacing": 1.25, "page": ["left": 20, "right": 20],
            ])
        #expect(
            updated[2] == [
                "fontSize": 14, "theme": "night", "lineSpacing": 1.5, "page": ["left": 30, "right": 30], "columns": 1,
            ])
        // The page is one choice, and the spacing is none.
        let newer = try Self.read("updated-2/", in: .chosenUpdates)[2]
        #expect(newer["page"] == ["left": 5, "right": 20])
        #expect(newer["lineSpacing"] == 1.5)
        // A downgrade: what release 3 chose, with the default of release 1.
        #expect(try Self.read("updated-3/", in: .chosenUpdates)[0] == ["fontSize": 12, "theme": "night"])
        #expect(try Self.read("updated-3/", in: .wholeUpdates)[0] == ["fontSize": 14, "theme": "night"])
    }

    @Test(arguments: configs, Backend.allCases)
    func eachReleaseReadsUpdatesAndSavesTheConfig(config: Config, backend: Backend) throws {
        for writer in Self.releases {
            var place = Place(backend: backend, scope: config.scope, contents: try config.fixture.contents())
            var stored = config.entries
            try place.expect(stored, "stored")
            try place.run { try writer.update($0, fontSize: 9) }
            stored["fontSize"] = 9
            try place.expect(stored, "updated by \(writer)")
            // A save stores all properties of its release, and keeps those of other ones.
            try place.run { try writer.save($0, theme: "dusk") }
            stored.merge(writer.reading(stored)) { $1 }
            stored["theme"] = "dusk"
            try place.expect(stored, "saved by \(writer)")
        }
    }

    @Test(arguments: configs, Backend.allCases)
    func eachReleaseReplacesJSONAsAWhole(config: Config, backend: Backend) throws {
        for writer in Self.releases {
            var place = Place(backend: backend, scope: config.scope, contents: try config.fixture.contents())
            let parsed = try SuiteContents(json: Data(config.json.utf8))
            var stored = Entries(parsed.map { ($0.key, $0.value) }) { $1 }
            try place.expectJSON(stored, "stored")
            let losesEntries = !Set(stored.keys).isSubset(of: writer.reading(stored).keys)
            try place.run(failures: losesEntries ? 1 : 0) { try writer.updateJSON($0, fontSize: 9) }
            let copy = place.contents[config.scope + "Reader.json.unreadable"]
            #expect(copy == (losesEntries ? .data(Data(config.json.utf8)) : nil))
            stored = writer.reading(stored)
            stored["fontSize"] = 9
            try place.expectJSON(stored, "updated by \(writer)")
        }
    }

    private static func read(_ scope: String, in fixture: Fixture) throws -> [Entries] {
        var place = Place(backend: .memory, scope: scope, contents: try fixture.contents())
        return try releases.map { release in try place.run(release.read) }
    }

    /// The settings of one scope, which one release after another uses.
    private struct Place {
        let backend: Backend
        let scope: String
        var contents: SuiteContents

        /// Runs `body` with a suite of its own, as a new process has.
        mutating func run<Result>(
            failures count: Int = 0, _ body: (DefaultsSuite) throws -> Result
        ) throws -> Result {
            try backend.withSuite { suite in
                let failures = Failures(of: suite)
                try suite.replaceContents(with: contents)
                let result = try body(suite.scoped(scope))
                #expect(failures.all.count == count, "\(failures.all)")
                contents = try suite.contents()
                return result
            }
        }

        mutating func expect(_ stored: Entries, _ comment: String) throws {
            #expect(contents[scope + "Reader"] == .dictionary(stored), "\(comment)")
            for release in releases {
                #expect(try run(release.read) == release.reading(stored), "\(comment), read by \(release)")
            }
        }

        mutating func expectJSON(_ stored: Entries, _ comment: String) throws {
            for release in releases {
                #expect(try run(release.readJSON) == release.reading(stored), "\(comment), read by \(release)")
            }
        }
    }
}

extension Release {
    fileprivate static func read(_ suite: DefaultsSuite) -> Entries { PersistentStore<Self>(in: suite).value.entries }
    fileprivate static func readJSON(_ suite: DefaultsSuite) -> Entries { suite[json].entries }

    fileprivate static func update(_ suite: DefaultsSuite, fontSize: Int) throws {
        try PersistentStore<Self>(in: suite).update { $0.fontSize = fontSize }
    }
    fileprivate static func updateJSON(_ suite: DefaultsSuite, fontSize: Int) throws {
        try suite.update(json) { $0.fontSize = fontSize }
    }
    fileprivate static func save(_ suite: DefaultsSuite, theme: String) throws {
        let store = PersistentStore<Self>(in: suite)
        var value = store.value
        value.theme = theme
        try store.save(value)
    }

    /// What the documentation says that this release reads, without a line of the library.
    fileprivate static func reading(_ stored: Entries) -> Entries {
        let known = Self().entries.keys + (Self.self == Reader3.self ? ["voice"] : [])
        return Self().entries.merging(stored.filter { known.contains($0.key) }) { $1 }
    }
}

/// The entries of the fixtures, by release.
private enum Stored {
    static let saves: [Entries] = [
        ["fontSize": 12, "theme": "day"],
        ["fontSize": 14, "theme": "day", "lineSpacing": 1.25, "page": ["left": 20, "right": 20]],
        ["fontSize": 14, "theme": "day", "lineSpacing": 1.5, "page": ["left": 30, "right": 30], "columns": 1],
    ]
    static let wholeUpdates: [Entries] = [
        ["fontSize": 12, "theme": "night"],
        ["fontSize": 14, "theme": "night", "lineSpacing": 1.25, "page": ["left": 5, "right": 20]],
        [
            "fontSize": 14, "theme": "night", "lineSpacing": 1.5, "page": ["left": 30, "right": 30], "columns": 2,
            "voice": "Ada",
        ],
    ]
    static let chosenUpdates: [Entries] = [
        ["theme": "night"],
        ["theme": "night", "page": ["left": 5, "right": 20]],
        ["theme": "night", "columns": 2, "voice": "Ada"],
    ]
    static let jsonSaves = [
        #"{"fontSize":12,"theme":"day"}"#,
        #"{"fontSize":14,"lineSpacing":1.25,"page":{"left":20,"right":20},"theme":"day"}"#,
        #"{"columns":1,"fontSize":14,"lineSpacing":1.5,"page":{"left":30,"right":30},"theme":"day"}"#,
    ]
    static let jsonUpdates = [
        #"{"fontSize":12,"theme":"night"}"#,
        #"{"fontSize":14,"lineSpacing":1.25,"page":{"left":5,"right":20},"theme":"night"}"#,
        #"{"columns":2,"fontSize":14,"lineSpacing":1.5,"page":{"left":30,"right":30},"theme":"night","voice":"Ada"}"#,
    ]
}
