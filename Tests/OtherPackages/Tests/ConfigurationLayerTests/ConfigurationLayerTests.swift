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
private let hosts = DefaultKey("hosts", default: ["none"])
private let ports = DefaultKey("ports", default: [0])
private let rates = DefaultKey("rates", default: [0.5])
private let days = DefaultKey("days", default: [false])
private let token = DefaultKey("token", default: Data())
private let tokens = DefaultKey("tokens", default: [Data()])
private let empty = DefaultKey("empty", default: [1])

/// A provider has text, numbers that may be of another type, or values of exactly one type.
struct ConfigurationLayerTests {
    @Test func theEnvironmentIsALayer() {
        check(
            EnvironmentVariablesProvider(environmentVariables: [
                "SHOP_LIMIT": "20", "SHOP_IS_OPEN": "true", "RATE": "2", "NAME": "7",
                "CHECKOUT": #"{"isNew": true, "limit": 3}"#,
                "HOSTS": #"["a", "b"]"#, "PORTS": "[1, 2]", "RATES": "[1, 2.5]", "DAYS": "[true, false]", "EMPTY": "[]",
                "TOKEN": #"{"$data": "AQID"}"#, "TOKENS": #"[{"$data": "AQID"}]"#,
            ]), checkout: Checkout(isNew: true, limit: 3))
    }

    @Test func valuesInMemoryAreALayer() {
        check(
            InMemoryProvider(values: [
                ["shop", "limit"]: 20, ["shop", "isOpen"]: true, "rate": 2.0, "name": "7",
                "hosts": value(.stringArray(["a", "b"])), "ports": value(.intArray([1, 2])),
                "rates": value(.doubleArray([1, 2.5])), "days": value(.boolArray([true, false])),
                "empty": value(.intArray([])), "token": value(.bytes([1, 2, 3])),
                "tokens": value(.byteChunkArray([[1, 2, 3]])),
            ]), checkout: Checkout())
    }

    private func value(_ content: ConfigContent) -> ConfigValue { ConfigValue(content, isSecret: false) }

    private func check(_ provider: some ConfigProvider, checkout: Checkout) {
        let suite = DefaultsSuite.inMemory()
        suite.onFailure = { Issue.record($0) }
        suite.layers = [configurationLayer(ConfigReader(provider: provider)), .stored]
        suite[limit] = 5
        #expect(suite[limit] == 20)
        #expect(suite[isOpen])
        #expect(suite[rate] == 2)
        #expect(suite[name] == "7")
        #expect(suite[hosts] == ["a", "b"])
        #expect(suite[ports] == [1, 2])
        #expect(suite[rates] == [1, 2.5])
        #expect(suite[days] == [true, false])
        #expect(suite[empty] == [])
        #expect(suite[token] == Data([1, 2, 3]))
        #expect(suite[tokens] == [Data([1, 2, 3])])
        #expect(PersistentStore<Checkout>(in: suite).value == checkout)
        #expect(UserDefault(limit, in: suite).source == .layer("configuration"))
        suite.layers = [.stored]
        #expect(suite[limit] == 5)
    }

    @Test(.timeLimit(.minutes(1))) func observersHearAReload() async throws {
        let provider = MutableInMemoryProvider(initialValues: [["shop", "limit"]: 1])
        let reader = ConfigReader(provider: provider)
        let suite = DefaultsSuite.inMemory()
        suite.layers = [configurationLayer(reader), .stored]
        let task = Task { try await followReloads(of: reader, in: suite) }
        var limits = suite.values(limit).makeAsyncIterator()
        #expect(await limits.next() == 1)
        for value in 2...3 {
            provider.setValue(.init(integerLiteral: value), forKey: ["shop", "limit"])
            #expect(await limits.next() == value)
        }
        task.cancel()
    }
}
