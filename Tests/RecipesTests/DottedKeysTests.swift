import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsRecipes

/// The recipe for config classes of 2016 stored its values under keys with dots,
/// `app.AppConfig.userName`.
struct DottedKeysTests {
    private static let dotted: SuiteContents = [
        "app.AppConfig.isFirstLaunch": false, "app.AppConfig.userName": "kai",
        "app.AppConfig.selectedHobbies": ["golf", "chess"], "app.Other.size": 1,
    ]
    private static let moved: SuiteContents = [
        "app/AppConfig/isFirstLaunch": false, "app/AppConfig/userName": "kai",
        "app/AppConfig/selectedHobbies": ["golf", "chess"], "app.Other.size": 1,
    ]

    @Test(arguments: Backend.allCases)
    func theFirstInstanceMovesAllValuesInOneCommit(backend: Backend) throws {
        try backend.withSuite { suite throws in
            try suite.replaceContents(with: Self.dotted)
            let failures = Failures(of: suite)
            let commits = Heard { note in suite.observeAll { note($0.keys) } }
            for _ in 0..<2 {
                let config = AppConfig(in: suite, identifier: "app")
                #expect(
                    !config.isFirstLaunch && config.userName == "kai" && config.selectedHobbies == ["golf", "chess"])
            }
            #expect(try suite.contents() == Self.moved)
            #expect(commits.all.map(\.count) == [6])
            #expect(failures.all == [])
        }
    }

    @Test func aValueUnderTheKeyWithSlashesStays() throws {
        let suite = DefaultsSuite.inMemory([
            "app/AppConfig/userName": "newer", "app.AppConfig.userName": "older", "app.AppConfig.nickname": "k",
        ])
        let config = AppConfig(in: suite, identifier: "app")
        #expect(config.userName == "newer" && config.nickname == "k")
        #expect(try suite.keys() == ["app.AppConfig.userName", "app/AppConfig/nickname", "app/AppConfig/userName"])
    }

    @Test func aValueThatThePropertyCannotReadMovesAsItIs() throws {
        let suite = DefaultsSuite.inMemory(["app.AppConfig.userName": [1, 2]])
        let failures = Failures(of: suite)
        let config = AppConfig(in: suite, identifier: "app")
        #expect(failures.all == [])
        #expect(try suite.contents() == ["app/AppConfig/userName": [1, 2]])
        #expect(config.userName == "")
        #expect(failures.kinds == [.unreadable])
    }

    @Test func aFailureIsReportedAndTheNextInstanceTriesAgain() {
        let backend = SpyBackend(["app.AppConfig.userName": "kai"])
        let suite = DefaultsSuite(backend: backend)
        let failures = Failures(of: suite)
        backend.interrupt { [unowned backend] call in
            // From the first read on.
            if call == .value { backend.fail(with: DefaultsError(.unavailable, reason: "a test")) }
        }
        _ = AppConfig(in: suite, identifier: "app")
        #expect(failures.kinds == [.unavailable])
        #expect(backend.contents == ["app.AppConfig.userName": "kai"])
        backend.interrupt(nil)
        backend.fail(with: nil)
        #expect(AppConfig(in: suite, identifier: "app").userName == "kai")
        #expect(backend.contents == ["app/AppConfig/userName": "kai"])
        #expect(failures.kinds == [.unavailable])
    }

    @Test func differentDottedKeysGiveDifferentKeys() {
        let identifiers = ["a.b", "a/b", "a%2Fb", "a%b", "a%25b", "a..b", "a//b"]
        let keys = identifiers.flatMap { TwitterConfig(in: .inMemory(), identifier: $0).allKeys }
        #expect(Set(keys).count == keys.count)
        #expect(keys.allSatisfy { !$0.contains(".") })
    }

    final class RenamedConfig: StorableConfig {
        @Stored("app/AppConfig/userName") var name = ""
        @Stored("app/size") var size = 0
        @Stored("other/AppConfig/size") var otherSize = 0
    }

    @Test func aRenamedPropertyThatIsPinnedFindsItsDottedKey() throws {
        let suite = DefaultsSuite.inMemory(["app.AppConfig.userName": "kai", "app.size": 1, "other.AppConfig.size": 2])
        let config = RenamedConfig(in: suite, identifier: "app")
        #expect(config.name == "kai")
        #expect(config.size == 0 && config.otherSize == 0, "keys of another form")
        #expect(try suite.keys() == ["app.size", "app/AppConfig/userName", "other.AppConfig.size"])
    }
}
