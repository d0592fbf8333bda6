import Foundation
import TestSupport
import Testing
import TypedDefaults

/// A part without a default of its own.
private struct Inner: Codable, Equatable, CustomStringConvertible {
    var required = 1
    var chosen: Int? = 2
    var none: Int?
    var description: String { "\(required) \(chosen.map { "\($0)" } ?? "nil") \(none.map { "\($0)" } ?? "nil")" }
}
private struct Element: DefaultConfig, Equatable, CustomStringConvertible {
    static let key = "Element"
    var required = 1
    var chosen: Int? = 2
    var none: Int?
    var description: String { "\(Inner(required: required, chosen: chosen, none: none))" }
}
private struct Config: DefaultConfig, Equatable, CustomStringConvertible {
    static let key = "Config"
    var required = "a"
    var chosen: Int? = 2
    var none: Int?
    var inner = Inner(required: 11, chosen: 12)
    var spare: Inner?
    var elements: [Element] = []
    var plain: [Inner] = []
    var description: String {
        let own = "\(required) \(chosen.map { "\($0)" } ?? "nil") \(none.map { "\($0)" } ?? "nil")"
        return "\(own); \(inner); \(spare.map { "\($0)" } ?? "nil"); \(elements); \(plain)"
    }
}

/// What is missing is its default, and a nil that is stored is nil.
struct MissingAndNilTests {
    /// What a release has stored, or left out, and what the next one reads, by hand.
    private static let grid: [(stored: PropertyList, read: String)] = [
        (["none": 3], "a 2 3; 11 12 nil; nil; []; []"),
        (["chosen": 5, "none": "$null"], "a 5 nil; 11 12 nil; nil; []; []"),
        (["chosen": "$null"], "a nil nil; 11 12 nil; nil; []; []"),
        (["required": "$null"], "a 2 nil; 11 12 nil; nil; []; []"),
        (["required": "$null", "chosen": 5.0], "a 5 nil; 11 12 nil; nil; []; []"),
        (["inner": [:]], "a 2 nil; 11 12 nil; nil; []; []"),
        (["inner": ["required": 7]], "a 2 nil; 7 12 nil; nil; []; []"),
        (["inner": ["chosen": "$null", "none": 3]], "a 2 nil; 11 nil 3; nil; []; []"),
        (["inner": "$null"], "a 2 nil; 11 12 nil; nil; []; []"),
        // The default has no part there.
        (["spare": ["required": 7]], "a 2 nil; 11 12 nil; 7 nil nil; []; []"),
        (["elements": [[:], ["required": "$null"]]], "a 2 nil; 11 12 nil; nil; [1 2 nil, 1 2 nil]; []"),
        (["elements": [["chosen": "$null", "none": 3]]], "a 2 nil; 11 12 nil; nil; [1 nil 3]; []"),
        // Elements of a type without a default.
        (
            ["plain": [["required": 5], ["required": 5, "chosen": 6]]],
            "a 2 nil; 11 12 nil; nil; []; [5 nil nil, 5 6 nil]"
        ),
    ]

    @Test(arguments: Backend.allCases) func aReleaseReadsWhatAnEarlierOneStored(backend: Backend) throws {
        for (stored, read) in Self.grid {
            try backend.withSuite { suite in
                let failures = Failures(of: suite)
                try suite.update { $0["Config"] = stored }
                let store = PersistentStore<Config>(in: suite)
                #expect("\(store.value)" == read)
                #expect(failures.all.isEmpty, "\(stored)")
                // It stays so if another property changes.
                try store.update { $0.required = "b" }
                #expect("\(store.value)" == "b" + read.dropFirst())
            }
        }
    }

    @Test func whatIsReadFromJSONIsTheSame() throws {
        for (stored, read) in Self.grid {
            let json = Data(stored.jsonText.replacing("\"$null\"", with: "null").utf8)
            let suite = DefaultsSuite.inMemory(["Config": .data(json)]).quiet
            #expect("\(PersistentStore<Config>(in: suite).value)" == read)
            #expect("\(suite[DefaultKey("Config", default: Config(), form: .jsonData)])" == read)
        }
    }

