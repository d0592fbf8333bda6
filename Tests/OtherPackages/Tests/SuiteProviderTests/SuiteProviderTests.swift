import Configuration
import ConfigurationTesting
import Foundation
import Testing
import TypedDefaults

@testable import SuiteProvider

private struct Shop: DefaultConfig {
    static let key = "Shop"
    var limit = 10
    var rate = 0.5
    var isOpen = true
}

struct SuiteProviderTests {
    /// The bytes that the check of `ConfigurationTesting` expects.
    private let magic = Data("magic".utf8), magic2 = Data("magic2".utf8)

    /// The provider passes the test that swift-configuration has for each provider.
    @Test func theProviderIsCompatible() async throws {
        let suite = DefaultsSuite.inMemory([
            "string": "Hello", "int": 42, "double": 3.14, "bool": true, "bytes": .data(magic),
            "stringy/array": ["Hello", "World"], "inty/array": [42, 24], "doubly/array": [3.14, 2.72],
            "booly/array": [true, false], "byteChunky/array": [.data(magic), .data(magic2)],
            // As properties of a config.
            "other": [
                "string": "Other Hello", "int": 24, "double": 2.72, "bool": false, "bytes": .data(magic2),
                "stringy": ["array": ["Hello", "Swift"]], "inty": ["array": [16, 32]],
                "doubly": ["array": [0.9, 1.8]], "booly": ["array": [false, true, true]],
                "byteChunky": ["array": [.data(magic), .data(magic2), .data(magic)]],
            ],
        ])
        try await ProviderCompatTest(provider: SuiteProvider(suite: suite)).runTest()
    }

    @Test func theReaderSeesWhatIsStoredAndItsOwnDefaults() throws {
        let suite = DefaultsSuite.inMemory()
        let reader = ConfigReader(provider: SuiteProvider(suite: suite))
        #expect(reader.int(forKey: "Shop.limit", default: 1) == 1)
        try PersistentStore<Shop>(in: suite).update { $0.limit = 20 }
        #expect(reader.int(forKey: "Shop.limit", default: 1) == 20)
        #expect(reader.bool(forKey: "Shop.isOpen") == nil)
        try suite.update { $0["Shop"] = ["limit": "many", "rate": 2] }
        #expect(throws: DefaultsError.self) { try reader.requiredInt(forKey: "Shop.limit") }
        #expect(try reader.requiredDouble(forKey: "Shop.rate") == 2)
        #expect(reader.int(forKey: ConfigKey([])) == nil)
    }

    @Test(.timeLimit(.minutes(1))) func aWatchFollowsTheSuite() async throws {
        let suite = DefaultsSuite.inMemory()
        let store = PersistentStore<Shop>(in: suite)
        let reader = ConfigReader(provider: SuiteProvider(suite: suite))
        try await reader.watchInt(forKey: "Shop.limit", default: 1) { limits in
            var limits = limits.makeAsyncIterator()
            #expect(try await limits.next() == 1)
            for limit in 2...4 {
                try store.update { $0.limit = limit }
                #expect(try await limits.next() == limit)
            }
        }
    }

    @Test func aSuiteThatCannotBeReadThrows() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).defaults")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("no settings file".utf8).write(to: file)
        let suite = try DefaultsSuite(file: file)
        suite.onFailure = { _ in }
        let reader = ConfigReader(provider: SuiteProvider(suite: suite))
        #expect(throws: DefaultsError.self) { try reader.requiredInt(forKey: "Shop.limit") }
    }
}
