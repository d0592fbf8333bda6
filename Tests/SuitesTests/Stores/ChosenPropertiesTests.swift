import Foundation
import TestSupport
import Testing
import TypedDefaults

private struct First: DefaultConfig, Equatable {
    static let key = "Camera"
    var size = "medium"
    var beeps = true
    var quality = 0.8
}

/// The next release, with a better default and a new property.
private struct Second: DefaultConfig, Equatable {
    static let key = "Camera"
    var size = "medium"
    var beeps = true
    var quality = 0.95
    var zoom = 1.0
}

/// Reads a missing `b` in its own way, and writes an entry that it does not read.
private struct HandCoded: DefaultConfig, Equatable {
    static let key = "HandCoded"
    enum CodingKeys: CodingKey { case a, b, c, sum }
    var a = 1
    var b = 2
    var c = 3

    init() {}
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        a = try container.decode(Int.self, forKey: .a)
        b = (try? container.decode(Int.self, forKey: .b)) ?? (a > 5 ? 9 : 2)
        c = try container.decodeIfPresent(Int.self, forKey: .c) ?? 7
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(a, forKey: .a)
        try container.encode(b, forKey: .b)
        try container.encode(c, forKey: .c)
        try container.encode(a + b + c, forKey: .sum)
    }
}

/// A dictionary that only looks like a struct in its stored form.
private struct Words: DefaultConfig, Equatable {
    static let key = "Words"
    var counts = ["a": 1, "b": 2]

    init() {}
    init(from decoder: any Decoder) throws { counts = try decoder.singleValueContainer().decode([String: Int].self) }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(counts)
    }
}

private struct ByHand: DefaultConfig, Equatable {
    static let key = "ByHand"
    var size = "medium"
    var beeps = true

    init() {}
    init?(_ object: Any) {
        guard let object = object as? [String: Any], let size = object["size"] as? String else { return nil }
        (self.size, beeps) = (size, object["beeps"] as? Bool ?? false)
    }
    func serialize() -> Any { ["size": size, "beeps": beeps] }
}

struct ChosenPropertiesTests {
    /// Ways to change a config, each of which sets the size. `WriteTableTests` has the others.
    private static let updates: [String: @Sendable (DefaultsSuite, String) throws -> Void] = [
        "decorators": { suite, size in
            let inner = Decorated(base: AnyStore<First>.persistent(in: suite))
            try AnyStore(Decorated(base: AnyStore(inner))).update { $0.size = size }
        },
        "map with a default": { suite, size in
            try PersistentStore<First>(in: suite).map(\.size, default: First()).save(size)
        },
        "contents, stored": { suite, size in try suite.update { $0[stored: First.self] = First(size: size) } },
        "optional key": { suite, size in
            try suite.update(DefaultKey<First?>("Camera", default: First())) { $0?.size = size }
        },
        "decorator updateStored": { suite, size in
            try Decorated(base: AnyStore<First>.persistent(in: suite)).updateStored { $0 = First(size: size) }
        },
        "migration": { suite, size in
            var migrator = DefaultsMigrator()
            migrator.register("step \(size)") { $0[First.self].size = size }
            try suite.migrate(migrator)
            try suite.update { $0.history = [] }
        },
    ]

    @Test(arguments: updates.keys.sorted(), Backend.allCases)
    func aChangeStoresWhatItChanges(way: String, backend: Backend) throws {
        let update = try #require(Self.updates[way])
        try backend.withSuite { suite in
            try update(suite, "large")
            #expect(try suite.contents() == ["Camera": ["size": "large"]])
            #expect(PersistentStore<First>(in: suite).get() == First(size: "large"))
            #expect(PersistentStore<Second>(in: suite, key: "Camera").get() == Second(size: "large"))
            // A choice that equals the default stays.
            try update(suite, "medium")
            #expect(try suite.contents() == ["Camera": ["size": "medium"]])
        }
    }

