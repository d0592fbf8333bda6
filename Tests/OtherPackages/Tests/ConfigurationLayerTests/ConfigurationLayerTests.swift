import Configuration
import Foundation
import Testing
import TypedDefaults

@testable import ConfigurationLayer

private struct Checkout: DefaultConfig, Equatable {
    static let key = "checkout"
    var isNew = false
    var limit = 1
}

private let limit = DefaultKey("shop/limit", default: 1)
private let isOpen = DefaultKey("shop/isOpen", default: false)
private let rate = DefaultKey("rate", default: 0.5)
private let name = DefaultKey("name", default: "")

/// A provider has text, numbers that may be of another type, or values of exactly one type.
struct ConfigurationLayerTests {
    @Test func theEnvironmentIsALayer() {
        check(
            EnvironmentVariablesProvider(environmentVariables: [
                "SHOP_LIMIT": "20", "SHOP_IS_OPEN": "true", "RATE": "2", "NAME": "7",
                "CHECKOUT": #"{"isNew": true, "limit": 3}"#,
            ]), checkout: Checkout(isNew: true, limit: 3))
    }

    @Test func aJSONFileIsALayer() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(#"{"shop": {"limit": 20, "isOpen": true}, "rate": 2, "name": "7"}"#.utf8).write(to: file)
        check(try await FileProvider<JSONSnapshot>(filePath: .init(file.path)), checkout: Checkout())
    }

    @Test func valuesInMemoryAreALayer() {
        check(
            InMemoryProvider(values: [["shop", "limit"]: 20, ["shop", "isOpen"]: true, "rate": 2.0, "name": "7"]),
            checkout: Checkout())
    }

    private func check(_ provider: some ConfigProvider, checkout: Checkout) {
        let suite = DefaultsSuite.inMemory()
        suite.layers = [configurationLayer(ConfigReader(provider: provider)), .stored]
        suite[limit] = 5
        #expect(suite[limit] == 20)
        #expect(suite[isOpen])
        #expect(suite[rate] == 2)
        #expect(suite[name] == "7")
        #expect(PersistentStore<Checkout>(in: suite).value == checkout)
        #expect(UserDefault(limit, in: suite).source == .layer("configuration"))
        suite.layers = [.stored]
        #expect(suite[limit] == 5)
    }
}
