import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

/// The functions of the article *Recipes* that need a test.
struct PageRecipeTests {
    struct Limits: DefaultConfig {
        static let key = "Limits"
        static let rules: [DefaultRule<Limits>] = [.on(\.requestsPerSecond, .in(1...1000))]
        var requestsPerSecond = 100
        var burst = 10
    }

    func follow(
        _ suite: DefaultsSuite, apply: @escaping @Sendable (Limits) -> Void
    ) -> ObservationToken {
        suite.observe(DefaultKey(Limits.self)) { _ in
            guard let contents = try? suite.contents(),
                contents.faults(DefaultKey(Limits.self)).isEmpty
            else { return }  // keeps those in use
            apply(contents[Limits.self])
        }
    }

    func backup(of suite: DefaultsSuite, keys: Set<String>) throws -> Data {
        var contents = try suite.contents()
        for key in contents.keys where !keys.contains(key) { contents[key] = nil }
        return contents.json()
    }

    @Test(arguments: ["follow", "backup"]) func thePageShowsTheCodeOfThisFile(_ name: String) throws {
        #expect(try article("Recipes", shows: "func \(name)("))
    }

    /// A wrong type, a broken rule, a wrong type of one property, and a misspelled one.
    @Test(
        arguments: [
            "many", ["requestsPerSecond": 5000, "burst": 7], ["requestsPerSecond": 500, "burst": "many"],
            ["requestPerSecond": 5],
        ] as [PropertyList]) func aFaultKeepsTheLastGoodLimits(stored: PropertyList) throws
    {
        let suite = DefaultsSuite.inMemory()
        suite.onFailure = { _ in }
        let applied = Guarded<[Int]>([])
        let token = follow(suite) { limits in applied.withLock { $0.append(limits.requestsPerSecond) } }
        for value in [["requestsPerSecond": 500], stored, ["requestsPerSecond": 600]] as [PropertyList] {
            try suite.update { $0["Limits"] = value }
            suite.waitForHandlers()
        }
        #expect(applied.withLock { $0 } == [500, 600])
        token.cancel()
    }

    @Test func aBackupHasNoCopyOfAnOldSecret() throws {
        let long = String(repeating: "n", count: 4096)
        let stored: [String: PropertyList] = ["pin": "old secret", long: "old secret", "volume": 7]
        let suite = DefaultsSuite.inMemory(stored)
        suite.onFailure = { _ in }
        let scope = suite.scoped("ann/")
        try scope.update { $0["pin"] = "old secret" }
        for suite in [suite, scope] {
            suite[DefaultKey("pin", default: 0)] = 5
            suite[DefaultKey("pin", default: "")] = "secret"
            suite[DefaultKey("pin", default: 0)] = 6
        }
        suite[DefaultKey(long, default: 0)] = 5
        let copies = try suite.keys().filter { $0.contains("unreadable") }
        #expect(copies.count == 5)
        #expect(try SuiteContents(json: backup(of: suite, keys: ["volume"])) == ["volume": 7])
    }
}
