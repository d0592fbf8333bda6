import TestSupport
import Testing
import TypedDefaults

#if canImport(AppleFoundation)
    import AppleFoundation
#else
    import Foundation
#endif

private struct Resize: DefaultConfig, Equatable {
    static let key = "resize"
    static let rules: [DefaultRule<Resize>] = [
        .on(\.width, .in(16...16_384)), .on(\.height, .clamped(to: 16...16_384)),
    ]
    struct Crop: DefaultConfig, Equatable {
        static let key = "crop"
        var x = 0
        var y = 0
    }
    var width = 1_600
    var height = 1_200
    var crop = Crop()
    var tags: [String: Crop] = [:]
    var list: [Crop] = []
    var name: String?
}

private let resize = DefaultKey(Resize.self)
private let quality = DefaultKey("quality", default: 0.8, rule: .in(0.1...1))

struct FaultsTests {
    private func faults(_ json: String) throws -> [String] {
        try resize.faults(in: PropertyList(json: Data(json.utf8))).map(\.description)
    }

    @Test func eachFaultIsListed() throws {
        #expect(try faults(#"{"width": 20, "height": 20, "crop": {"x": 1}, "name": "a", "tags": {"a": {}}}"#) == [])
        #expect(try faults("{}") == [])
        #expect(
            try faults(#"{"width": 8}"#) == [
                "invalid “resize” (Resize) at width: the value must be in 16...16384"
            ])
        #expect(
            try faults(#"{"height": 8, "width": 8}"#) == [
                "invalid “resize” (Resize) at width: the value must be in 16...16384",
                "invalid “resize” (Resize) at height: the value must be in 16...16384",
            ])
        #expect(
            try faults(#"{"width": "x"}"#) == [
                "unreadable “resize” (Resize) at width: expected Int, but a string is given"
            ])
        #expect(
            try faults(#"{"wdith": 800, "width": 800}"#) == [
                "unknown entry “resize” (Resize) at wdith: the type has no such property"
            ])
        // Each part of a collection, and no key of a dictionary.
        let text = """
            {"width": true, "crop": {"x": "a", "z": 1}, "tags": {"secret": {"x": "a", "q": 1}, "other": 5},
             "list": [{"x": 1}, {"x": "b"}, {"x": "c", "w": 1}]}
            """
        let all = try resize.faults(in: PropertyList(json: Data(text.utf8)))
        #expect(
            all.map { "\($0.kind) \($0.path.joined(separator: "."))" }.sorted() == [
                "unknown entry crop.z", "unknown entry list.2.w", "unknown entry tags.*.q", "unreadable crop.x",
                "unreadable list.1.x", "unreadable list.2.x", "unreadable tags.*", "unreadable tags.*.x",
                "unreadable width",
            ])
        #expect(!"\(all)".contains("secret"))
    }

    @Test func aWholeValueMayBeAtFault() throws {
        #expect(try faults("[1]").count == 1)
        #expect(quality.faults(in: 0.5) == [])
        #expect(quality.faults(in: 7).map(\.kind) == [.invalid])
        #expect(quality.faults(in: "x").map(\.kind) == [.unreadable])
        #expect(DefaultKey<Int?>("count").faults(in: 5) == [])
        let deep = (0..<70).reduce(1 as PropertyList) { value, _ in [value] }
        #expect(DefaultKey<PropertyList?>("deep").faults(in: deep).map(\.kind) == [.refused])
    }

    /// Reading reports these values, because all of their properties have their defaults.
    @Test func aValueWithoutAKnownEntryIsAFault() throws {
        struct Plain: Codable { var port = 80 }
        func expectFault<Value>(_ key: DefaultKey<Value>, _ entry: PropertyList) throws {
            let suite = DefaultsSuite.inMemory([key.name: entry])
            let failures = Failures(of: suite)
            _ = suite[key]
            #expect(failures.kinds == [.unreadable])
            #expect(try suite.faults(key).map(\.kind) == [.unreadable, .unknownEntry])
            let error = #expect(throws: DefaultsError.self) { try suite.checkReadability(key) }
            #expect(error == failures.all.first)
        }
        try expectFault(resize, ["w": 1])
        try expectFault(resize, ["resize": ["width": 800]])
        try expectFault(DefaultKey<Resize?>("resize"), ["w": 1])
        try expectFault(DefaultKey("plain", default: Plain()), ["prot": 8080])
        try expectFault(DefaultKey("plain", default: Plain(), form: .jsonData), ["prot": 8080])
        // One known entry is enough: a newer release may have added the others.
        try DefaultsSuite.inMemory(["resize": ["w": 1, "width": 800]]).checkReadability(resize)
        try DefaultsSuite.inMemory(["resize": [:]]).checkReadability(resize)
    }

    @Test func dataIsListedAsItsTree() throws {
        let key = DefaultKey("resize", default: Resize(), form: .jsonData)
        let json = PropertyList.data(Data(#"{"width": 8, "wdith": 1}"#.utf8))
        #expect(
            key.faults(in: json).map { "\($0.kind) \($0.path)" } == [
                #"invalid ["width"]"#, #"unknown entry ["wdith"]"#,
            ])
        #expect(
            resize.faults(in: json).map { "\($0.kind) \($0.path)" } == [
                #"invalid ["width"]"#, #"unknown entry ["wdith"]"#,
            ])
    }

    private class Base: Codable { var a = 1 }
    private final class Derived: Base, @unchecked Sendable {
        var b = 2
        private enum Key: String, CodingKey { case b }
        override init() { super.init() }
        required init(from decoder: any Decoder) throws {
            b = try decoder.container(keyedBy: Key.self).decode(Int.self, forKey: .b)
            try super.init(from: decoder)
        }
        override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(b, forKey: .b)
        }
    }

    @Test func anEntryOfASuperclassIsKnown() {
        let key = DefaultKey<Derived?>("object")
        #expect(key.faults(in: ["a": 1, "b": 2]) == [])
        #expect(key.faults(in: ["a": 1, "b": 2, "c": 3]).map(\.path) == [["c"]])
    }

    @Test(arguments: Backend.allCases) func aSuiteAndItsContentsListTheFaultsOfKeys(backend: Backend) throws {
        try backend.withSuite { suite in
            let failures = Failures(of: suite)
            try suite.update { contents in
                contents["resize"] = ["width": 8, "wdith": 800]
                contents["quality"] = 7
            }
            let expected = [
                "invalid “resize” (Resize) at width: the value must be in 16...16384",
                "unknown entry “resize” (Resize) at wdith: the type has no such property",
                "invalid “quality” (Double): the value must be in 0.1...1.0",
            ]
            #expect(try suite.faults(resize, quality).map(\.description) == expected)
            #expect(try suite.contents().faults(resize, quality).map(\.description) == expected)
            #expect(try suite.faults(DefaultKey("none", default: 1)) == [])
            #expect(failures.all.isEmpty, "a list reports nothing")
            let error = #expect(throws: DefaultsError.self) { try suite.checkReadability(resize, quality) }
            #expect(error?.kind == .invalid && error?.path == ["width"])
            #expect(throws: DefaultsError.self) { try suite.checkReadability(Resize.self) }
            try suite.update { $0["resize"] = ["width": 800, "wdith": 800] }
            try suite.checkReadability(Resize.self)
            try suite.checkReadability(resize)
            let scoped = suite.scoped("user/")
            try scoped.update { $0["quality"] = "x" }
            #expect(try scoped.faults(quality).map(\.key) == ["user/quality"])
        }
    }

    @Test func aValueThatTheBackendCannotReadIsAFault() throws {
        let suite = DefaultsSuite(backend: KeyByKeyBackend(["quality": 1], unreadableKeys: ["quality"]))
        #expect(try suite.faults(quality).map(\.kind) == [.unreadable])
        #expect(throws: DefaultsError.self) { try suite.checkReadability(quality) }
    }

    // MARK: Types with code of their own

    private struct Super: DefaultConfig, Equatable {
        static let key = "super"
        struct Inner: Codable { var value: Int }
        private enum Key: String, CodingKey { case number }
        var number = 1
        init() {}
        init(from decoder: any Decoder) throws {
            number = try Inner(from: decoder.container(keyedBy: Key.self).superDecoder()).value
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try Inner(value: number).encode(to: container.superEncoder())
        }
    }
    private enum Either: Codable, Sendable {
        case pair(Pair)
        case raw(PropertyList)
        struct Pair: Codable, Sendable {
            var q: Int
            var w: Int
        }
        init(from decoder: any Decoder) throws {
            self = try (try? Pair(from: decoder)).map(Self.pair) ?? .raw(PropertyList(from: decoder))
        }
        func encode(to encoder: any Encoder) throws {
            switch self {
            case .pair(let pair): try pair.encode(to: encoder)
            case .raw(let raw): try raw.encode(to: encoder)
            }
        }
    }
    private struct Blob: Codable, Equatable, Sendable {
        var data: Data
        init(_ data: Data) { self.data = data }
        init(from decoder: any Decoder) throws {
            data = try decoder.singleValueContainer().decode(Data.self)
            guard data.count == 4 else {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: ""))
            }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(data)
        }
    }
    private struct Legacy: DefaultConfig, Equatable {
        static let key = "legacy"
        static let rules: [DefaultRule<Legacy>] = [.on(\.zoom, .in(1...10))]
        private enum Key: String, CodingKey { case zoom, z }
        var zoom = 1
        init() {}
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            zoom =
                try container.decodeIfPresent(Int.self, forKey: .zoom)
                ?? container.decodeIfPresent(Int.self, forKey: .z) ?? 1
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(zoom, forKey: .zoom)
        }
    }

    @Test func validValuesOfUnusualTypesHaveNoFault() throws {
        let suite = DefaultsSuite.inMemory()
        let failures = Failures(of: suite)
        suite[DefaultKey(Super.self)].number = 5
        let either = DefaultKey("either", default: Either.raw(1))
        suite[either] = .raw(["z": 1])
        let blob = DefaultKey("blob", default: Blob(Data([0, 0, 0, 0])), form: .jsonData)
        suite[blob] = Blob(Data([1, 2, 3, 4]))
        let copy = try DefaultsSuite.inMemory(
            Dictionary(uniqueKeysWithValues: suite.contents().map { ($0.key, $0.value) }))
        _ = (copy[DefaultKey(Super.self)], copy[either], copy[blob])
        #expect(try suite.faults(DefaultKey(Super.self), either, blob) == [])
        try suite.checkReadability(Super.self)
        #expect(failures.all.isEmpty)
    }

    @Test func aRuleIsCheckedForAnOldNameToo() throws {
        let suite = DefaultsSuite.inMemory(["legacy": ["z": 99]]).quiet
        #expect(suite[DefaultKey(Legacy.self)].zoom == 1)
        #expect(try suite.faults(DefaultKey(Legacy.self)).map(\.kind) == [.invalid])
        #expect(DefaultKey(Legacy.self).faults(in: [:]) == [])
    }

    @Test func aRuleForTheWholeHidesNoOtherFault() {
        struct Range: DefaultConfig {
            static let key = "range"
            static let rules: [DefaultRule<Range>] = [
                .on(\.low, .in(0...5)), DefaultRule("low below high") { $0.low < $0.high },
            ]
            var low = 1
            var high = 2
            var name = "x"
        }
        let faults = DefaultKey(Range.self).faults(in: ["low": 99, "high": -3, "name": 4, "zz": 1])
        #expect(
            Set(faults.map { "\($0.kind) \($0.path)" }) == [
                #"invalid ["low"]"#, "invalid []", #"unreadable ["name"]"#, #"unknown entry ["zz"]"#,
            ])
    }

    @Test func theIndicesAreThoseOfTheStoredElements() throws {
        struct Point: Codable, Sendable {
            var x = 0
            var y = 0
        }
        struct Path: DefaultConfig {
            static let key = "path"
            var points: [Point] = []
            var crops: [Resize.Crop] = []
        }
        func paths(_ json: String) throws -> [String] {
            try DefaultKey(Path.self).faults(in: PropertyList(json: Data(json.utf8)))
                .map { $0.path.joined(separator: ".") }.sorted()
        }
        #expect(try paths(#"{"wdith": 1, "crops": [{"x": "a"}]}"#) == ["crops.0.x", "wdith"])
        #expect(
            try paths(#"{"points": [{"x": 1, "y": 2, "zz": 1}, 5, {"x": 1, "y": 2, "zz": 1}]}"#) == [
                "points.0.zz", "points.1", "points.2.zz",
            ])
        #expect(
            DefaultKey<[Point]?>("points").faults(in: [5, ["x": 1, "y": 1], 6, 7]).map(\.path) == [["0"], ["2"], ["3"]])
    }

    @Test func keysThatAreDataAreNotShown() {
        struct Dynamic: Codable, Sendable {
            struct Key: CodingKey {
                var stringValue: String
                var intValue: Int? { nil }
                init?(stringValue: String) {
                    guard stringValue.hasSuffix("@ok") else { return nil }
                    self.stringValue = stringValue
                }
                init?(intValue: Int) { nil }
            }
            init() {}
            init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: Key.self) }
            func encode(to encoder: any Encoder) throws {}
        }
        let faults = DefaultKey("dynamic", default: Dynamic()).faults(in: ["ann@ok": 1, "bob@secret": 2])
        #expect(faults.map(\.path) == [["*"]])
    }

    @Test func jsonBesideAFaultIsReadAsItIs() throws {
        struct Holder: DefaultConfig {
            static let key = "holder"
            var any: PropertyList = 0
            var number = 1
        }
        for number in ["1", "\"bad\""] {
            let json = #"{"any": {"x": 0.12345678901234567890123456, "z": "$null"}, "number": \#(number)}"#
            let suite = DefaultsSuite.inMemory(["holder": .data(Data(json.utf8))])
            suite.onFailure = { _ in }
            #expect(suite[DefaultKey(Holder.self)].any == ["x": 0.12345678901234568, "z": "$null"])
        }
    }

    @Test func manyFaultsTakeNoTimeEach() {
        let part: PropertyList = ["x": "bad", "zz": 1]
        let list = PropertyList.dictionary(["list": .array(Array(repeating: part, count: 500))])
        #expect(resize.faults(in: list).count == 1_000)
    }

    // MARK: Messages

    private struct Stroke: Codable, Equatable, Sendable { var key = "" }
    private struct Shortcut: Codable, Equatable, Sendable {
        var first: Stroke?
        var second: Stroke?
    }

    @Test func aShapeThatChangedEntirelyIsReportedOnce() throws {
        let suite = DefaultsSuite.inMemory(["open": ["key": "t", "command": true], "resize": ["w": 1], "empty": [:]])
        let failures = Failures(of: suite)
        let shortcut = Shortcut(first: Stroke(key: "o"))
        for _ in 0..<3 {
            #expect(suite[DefaultKey("open", default: shortcut)] == shortcut)
            #expect(suite[resize] == Resize())
            #expect(suite[DefaultKey("empty", default: Shortcut())] == Shortcut())
        }
        struct Required: Codable, Equatable, Sendable {
            var first: Stroke
            var second: Stroke?
        }
        try suite.update { $0["close"] = ["key": "t"] }
        let close = DefaultKey("close", default: Required(first: Stroke(key: "w")))
        for _ in 0..<3 { #expect(suite[close].first.key == "w") }
        #expect(failures.all.map(\.key) == ["open", "resize", "close"])
        #expect(
            failures.all.first?.reason
                == "the type knows none of the stored entries; its defaults are used, and the entries are kept")
        // The entries stay.
        suite[resize].width = 800
        #expect(try suite.contents()["resize"] == ["w": 1, "width": 800])
        #expect(suite[DefaultKey("open", default: [String: PropertyList]())] == ["key": "t", "command": true])
    }

    private enum Documents {
        struct Document: Codable, Sendable {
            var title: String
            var stars: Int
        }
    }

    @Test func anElementThatIsLeftOutNamesTheRemedy() throws {
        let old: PropertyList = ["title": "a"]
        let suite = DefaultsSuite.inMemory(["list": [old], "byName": ["a": old, "b": 5], "last": old])
        let failures = Failures(of: suite)
        #expect(suite[DefaultKey("list", default: [Documents.Document]())].isEmpty)
        #expect(suite[DefaultKey("byName", default: [String: Documents.Document]())].isEmpty)
        #expect(suite[DefaultKey<Documents.Document?>("last")] == nil)
        let remedy =
            "“stars” is missing; this entry is left out; to keep it, make Document a DefaultConfig, or the property"
            + " optional"
        #expect(failures.all[0].reason == remedy)
        #expect(failures.all[1].reason.contains("this entry is left out"))
        #expect(
            failures.all[2].reason
                == "“stars” is missing; to keep it, make Document a DefaultConfig, or the property optional")
    }

    /// Two rules are broken, and the write replaces the second part.
    @Test func theErrorOfACopyIsAboutThePartThatIsLost() throws {
        struct Lens: DefaultConfig, Equatable {
            static let key = "lens"
            static let rules: [DefaultRule<Lens>] = [.on(\.zoom, .in(1...10)), .on(\.aperture, .in(1...22))]
            var zoom = 1
            var aperture = 2
        }
        let suite = DefaultsSuite.inMemory(["lens": ["zoom": 99, "aperture": 99]])
        let failures = Failures(of: suite)
        suite[DefaultKey(Lens.self)].aperture = 3
        #expect(try suite.contents()["lens"] == ["zoom": 99, "aperture": 3])
        #expect(failures.all.last?.path == ["aperture"])
        #expect(failures.all.last?.reason.contains("lens.unreadable") == true)
    }

    // MARK: Keys

    @Test func aKeyTellsItsRule() {
        #expect(quality.rule?.description == "in 0.1...1.0")
        #expect(DefaultKey("a", default: 1).rule == nil)
        #expect(resize.rule == nil)
    }

    @Test func keysAreEqualIfNameTypeAndFormAre() {
        let key = DefaultKey("a", default: 1)
        #expect(key == DefaultKey("a", default: 2, rule: .in(0...5)))
        #expect(key != DefaultKey("b", default: 1))
        #expect(key != DefaultKey("a", default: 1, form: .jsonData))
        #expect(DefaultKey("\u{e9}", default: 1) != DefaultKey("e\u{301}", default: 1))
        #expect(Set([key, DefaultKey("a", default: 7), DefaultKey("b", default: 1)]).count == 2)
    }

    @Test func oneKeyIsReadWithoutTheOthers() throws {
        var values: [String: PropertyList] = ["quality": 0.5]
        for number in 0..<100 { values["k\(number)"] = 1 }
        let spy = SpyBackend(values)
        let suite = DefaultsSuite(backend: spy)
        let reads = spy.reads
        #expect(try suite.read(quality) == 0.5)
        #expect(spy.reads - reads <= 2)
        let broken = DefaultsSuite(backend: KeyByKeyBackend(["quality": 0.5, "a": 1], unreadableKeys: ["a"]))
        #expect(try broken.read(quality) == 0.5)
        #expect(throws: DefaultsError.self) { try DefaultsSuite.inMemory(["quality": "x"]).read(quality) }
        suite.layers = [.values(["quality": 0.7]), .stored]
        #expect(try suite.read(quality) == 0.7)
    }

    @Test func aDraftIsAppliedWithOtherChanges() throws {
        let suite = DefaultsSuite.inMemory(["resize": ["height": 900]])
        var draft = PersistentStore<Resize>(in: suite).draft()
        draft.value.width = 640
        // Another window changes another property.
        suite[resize].height = 700
        try suite.update { contents in
            try draft.apply(to: &contents)
            contents[quality] = 0.3
        }
        #expect(try suite.contents() == ["resize": ["width": 640, "height": 700], "quality": 0.3])
        draft.revert()
        #expect(!draft.isChanged && draft.value.height == 700)
        draft.value.width = 8
        #expect(fails(with: .invalid) { try suite.update { try draft.apply(to: &$0) } })
    }
}
