import Foundation
import Synchronization
import Testing
import TypedDefaults
import TypedDefaultsTesting

@testable import Migrating

/// The settings that version 1 stored for a user.
let version1 = """
    {"Text": {"fontSize": 18.0, "theme": "sepia"}, "hyphenate": true, "lastBook": "Moby-Dick",
     "marginLeft": 10, "marginRight": 12, "plugin": {"of": ["another", "program"]}}
    """

struct MigratingTests {
    let suite = DefaultsSuite.inMemory()

    init() throws { try store(version1, for: "ada") }

    func store(_ json: String, for user: String) throws {
        try suite.scoped("\(user)/").replaceContents(with: SuiteContents(json: Data(json.utf8)))
    }

    @Test func version1BecomesVersion2() throws {
        let reader = try Reader(user: "ada", in: suite)
        #expect(reader.text.value == TextConfig(fontSize: 18, theme: .sepia, lineSpacing: 1.25))
        #expect(reader.page.value == PageConfig(leftMargin: 10, rightMargin: 12, hyphenates: true))
        #expect(reader.currentBook == "Moby-Dick")
        let json = try String(decoding: reader.settings.contents().json(), as: UTF8.self)
        for key in ["marginLeft", "marginRight", "\"hyphenate\""] { #expect(!json.contains(key)) }
        #expect(json.contains("plugin"), "keys of other programs stay")
        #expect(!json.contains("lineSpacing"), "the default of a new property is not stored")
    }

    @Test func theMigrationIsOneCommit() throws {
        let changes = Mutex<[Set<String>]>([])
        let inScope = suite.scoped("ada/").observeAll { change in
            changes.withLock { $0.append(Set(change.keys)) }
        }
        let inSuite = suite.observeAll { change in changes.withLock { $0.append(Set(change.keys)) } }
        _ = try Reader(user: "ada", in: suite)
        _ = try Reader(user: "ada", in: suite)
        inScope.cancel()
        inSuite.cancel()
        let keys = ["Page", "currentBook", "hyphenate", "lastBook", "marginLeft", "marginRight"]
        #expect(changes.withLock { $0 } == [Set(keys), Set(keys.map { "ada/\($0)" })])
    }

    @Test func theBookHasItsNewName() throws {
        let reader = try Reader(user: "ada", in: suite)
        #expect(try reader.settings.keys() == ["Page", "Text", "currentBook", "plugin"])
    }

    @Test func aSecondMigrationHasNothingToDo() throws {
        let reader = try Reader(user: "ada", in: suite)
        #expect(try reader.settings.migrate(.reader) == [])
    }

    @Test(.isolatedDefaults) func aScopeOfTheStandardSuiteFollowsTheStandIn() throws {
        let before = try DefaultsSuite.standard.contents()
        try DefaultsSuite.withStandard(suite) {
            let reader = try Reader(user: "ada")
            #expect(reader.page.value.leftMargin == 10)
            reader.currentBook = "Emma"
        }
        #expect(suite.scoped("ada/")[.currentBook] == "Emma")
        #expect(try DefaultsSuite.standard.contents() == before)
    }

    @Test func aSecondRunKeepsWhatTheUserChanged() throws {
        let reader = try Reader(user: "ada", in: suite)
        reader.currentBook = "Emma"
        try reader.page.update { $0.leftMargin = 3 }
        try reader.text.update { $0.lineSpacing = 2 }
        let again = try Reader(user: "ada", in: suite)
        #expect(again.currentBook == "Emma")
        #expect(again.page.value.leftMargin == 3)
        #expect(again.text.value.lineSpacing == 2)
    }

    @Test func anEmptySuiteGetsTheDefaults() throws {
        let reader = try Reader(user: "grace", in: suite)
        #expect(reader.text.value == TextConfig())
        #expect(reader.page.value == PageConfig())
        #expect(reader.page.get() == nil)
        #expect(reader.currentBook == "")
    }

    @Test func usersDoNotShareSettings() throws {
        try store(#"{"lastBook": "Emma", "marginLeft": 1}"#, for: "grace")
        let ada = try Reader(user: "ada", in: suite)
        #expect(try suite.scoped("grace/").appliedMigrations() == [], "only the settings of Ada are migrated")
        let grace = try Reader(user: "grace", in: suite)
        #expect(grace.currentBook == "Emma")
        #expect(grace.page.value == PageConfig(leftMargin: 1))
        try ada.page.update { $0.leftMargin = 99 }
        #expect(grace.page.value.leftMargin == 1)
        grace.settings.removeAll()
        #expect(ada.page.value.leftMargin == 99)
        #expect(try grace.settings.keys().isEmpty)
    }

    @Test func anUnexpectedValueLeavesVersion1() throws {
        try store(#"{"lastBook": "Emma", "marginLeft": 5, "marginRight": "wide"}"#, for: "ada")
        let before = try suite.contents()
        let error = #expect(throws: DefaultsMigrator.Failure.self) { try Reader(user: "ada", in: suite) }
        #expect(error?.migration == "2.0: one config for the page")
        #expect((error?.error as? DefaultsError)?.key == "ada/marginRight")
        #expect(try suite.contents() == before)
    }

    @Test func aWholeNumberIsReadAsADouble() throws {
        // An older program stored a whole number for a double.
        try store(#"{"Text": {"fontSize": 18}}"#, for: "ada")
        #expect(try Reader(user: "ada", in: suite).text.value.fontSize == 18)
    }
}

struct MigratingFileTests {
    @Test func aFileIsMigratedOnceByEightThreads() throws {
        let file = URL.temporaryDirectory.appending(path: "MigratingTests/\(UUID().uuidString).defaults")
        defer { try? FileManager.default.removeItem(at: file) }
        let first = try DefaultsSuite(file: file)
        let users = ["ada", "grace"]
        for user in users {
            try first.scoped("\(user)/").replaceContents(with: SuiteContents(json: Data(version1.utf8)))
        }
        let commits = Mutex(0)
        let token = first.observeAll { _ in commits.withLock { $0 += 1 } }
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            #expect(throws: Never.self) {
                let reader = try Reader(user: users[number % 2], in: DefaultsSuite(file: file))
                #expect(reader.page.value == PageConfig(leftMargin: 10, rightMargin: 12, hyphenates: true))
            }
        }
        token.cancel()
        for user in users {
            let reader = try Reader(user: user, in: DefaultsSuite(file: file))
            #expect(reader.currentBook == "Moby-Dick")
            #expect(reader.text.value.theme == .sepia)
        }
        #expect(commits.withLock { $0 } == 2, "one commit for each user")
    }
}