    @Test(arguments: [DefaultKey(Config.self), DefaultKey("Config", default: Config(), form: .jsonData)])
    private func aNilThatIsWrittenIsRead(key: DefaultKey<Config>) throws {
        let writes: [(DefaultsSuite) throws -> Void] = [
            { $0[key].chosen = nil }, { suite in try suite.update(key) { $0.chosen = nil } },
            { suite in try suite.update { $0[key].chosen = nil } }, { $0[key] = Config(chosen: nil) },
            { try UserDefault(key, in: $0).store.save(Config(chosen: nil)) },
        ]
        for write in writes {
            let suite = DefaultsSuite.inMemory()
            try write(suite)
            #expect(suite[key] == Config(chosen: nil))
            suite[key].inner.chosen = nil
            suite[key].elements = [Element(chosen: nil)]
            let expected = Config(
                chosen: nil, inner: Inner(required: 11, chosen: nil), elements: [Element(chosen: nil)])
            let other = DefaultsSuite.inMemory()
            try other.replaceContents(with: suite.contents())
            #expect(other[key] == expected)
            suite[key].chosen = 2
            #expect(suite[key].chosen == 2)
        }
    }

    @Test func whatIsStored() throws {
        let suite = DefaultsSuite.inMemory()
        let store = PersistentStore<Element>(in: suite)
        store.set(Element())
        #expect(try suite.contents()["Element"] == ["required": 1, "chosen": 2, "none": "$null"])
        store.remove()
        try store.update { $0.required = 3 }
        #expect(try suite.contents()["Element"] == ["required": 3])
        store.value.chosen = nil
        #expect(try suite.contents()["Element"] == ["required": 3, "chosen": "$null"])
        // A key that is nil has no value.
        let number = DefaultKey<Int?>("number", default: 4)
        suite[number] = 5
        suite[number] = nil
        #expect(suite[number] == 4)
        #expect(try suite.contents()["number"] == nil)
    }

    /// The default of a key is one as well.
    @Test func aStructUnderAKeyTakesWhatIsMissingFromTheDefaultOfTheKey() throws {
        let key = DefaultKey("inner", default: Inner(required: 8, chosen: 9, none: 10))
        let suite = DefaultsSuite.inMemory(["inner": ["chosen": 1]])
        #expect(suite[key] == Inner(required: 8, chosen: 1, none: 10))
        suite[key].none = nil
        #expect(suite[key] == Inner(required: 8, chosen: 1, none: nil))
        suite[key] = Inner(required: 8, chosen: nil, none: 10)
        #expect(suite[key] == Inner(required: 8, chosen: nil, none: 10))
    }

    /// The default of the outer config counts, also where it is nil.
    @Test func aConfigInAConfigTakesWhatIsMissingFromTheOuterDefault() {
        struct Outer: DefaultConfig, Equatable {
            static let key = "Outer"
            var element: Element? = Element(required: 5, chosen: nil, none: 6)
        }
        let suite = DefaultsSuite.inMemory(["Outer": ["element": [:]]])
        #expect(suite[Outer.self].element == Element(required: 5, chosen: nil, none: 6))
    }

    /// The same by catching an error, which must hold after a value had neither name.
    private struct Caught: DefaultConfig, Equatable {
        static let key = "Caught"
        var name = "new"
        init() {}
        enum CodingKeys: CodingKey { case name, title }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            do { name = try container.decode(String.self, forKey: .name) } catch {
                guard let title = try container.decodeIfPresent(String.self, forKey: .title) else { throw error }
                name = title
            }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
        }
    }

    @Test func whatOneValueLacksHidesNoOldNameInAnother() {
        for stored in [[:], ["title": "old"], ["other": 1], ["title": "old"]] as [PropertyList] {
            let suite = DefaultsSuite.inMemory(["Caught": stored])
            suite.onFailure = { _ in }
            let isOld = stored == ["title": "old"]
            #expect(PersistentStore<Caught>(in: suite).value.name == (isOld ? "old" : "new"))
        }
    }

    private struct Optionals: Codable, Equatable {
        var a: Int8?, b: Int16?, c: Int32?, d: Int64?, e: Int?, f: UInt8?, g: UInt16?, h: UInt32?, i: UInt64?, j: UInt?
        var k: Float?, l: Double?, m: Bool?, n: String?
    }

    /// Each type has a method of its own in the protocol of containers.
    @Test func aNilOfEachStandardTypeIsStored() throws {
        let stored = try PropertyList(encoding: Optionals())
        let names = "abcdefghijklmn".map { String($0) }
        #expect(stored == .dictionary(Dictionary(uniqueKeysWithValues: names.map { ($0, "$null") })))
        #expect(try stored.decode(Optionals.self) == Optionals())
        let value = Optionals(
            a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: 9, j: 10, k: 0.5, l: 1.5, m: true, n: "$null")
        #expect(try PropertyList(encoding: value).decode(Optionals.self) == value)
    }
}