    @Test func codingByHandLosesNoValue() throws {
        let suite = DefaultsSuite.inMemory()
        let store = PersistentStore<HandCoded>(in: suite)
        for a in [1, 3, 7] {
            for b in [2, 9] {
                for c in [3, 7] {
                    store.remove()
                    var value = HandCoded()
                    (value.a, value.b, value.c) = (a, b, c)
                    try store.update { $0 = value }
                    #expect(store.value == value)
                }
            }
        }
        store.remove()
        try store.update { $0.c = 4 }
        // `a` is read from the default, and `b` as the type reads a missing one.
        #expect(try suite.contents()["HandCoded"] == ["c": 4, "sum": 7])
        var expected = HandCoded()
        expected.c = 4
        #expect(store.get() == expected)
        #expect(try suite.contents()[HandCoded.self] == expected)
    }

    @Test func dictionariesAndHandWrittenConversionsAreStoredWhole() throws {
        let suite = DefaultsSuite.inMemory()
        let words = PersistentStore<Words>(in: suite)
        try words.update { $0.counts["c"] = 3 }
        #expect(try suite.contents()["Words"] == ["a": 1, "b": 2, "c": 3])
        try words.update { $0.counts["a"] = nil }
        #expect(words.value.counts == ["b": 2, "c": 3])
        let byHand = PersistentStore<ByHand>(in: suite)
        try byHand.update { $0.size = "large" }
        #expect(try suite.contents()["ByHand"] == ["size": "large", "beeps": true])
    }

    @Test func theDefaultIsAChoiceOverNil() throws {
        let key = DefaultKey<First?>("camera", default: nil)
        let ways: [(DefaultsSuite) throws -> Void] = [
            { $0[key] = First() },
            { suite in try suite.update(key) { $0 = First() } },
            { suite in try suite.update { $0[key] = First() } },
            { suite in
                try suite.update { contents in
                    contents[key] = First(size: "large")
                    contents[key] = nil
                    contents[key] = First()
                }
            },
            { suite in try UserDefault(key, in: suite).store.updateStored { $0 = First() } },
        ]
        for write in ways {
            let suite = DefaultsSuite.inMemory()
            try write(suite)
            #expect(suite[key] == First())
        }
        let suite = DefaultsSuite.inMemory(["camera": "x"]).quiet
        try suite.update { $0[stored: First.self] = First() }
        #expect(PersistentStore<First>(in: suite).get() == First())
        try suite.update { $0[key] = First() }
        #expect(suite[key] == First())
    }

    @Test func aKeyCanHaveAnotherDefaultThanItsType() throws {
        for form in [DefaultKey<First>.Form.propertyList, .jsonData] {
            let key = DefaultKey("camera", default: First(size: "large"), form: form)
            let suite = DefaultsSuite.inMemory()
            try suite.update(key) { _ in }
            #expect(try suite.contents().isEmpty)
            #expect(suite[key] == First(size: "large"))
            if form == .propertyList {
                try suite.update { $0[key].beeps = true }
                #expect(try suite.contents().isEmpty)
            }
            try suite.update(key) { $0.size = "medium" }
            #expect(suite[key] == First())
            try suite.removeAll()
            try suite.update { $0[key].size = "medium" }
            #expect(suite[key] == First())
            try suite.removeAll()
            try suite.update(key) { $0.beeps = false }
            #expect(suite[key] == First(size: "large", beeps: false))
        }
        let suite = DefaultsSuite.inMemory()
        let store = PersistentStore<First>(in: suite)
        try store.update(default: First(size: "large")) { $0.size = "medium" }
        #expect(store.get() == First())
    }

    @Test func jsonOfAnotherProgramStaysComplete() throws {
        let json = Data(#"{"size": "medium", "beeps": true}"#.utf8)
        let suite = DefaultsSuite.inMemory(["Camera": .data(json)])
        try PersistentStore<First>(in: suite).update { $0.size = "large" }
        #expect(try suite.contents() == ["Camera": ["size": "large", "beeps": true]])
    }

    @Test func anUpdateOfAnOptionalCanRemoveIt() throws {
        let suite = DefaultsSuite.inMemory()
        let key = DefaultKey<First?>("optional")
        try suite.update(key) { $0 = First(size: "large") }
        #expect(try suite.contents() == ["optional": ["size": "large"]])
        try suite.update(key) { $0 = nil }
        #expect(try suite.contents().isEmpty)
    }
}
