import TestSupport
import Testing

@testable import TypedDefaults

extension DefaultKey<Double> {
    fileprivate static var quality: DefaultKey { DefaultKey("quality", default: 0.8) }
}

/// Each test runs on each backend.
struct ScopeTests {
    /// A suite finds the slot of a key that was used recently by the key's declaration, which all
    /// scopes share.
    @Test func aKeyThatIsUsedOftenIsFoundInItsScope() {
        let key = DefaultKey("often", default: 0)
        let suite = DefaultsSuite.inMemory()
        let scopes = [suite, suite.scoped("a/"), suite.scoped("b/")]
        for round in 0..<4 {
            for (index, scope) in scopes.enumerated() { scope[key] = 10 * round + index }
            for (index, scope) in scopes.enumerated() { #expect(scope[key] == 10 * round + index) }
        }
    }

    @Test(arguments: Backend.allCases) func aScopeHasItsOwnKeys(backend: Backend) throws {
        try backend.withSuite { suite throws in
            let (first, second) = (suite.scoped("user-1/"), suite.scoped("user-2/"))
            suite[.quality] = 0.1
            first[.quality] = 0.2
            #expect([suite[.quality], first[.quality], second[.quality]] == [0.1, 0.2, 0.8])
            #expect(try suite.keys() == ["quality", "user-1/quality"])
            #expect(try first.keys() == ["quality"])
            #expect(try second.keys() == [])
            #expect(first.contains(.quality))
            #expect(!second.contains(.quality))
            first.scoped("window/")[.quality] = 0.3
            #expect(try first.keys() == ["quality", "window/quality"])
            #expect(suite.scoped("user-1/window/")[.quality] == 0.3)
            try first.removeAll()
            #expect(try suite.keys() == ["quality"])
        }
    }

    @Test(arguments: Backend.allCases) func contentsAreLimitedToTheScope(backend: Backend) throws {
        try backend.withSuite { suite throws in
            let scope = suite.scoped("user-1/")
            suite[.quality] = 0.1
            try scope.update { contents in
                #expect(contents.keys == [])
                contents[.quality] = 0.4
                contents["window"] = [1, 2]
            }
            #expect(try scope.contents() == ["quality": 0.4, "window": [1, 2]])
            try suite.scoped("user-2/").replaceContents(with: scope.contents())
            try scope.replaceContents(with: ["quality": 0.9])
            #expect(
                try suite.contents() == [
                    "quality": 0.1, "user-1/quality": 0.9, "user-2/quality": 0.4, "user-2/window": [1, 2],
                ])
        }
    }

    @Test(arguments: Backend.allCases) func observersOfAScopeReceiveOnlyItsKeys(backend: Backend) throws {
        try backend.withSuite { suite throws in
            let scope = suite.scoped("user-1/")
            let keys = Guarded<[[String]]>([])
            let tokens = [
                scope.observeAll { change in keys.withLock { $0.append(change.keys) } },
                scope.observeAll(prefix: "q") { change in keys.withLock { $0.append(change.keys) } },
            ]
            suite[.quality] = 0.1
            #expect(keys.withLock { $0 } == [])
            scope[.quality] = 0.2
            #expect(keys.withLock { $0 } == [["quality"], ["quality"]])
            withExtendedLifetime(tokens) {}
        }
    }

    /// A combining mark after the prefix is part of the prefix's last character.
    @Test func prefixesAreComparedByTheirBytes() throws {
        let suite = DefaultsSuite.inMemory()
        let scope = suite.scoped("e")
        scope[DefaultKey("\u{301}x", default: 0)] = 1
        #expect(try scope.keys() == ["\u{301}x"])
        #expect(suite.scoped("\u{e9}") != suite.scoped("e\u{301}"))
        #expect(try suite.scoped("\u{e9}").keys() == [])
    }

    @Test func handlesOfTheSameSettingsAreEqual() {
        let (suite, other) = (DefaultsSuite.inMemory(), DefaultsSuite.inMemory())
        #expect(suite.scoped("a/").scoped("b/") == suite.scoped("a/b/"))
        #expect(suite.scoped("") == suite)
        #expect(suite.scoped("a/") != suite)
        #expect(suite != other)
        #expect(Set([suite, other, suite.scoped("a/"), suite.scoped("a/"), suite.scoped("")]).count == 3)
    }

    private func keyOfError(_ body: () throws -> Void) -> String? {
        do { try body() } catch let error as DefaultsError {
            return error.key
        } catch let failure as DefaultsMigrator.Failure {
            return (failure.error as? DefaultsError)?.key
        } catch {}
        return nil
    }

    @Test func errorsOfReadsNameTheKeyWithThePrefix() throws {
        let suite = DefaultsSuite.inMemory(["user/quality": "text", "user/TypedDefaults-migrations": 1])
        let scope = suite.scoped("user/")
        suite.onFailure = { _ in }
        #expect(keyOfError { _ = try scope.read(.quality) } == "user/quality")
        #expect(keyOfError { _ = try scope.read(.quality, .quality) } == "user/quality")
        #expect(keyOfError { _ = try scope.contents().read(.quality) } == "user/quality")
        try scope.update { contents in
            #expect(keyOfError { _ = try contents.read(.quality) } == "user/quality")
            contents.removeAll()
            contents["quality"] = "text"
            #expect(keyOfError { _ = try contents.read(.quality) } == "user/quality")
        }
        var migrator = DefaultsMigrator()
        migrator.register("infinite") { $0[DefaultKey("a", default: 1.0, form: .jsonData)] = .infinity }
        #expect(keyOfError { try scope.migrate(migrator) } == "user/TypedDefaults-migrations")
        try scope.removeAll(includingHistory: true)
        #expect(keyOfError { try scope.migrate(migrator) } == "user/a")
        #expect(
            keyOfError {
                try scope.update {
                    $0 = ["a": .string("")]
                    try migrator.migrate(&$0)
                }
            } == "a")
    }
}
