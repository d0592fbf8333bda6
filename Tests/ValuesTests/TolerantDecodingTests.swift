import TestSupport
import Testing

@testable import TypedDefaults

#if canImport(AppleFoundation)
    import AppleFoundation
#else
    import Foundation
#endif

private enum Mode: String, Codable { case photo, video }
private struct Lens: Codable, Hashable {
    var zoom = 1.0
    var name = "main"
}
private struct Flash: DefaultConfig, Equatable {
    static let key = "Flash"
    var power = 5
    var isOn = true
}
private struct Config: DefaultConfig, Equatable {
    static let key = "Config"
    var on = true
    var mode = Mode.photo
    var recent: [Mode] = [.photo]
    var lens = Lens()
    var second: Lens?
    var flash: Flash?
    var byName: [String: Mode] = [:]
    var lenses: [Lens] = []
    var flashes: [Flash] = []
    var flashByName: [String: Flash] = [:]
    var modes: Set<Mode> = []
    var pairs: [Mode: Int] = [:]
    var taken = Date(timeIntervalSinceReferenceDate: 5)
    var thumbnail = Data([1, 2])
}

/// A struct with a number under each of many keys.
private struct Numbers: Codable, Equatable {
    static let keys = (0..<250).map { AnyKey(stringValue: "p\($0)") }
    var values: [Int]

    init() { values = Self.keys.map { _ in 0 } }
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyKey.self)
        values = try Self.keys.map { try container.decode(Int.self, forKey: $0) }
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        for (key, value) in zip(Self.keys, values) { try container.encode(value, forKey: key) }
    }
}
private struct Measurement: DefaultConfig, Equatable {
    static let key = "Measurement"
    var name = "first"
    var numbers = Numbers()
}

/// Values with parts at fault.
struct TolerantDecodingTests {
    /// After 100 faults, the whole property takes its default, which ends the work.
    @Test func aPropertyWithVeryManyFaultsTakesItsDefaultAsAWhole() throws {
        let numbers = Numbers.keys.map { ($0.stringValue, PropertyList.string("many")) }
        let suite = DefaultsSuite.inMemory([
            "Measurement": ["name": "second", "numbers": .dictionary(Dictionary(uniqueKeysWithValues: numbers))]
        ])
        let failures = Failures(of: suite)
        var expected = Measurement()
        expected.name = "second"
        #expect(PersistentStore<Measurement>(in: suite).value == expected)
        #expect(failures.all.map(\.key) == ["Measurement"])
        #expect(failures.all.map(\.path) == [["numbers"]])
    }

    private struct Case: CustomTestStringConvertible, Sendable {
        let stored: PropertyList
        let paths: [String]
        let expected: @Sendable (inout Config) -> Void
        var testDescription: String { paths.joined(separator: " ") }
    }

    private static let cases = [
        Case(stored: ["on": false], paths: []) { $0.on = false },
        Case(stored: ["on": false, "mode": "hologram"], paths: ["mode"]) { $0.on = false },
        Case(stored: ["on": "maybe", "mode": "video"], paths: ["on"]) { $0.mode = .video },
        Case(stored: ["on": [1], "mode": 5, "lens": 3], paths: ["lens", "mode", "on"]) { _ in },
        Case(stored: ["recent": ["video", "hologram", "photo", 7]], paths: ["recent.1"]) {
            $0.recent = [.video, .photo]
        },
        Case(stored: ["lens": ["zoom": 2.0]], paths: []) { $0.lens.zoom = 2 },
        Case(stored: ["lens": ["zoom": "far", "name": "tele"]], paths: ["lens.zoom"]) { $0.lens.name = "tele" },
        Case(stored: ["second": ["zoom": "x", "name": "y"]], paths: ["second"]) { _ in },
        Case(stored: ["second": ["zoom": 3.0, "name": "y"]], paths: []) { $0.second = Lens(zoom: 3, name: "y") },
        Case(stored: ["second": 5], paths: ["second"]) { _ in },
        Case(stored: ["flash": ["power": "much"]], paths: ["flash.power"]) { $0.flash = Flash() },
        Case(stored: ["flash": ["isOn": false]], paths: []) { $0.flash = Flash(power: 5, isOn: false) },
        Case(stored: ["byName": ["a": "video", "b": "hologram"]], paths: ["byName.*"]) { $0.byName = ["a": .video] },
        Case(
            stored: ["flashByName": ["a": ["power": 1], "b": ["power": "x", "isOn": false]]],
            paths: ["flashByName.*.power"]
        ) { $0.flashByName = ["a": Flash(power: 1), "b": Flash(power: 5, isOn: false)] },
        Case(
            stored: ["lenses": [["zoom": 2.0, "name": "tele"], ["zoom": "3"], ["zoom": 4.0, "name": "x"]]],
            paths: ["lenses.1"]
        ) { $0.lenses = [Lens(zoom: 2, name: "tele"), Lens(zoom: 4, name: "x")] },
        Case(
            stored: ["flashes": [["power": 1], 5, ["power": "x", "isOn": false]]],
            paths: ["flashes.1"]
        ) {
            $0.flashes = [Flash(power: 1), Flash(), Flash(power: 5, isOn: false)]
        },
        Case(stored: ["modes": ["video", "hologram"]], paths: ["modes.1"]) { $0.modes = [.video] },
        // Keys and values in turn, so no element may be left out.
        Case(stored: ["pairs": ["photo", 1, "hologram", 2]], paths: ["pairs"]) { _ in },
        Case(stored: ["taken": "yesterday", "thumbnail": "none?"], paths: ["taken", "thumbnail"]) { _ in },
    ]

