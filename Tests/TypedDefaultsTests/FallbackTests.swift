import Testing
import TypedDefaults

/// A property that a later version adds does not make what is stored unreadable.
struct FallbackTests {
    struct Config: DefaultConvertible, Codable, Equatable {
        static let key = "config"
        static var fallback: Config? { Config(added: 7, inner: Inner(added: 8)) }
        struct Inner: Codable, Equatable {
            var old = "old"
            var added = 1
        }
        var old = "old"
        var added = 2
        var note: String?
        var inner = Inner()
        var list: [Inner] = []
    }

    @Test func aMissingPropertyReadsAsInTheFallback() throws {
        let suite = DefaultsSuite.inMemory(["config": ["old": "kept", "inner": ["old": "kept too"], "list": []]])
        let failures = Failures(of: suite)
        let expected = Config(old: "kept", added: 7, inner: .init(old: "kept too", added: 8))
        #expect(PersistentStore<Config>(suite: suite).get() == expected)
        #expect(suite[DefaultKey<Config?>("config")] == expected)
        #expect(failures.kinds == [])
        try PersistentStore<Config>(suite: suite).update { $0?.old = "new" }
        #expect(PersistentStore<Config>(suite: suite).get()?.added == 7)
        #expect(try suite.keys() == ["config"])
    }

    @Test func aKeyTakesItsDefault() {
        struct Plain: Codable, Equatable {
            var old = 1
            var added = 2
        }
        let suite = DefaultsSuite.inMemory(["plain": ["old": 5]])
        #expect(suite[DefaultKey("plain", default: Plain(added: 3))] == Plain(old: 5, added: 3))
    }

    @Test func theDefaultImplementationItselfTakesIt() {
        #expect(Config(["old": "kept"])?.added == 7)
    }

    @Test func aMissingElementPropertyIsUnreadable() {
        let suite = DefaultsSuite.inMemory(["config": ["list": [["old": "x"]]]])
        let error = #expect(throws: DefaultsError.self) { try PersistentStore<Config>(suite: suite).load() }
        #expect(error?.kind == .unreadable)
        #expect(error?.path == ["list", "0"])
    }

    @Test func aWrongTypeIsUnreadableAllTheSame() {
        let suite = DefaultsSuite.inMemory(["config": ["old": 5]])
        #expect(throws: DefaultsError.self) { try PersistentStore<Config>(suite: suite).load() }
    }

    @Test func withoutAFallbackAMissingPropertyIsUnreadableAndNamed() {
        let suite = DefaultsSuite.inMemory(["CameraConfig": ["size": "large"]])
        let error = #expect(throws: DefaultsError.self) { try PersistentStore<CameraConfig>(suite: suite).load() }
        #expect(error?.description.contains("“savesToCameraRoll” is missing") == true)
    }
}
