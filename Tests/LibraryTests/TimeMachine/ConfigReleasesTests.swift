import Foundation
import TestSupport
import Testing
import TypedDefaults

/// The config of one release of an app.
private protocol Release: DefaultConfig {
    var theme: String { get set }
    /// Changes what users of this release choose.
    mutating func choose()
}

private typealias Entries = [String: PropertyList]

private struct Page: Codable, Sendable {
    var left: Int
    var right: Int
}

private struct Reader1: Release {
    static let key = "Reader"
    var fontSize = 12
    var theme = "paper"

    mutating func choose() { theme = "night" }
}

/// A larger font, and two new properties.
private struct Reader2: Release {
    static let key = "Reader"
    var fontSize = 14
    var theme = "paper"
    var lineSpacing = 1.25
    var page = Page(left: 20, right: 20)

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

    mutating func choose() {
        theme = "night"
        columns = 2
        voice = "Ada"
    }
}

extension Release {
    static func fill(_ suite: DefaultsSuite, _ number: Int) throws {
        let json = DefaultKey("Reader.json", default: Self(), form: .jsonData)
        var saved = Self()
        saved.theme = "day"
        try PersistentStore<Self>(in: suite.scoped("saved-\(number)/")).save(saved)
        suite.scoped("saved-\(number)/")[json] = saved
        try PersistentStore<Self>(in: suite.scoped("updated-\(number)/")).update { $0.choose() }
        try suite.scoped("updated-\(number)/").update(json) { $0.choose() }
    }
}

/// Tests that the configs which three releases of an app have saved and updated are read, and that
/// they are stored in the same form today. `ThreeReleasesTests` shows what a release makes of such
/// a form.
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

    @Test(arguments: Fixture.allCases)
    func theFixtureHoldsTheseForms(fixture: Fixture) throws {
        var expected: SuiteContents = [:]
        for index in 0..<3 {
            let (saved, updated) = ("saved-\(index + 1)/Reader", "updated-\(index + 1)/Reader")
            expected[saved] = .dictionary(Stored.saves[index])
            expected["\(saved).json"] = .data(Data(Stored.jsonSaves[index].utf8))
            expected[updated] = .dictionary(fixture.updates[index])
            expected["\(updated).json"] = .data(Data(Stored.jsonUpdates[index].utf8))
        }
        #expect(try fixture.contents() == expected)
    }

    /// Since then, a property that is nil is stored as nil.
    @Test func eachReleaseStoresTheChosenPropertiesToday() throws {
        let suite = DefaultsSuite.inMemory()
        try Reader1.fill(suite, 1)
        try Reader2.fill(suite, 2)
        try Reader3.fill(suite, 3)
        var expected = try Fixture.chosenUpdates.contents()
        if case .dictionary(let saved)? = expected["saved-3/Reader"] {
            expected["saved-3/Reader"] = .dictionary(saved.merging(["voice": "$null"]) { $1 })
        }
        let json = Stored.jsonSaves[2].dropLast() + #","voice":null}"#
        expected["saved-3/Reader.json"] = .data(Data(json.utf8))
        #expect(try suite.contents() == expected)
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