    @Test(arguments: cases) private func aPartAtFaultIsReadAsTheDefault(test: Case) throws {
        let suite = DefaultsSuite.inMemory(["Config": test.stored])
        let failures = Failures(of: suite)
        var expected = Config()
        test.expected(&expected)
        let store = PersistentStore<Config>(in: suite)
        #expect(store.value == expected)
        #expect(try store.load() == expected)
        #expect(Set(failures.all.map { $0.path.joined(separator: ".") }) == Set(test.paths))
        #expect(failures.all.allSatisfy { $0.kind == .unreadable && $0.key == "Config" })
        // The same through a key and through contents.
        #expect(UserDefault(DefaultKey(Config.self), in: suite).value == expected)
        #expect(try suite.contents()[Config.self] == expected)
        #expect(try suite.contents()["Config"] == test.stored, "reading stores nothing")
    }

    /// As older versions of a program stored it, with Foundation's coders.
    @Test(arguments: cases, [true, false])
    private func thePartsOfDataAreReadAsWell(test: Case, isJSON: Bool) throws {
        guard isJSON || test.stored.object is [String: Any] else { return }
        let data =
            try isJSON
            ? JSONSerialization.data(withJSONObject: test.stored.object)
            : PropertyListSerialization.data(fromPropertyList: test.stored.object, format: .binary, options: 0)
        let suite = DefaultsSuite.inMemory(["Config": .data(data)])
        suite.onFailure = { _ in }
        var expected = Config()
        test.expected(&expected)
        #expect(PersistentStore<Config>(in: suite).value == expected)
        #expect(suite[DefaultKey("Config", default: Config(), form: .jsonData)] == expected)
    }

    @Test func eachFaultIsReportedOnce() throws {
        let suite = DefaultsSuite.inMemory(["Config": ["mode": "hologram", "on": 3, "future": 1]])
        let failures = Failures(of: suite)
        let store = PersistentStore<Config>(in: suite)
        for _ in 0..<3 { #expect(store.value == Config()) }
        #expect(failures.all.count == 2)
        try store.update { $0.lens.zoom = 3 }
        for _ in 0..<3 { _ = store.value }
        #expect(failures.all.count == 2)
    }

    @Test(arguments: ["text", 5, ["a", "b"]] as [PropertyList])
    func aWholeValueOfAnotherKindStaysUnreadable(stored: PropertyList) throws {
        let suite = DefaultsSuite.inMemory(["Config": stored])
        let failures = Failures(of: suite)
        let store = PersistentStore<Config>(in: suite)
        #expect(store.get() == nil)
        try store.update { $0.on = false }
        #expect(try suite.contents()["Config.unreadable"] == stored)
        #expect(failures.kinds == [.unreadable, .unreadable])
    }
}

/// The properties and elements beside a fault, which must not change.
struct FaultNeighborTests {
    private typealias Flexible = HandWritten.Either<Bool, HandWritten.Either<Int, String>>
    private typealias LensOrName = HandWritten.Either<Lens, String>
    private struct Even: Codable, Equatable {
        struct Odd: Error {}
        var number = 2
        init(_ number: Int = 2) { self.number = number }
        init(from decoder: any Decoder) throws {
            number = try decoder.singleValueContainer().decode(Int.self)
            guard number.isMultiple(of: 2) else { throw Odd() }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(number)
        }
    }
    /// JSON in a string.
    private struct Text: Codable, Equatable {
        struct Content: Codable, Equatable { var on = true }
        var content = Content()
        init(on: Bool = true) { content.on = on }
        init(from decoder: any Decoder) throws {
            let text = try decoder.singleValueContainer().decode(String.self)
            content = try JSONDecoder().decode(Content.self, from: Data(text.utf8))
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(String(decoding: try JSONEncoder().encode(content), as: UTF8.self))
        }
    }
    private struct Sizes: DefaultConfig, Equatable {
        static let key = "Sizes"
        var flexible = Flexible.second(.second("default"))
        var choice = LensOrName.first(Lens())
        var even = Even()
        var on = true
        var text = Text()
        var count = 1
        var name = "name"
    }
    private struct Gallery: DefaultConfig, Equatable {
        static let key = "Gallery"
        var evens: [Even] = []
        var flashes: [Flash] = []
        var title = "title"
    }

