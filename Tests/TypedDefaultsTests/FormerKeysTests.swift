import Foundation
import Testing
import TypedDefaults

/// Keys that were derived with dots, `app.AppConfig.userName`, are read until the first write moves them.
struct FormerKeysTests {
    private let dottedName = DefaultKey("app.AppConfig.userName", default: "")
    private let name = DefaultKey("app/AppConfig/userName", default: "")

    @Test(arguments: Backend.allCases)
    func aValueUnderTheFormerKeyIsReadAndNothingIsWritten(backend: Backend) throws {
        try backend.withSuite { suite throws in
            suite[dottedName] = "kai"
            let config = AppConfig(suite: suite, identifier: "app")
            #expect(config.userName == "kai")
            #expect(config.$userName.isSet)
            #expect(try suite.keys() == ["app.AppConfig.userName"])
        }
    }

    @Test(arguments: Backend.allCases)
    func theFirstWriteMovesTheValueInOneChange(backend: Backend) throws {
        try backend.withSuite { suite throws in
            suite[dottedName] = "kai"
            let config = AppConfig(suite: suite, identifier: "app")
            let heard = Guarded<[[String]]>([])
            let token = suite.observe(prefix: "") { change in
                heard.withLock { $0.append(change.keys.sorted()) }
            }
            try config.$userName.update { $0 += "!" }
            heard.wait { !$0.isEmpty }
            token.cancel()
            #expect(heard.withLock { $0 } == [["app.AppConfig.userName", "app/AppConfig/userName"]])
            #expect(config.userName == "kai!")
            #expect(try suite.keys() == ["app/AppConfig/userName"])
        }
    }

    @Test func aWriteOfTheSameValueMovesItToo() throws {
        let suite = DefaultsSuite.inMemory(["app.AppConfig.userName": "kai"])
        let config = AppConfig(suite: suite, identifier: "app")
        let heard = Guarded(0)
        let token = config.$userName.observe { _ in heard.withLock { $0 += 1 } }
        config.userName = "kai"
        token.cancel()
        #expect(heard.withLock { $0 } == 0, "the value is the same")
        #expect(try suite.keys() == ["app/AppConfig/userName"])
    }

    @Test(arguments: Backend.allCases)
    func aRemovalLeavesNothingUnderEitherKey(backend: Backend) throws {
        try backend.withSuite { suite throws in
            suite[dottedName] = "former"
            suite[name] = "present"
            let config = AppConfig(suite: suite, identifier: "app")
            #expect(config.userName == "present")
            config.$userName.reset()
            #expect(config.userName == "" && !config.$userName.isSet)
            suite[dottedName] = "former"
            #expect(config.userName == "former")
            config.reset()
            #expect(config.userName == "")
            #expect(try suite.keys() == [])
        }
    }

    @Test(arguments: Backend.allCases)
    func observersHearWritesToTheFormerKeyWhileItCounts(backend: Backend) throws {
        try backend.withSuite { suite throws in
            let config = AppConfig(suite: suite, identifier: "app")
            let heard = Guarded<[String?]>([])
            let token = config.$userName.observe { change in heard.withLock { $0.append(change.newValue) } }
            // An older version of the program writes.
            suite[dottedName] = "older"
            heard.wait { $0.count == 1 }
            config.userName = "newer"
            heard.wait { $0.count == 2 }
            suite[dottedName] = "too late"
            #expect(config.userName == "newer")
            config.$userName.reset()
            heard.wait { $0.count == 3 }
            token.cancel()
            #expect(heard.withLock { $0 } == ["older", "newer", ""])
        }
    }

    @Test func anotherProcessThatMovesTheValueIsNoChange() throws {
        let file = try makeFile()
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        let suite = try DefaultsSuite(file: file)
        suite[dottedName] = "kai"
        let config = AppConfig(suite: suite, identifier: "app")
        #expect(config.userName == "kai")
        // A second backend on the file is what another process would be.
        let other = DefaultsSuite(backend: FileBackend(path: file.path))
        AppConfig(suite: other, identifier: "app").userName = "kai"
        #expect(config.userName == "kai")
        #expect(try suite.keys() == ["app/AppConfig/userName"])
        AppConfig(suite: other, identifier: "app").userName = "other"
        #expect(config.userName == "other")
    }

    @Test func anUnreadableValueUnderTheFormerKeyIsSetAside() throws {
        let suite = DefaultsSuite.inMemory(["app.AppConfig.userName": [1, 2]])
        let failures = Failures(of: suite)
        let config = AppConfig(suite: suite, identifier: "app")
        #expect(config.userName == "")
        #expect(failures.kinds == [.unreadable])
        config.userName = "kai"
        #expect(try suite.keys() == ["app/AppConfig/userName", "app/AppConfig/userName.unreadable"])
    }

    @Test func aDeclarationWithoutFormerKeysReadsItsOwnKeyOnly() throws {
        let suite = DefaultsSuite.inMemory(["app.AppConfig.userName": "kai"])
        let config = AppConfig(suite: suite, identifier: "app")
        #expect(suite[name] == "")
        #expect(config.userName == "kai")
        #expect(suite[name] == "")
        config.userName = "moved"
        #expect(suite[name] == "moved")
    }

    @Test func differentDottedKeysGiveDifferentKeys() {
        let identifiers = ["a.b", "a/b", "a%2Fb", "a%b", "a%25b", "a..b", "a//b"]
        let keys = identifiers.flatMap { TwitterConfig(suite: .inMemory(), identifier: $0).storedKeys }
        #expect(Set(keys).count == keys.count)
        #expect(keys.allSatisfy { !$0.contains(".") })
    }
}
