import TestSupport
import Testing
import TypedDefaults

struct RenamingTests {
    private let quality = DefaultKey("quality", default: 0.8)

    @Test(arguments: Backend.allCases)
    func aRenameMovesTheValueAsItIsStoredInOneCommit(backend: Backend) throws {
        let values: [PropertyList] = [0.5, 2.0, "e\u{301}", ["b": [1, "two"], "a": [:]]]
        for value in values {
            try backend.withSuite { suite throws in
                try suite.update { ($0["q"], $0["other"]) = (value, 1) }
                let failures = Failures(of: suite)
                let commits = Heard { note in suite.observeAll { note($0.keys) } }
                for _ in 0..<2 { try suite.update { $0.rename("q", to: "quality") } }
                #expect(try suite.contents() == ["quality": value, "other": 1])
                #expect(commits.all == [["q", "quality"]])
                #expect(failures.all == [])
            }
        }
    }

    @Test func withoutAValueARenameDoesNothing() throws {
        let backend = SpyBackend(["other": 1])
        try DefaultsSuite(backend: backend).update { contents in
            contents.rename("q", to: "quality")
            contents.rename("other", to: "other")
            contents.rename(prefix: "x", to: "y")
        }
        #expect(backend.commits.isEmpty)
    }

    @Test(arguments: Backend.allCases) func ofTwoValuesTheNewOneStaysAndTheOldOneIsCopied(backend: Backend) throws {
        try backend.withSuite { suite throws in
            try suite.update { ($0["q"], $0["quality"]) = (0.5, 0.6) }
            let failures = Failures(of: suite)
            try suite.update { $0.rename("q", to: "quality") }
            #expect(suite[quality] == 0.6)
            #expect(try suite.contents() == ["quality": 0.6, "q.unreadable": 0.5])
            #expect(failures.kinds == [.conflict])
            #expect(failures.all.first?.key == "q")
            #expect(
                failures.all.first?.reason
                    == "“quality” keeps its own value; the old value is kept under “q.unreadable”")
        }
    }

    /// As if a step on `UserDefaults` had been interrupted and ran again.
    @Test func anEqualValueNeedsNoCopy() throws {
        let suite = DefaultsSuite.inMemory(["q": 0.5, "quality": 0.5])
        let failures = Failures(of: suite)
        try suite.update { $0.rename("q", to: "quality") }
        #expect(try suite.contents() == ["quality": 0.5])
        #expect(failures.all == [])
    }

    @Test func aPrefixIsReplacedInAllKeys() throws {
        var contents: SuiteContents = [
            "app/AppSettings/userName": "ada", "app/AppSettings/launches": 7, "app/AppSettings": 1, "é/x": 2,
        ]
        contents.rename(prefix: "app/AppSettings/", to: "app/Preferences/")
        #expect(
            contents == [
                "app/Preferences/userName": "ada", "app/Preferences/launches": 7, "app/AppSettings": 1, "é/x": 2,
            ])
        contents = ["app/AppSettings/userName": "ada"]
        contents.rename(prefix: "app/AppSettings/", to: "app/Preferences/")
        contents.rename("app/Preferences/userName", to: "app/Preferences/name")
        #expect(contents == ["app/Preferences/name": "ada"])
    }

    /// A new name may begin with the old prefix, and may be the old name of another key.
    @Test func namesThatOverlapDoNotMeet() {
        var contents: SuiteContents = ["a": 1, "aa": 2, "aaa": 3, "b": 4]
        contents.rename(prefix: "a", to: "aa")
        #expect(contents == ["aa": 1, "aaa": 2, "aaaa": 3, "b": 4])
        contents.rename(prefix: "aa", to: "a")
        #expect(contents == ["a": 1, "aa": 2, "aaa": 3, "b": 4])
    }

    @Test func theRecordOfTheMigrationsKeepsItsKey() throws {
        var migrator = DefaultsMigrator()
        migrator.register("1") { _ in }
        migrator.register("2") { $0.rename(prefix: "", to: "camera/") }
        let suite = DefaultsSuite.inMemory(["quality": 0.5])
        try suite.migrate(migrator)
        #expect(try suite.keys() == ["camera/quality"])
        #expect(try suite.migrate(migrator) == [])
    }

    @Test func aValueThatTheBackendCannotReadIsNotRenamed() throws {
        let place = KeyByKeyBackend(["a.x": 1], unreadableKeys: ["a.newer"])
        let suite = DefaultsSuite(backend: place)
        #expect(fails(with: .unreadable) { try suite.update { $0.rename("a.newer", to: "b") } })
        #expect(fails(with: .unreadable) { try suite.update { $0.rename(prefix: "a.", to: "b.") } })
        #expect(place.contents == ["a.x": 1])
    }
}