    @Test(arguments: ["native", "JSON", "binary"]) func aTypeThatTriesSeveralTypesReadsTheSame(form: String) throws {
        let entries: [String: Any] = ["flexible": 1, "choice": "tele", "count": "many", "even": 4]
        let stored: PropertyList =
            switch form {
            case "JSON": .data(try JSONSerialization.data(withJSONObject: entries))
            case "binary":
                .data(try PropertyListSerialization.data(fromPropertyList: entries, format: .binary, options: 0))
            default: ["flexible": 1, "choice": "tele", "count": "many", "even": 4]
            }
        let suite = DefaultsSuite.inMemory(["Sizes": stored])
        let failures = Failures(of: suite)
        let value = PersistentStore<Sizes>(in: suite).value
        #expect(value == Sizes(flexible: .second(.first(1)), choice: .second("tele"), even: Even(4)))
        #expect(failures.all.map(\.path) == [["count"]])
    }

    @Test func anErrorThatATypeCaughtIsNoFault() throws {
        let suite = DefaultsSuite.inMemory(["Sizes": ["choice": "tele", "even": 3, "count": 7]])
        let failures = Failures(of: suite)
        let value = PersistentStore<Sizes>(in: suite).value
        #expect(value == Sizes(choice: .second("tele"), count: 7))
        #expect(failures.all.map(\.path) == [["even"]])
    }

    @Test(arguments: [#"{"on": 5}"#, "{}", "["]) func anErrorOfAnotherDecoderIsOfItsProperty(text: String) throws {
        let suite = DefaultsSuite.inMemory(["Sizes": ["on": false, "text": .string(text), "count": 7]])
        let failures = Failures(of: suite)
        #expect(PersistentStore<Sizes>(in: suite).value == Sizes(on: false, count: 7))
        #expect(failures.all.map(\.path) == [["text"]])
    }

    @Test func aNullOfJSONIsNoText() {
        let suite = DefaultsSuite.inMemory(["Sizes": .data(Data(#"{"name": null, "on": false}"#.utf8))])
        let failures = Failures(of: suite)
        #expect(PersistentStore<Sizes>(in: suite).value == Sizes(on: false))
        #expect(failures.all.isEmpty)
    }

    @Test func anElementThatCannotBeReadIsLeftOut() throws {
        let suite = DefaultsSuite.inMemory(["list": [1, "two", 3]])
        let failures = Failures(of: suite)
        let list = suite[DefaultKey("list", default: [7, 8])]
        #expect(list == [1, 3])
        #expect(failures.all.map(\.reason) == ["expected Int, but a string is stored; this entry is left out"])
    }

    /// A later version added `isOn`.
    @Test(arguments: [3, 150, 1_000]) func manyElementsMayLackAProperty(count: Int) throws {
        let suite = DefaultsSuite.inMemory([
            "Gallery": ["flashes": .array((0..<count).map { ["power": .integer(Int64($0))] })]
        ])
        let failures = Failures(of: suite)
        let store = PersistentStore<Gallery>(in: suite)
        #expect(store.value.flashes == (0..<count).map { Flash(power: $0) })
        try store.update { $0.flashes.append(Flash(power: -1)) }
        #expect(store.value.flashes.count == count + 1)
        #expect(failures.all.isEmpty)
        #expect(try suite.keys() == ["Gallery"])
    }

    @Test(arguments: [1, 3]) func manyBadElementsLeaveTheOthers(step: Int) throws {
        let numbers = (0..<3_000).map { $0 * step }
        let suite = DefaultsSuite.inMemory([
            "Gallery": ["evens": .array(numbers.map { .integer(Int64($0)) }), "title": "mine"],
            "evens": .array(numbers.map { .integer(Int64($0)) }),
        ])
        let failures = Failures(of: suite)
        let expected = numbers.filter { $0.isMultiple(of: 2) }.map { Even($0) }
        let value = PersistentStore<Gallery>(in: suite).value
        #expect(value == Gallery(evens: expected, title: "mine"))
        #expect(failures.all.map(\.path) == [["evens", "1"]])
        #expect(failures.all.first?.reason.hasSuffix("other parts of the collection with this problem: 1499") == true)
        #expect(suite[DefaultKey<[Even]>("evens", default: [])] == expected)
    }
}

extension TolerantDecodingTests {
    @Test func manyFaultsInADictionaryAreOneReport() throws {
        let count = 1_000
        let stored = Dictionary(uniqueKeysWithValues: (0..<count).map { ("\($0)", ["zoom": "far"] as PropertyList) })
        let suite = DefaultsSuite.inMemory(["lenses": .dictionary(stored)])
        let failures = Failures(of: suite)
        let key = DefaultKey<[String: Lens]>("lenses", default: [:])
        #expect(suite[key].isEmpty)
        try suite.update(key) { $0["new"] = Lens() }
        #expect(failures.all.count == 1)
        let expected = stored.merging(["new": ["zoom": 1.0, "name": "main"]]) { $1 }
        #expect(try suite.contents()["lenses"] == .dictionary(expected))
        #expect(suite[key] == ["new": Lens()])
    }
}
