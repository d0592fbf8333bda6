import Foundation
import TestSupport
import Testing
import TypedDefaults

struct SuiteContentsJSONTests {
    private static func contents(_ entries: [(String, PropertyList)]) -> SuiteContents {
        var contents: SuiteContents = [:]
        for (key, value) in entries { contents[key] = value }
        return contents
    }

    private static func read(_ text: String) throws -> SuiteContents { try SuiteContents(json: Data(text.utf8)) }

    @Test func theTextIsSortedWithOneLinePerEntry() throws {
        let contents: SuiteContents = [
            "volume": 0.5, "enabled": true, "empty": [:], "window": ["y": 40, "x": [12, -0.0]],
            "icon": .data(Data([1, 2])), "since": .date(Date(timeIntervalSinceReferenceDate: 1.5)),
            "scale": .double(.infinity), "odd": ["$data": "no data"], "text": "a\"\n\u{1B}\u{202E}é",
        ]
        let text = """
            {
              "empty": {},
              "enabled": true,
              "icon": {"$data": "AQI="},
              "odd": {"$dictionary": {
                "$data": "no data"
              }},
              "scale": {"$double": "inf"},
              "since": {"$date": 1.5},
              "text": "a\\"\\n\\u001b\\u202eé",
              "volume": 0.5,
              "window": {
                "x": [
                  12,
                  -0.0
                ],
                "y": 40
              }
            }
            """
        #expect(String(decoding: contents.json(), as: UTF8.self) == text)
        #expect(try Self.read(text) == contents)
        #expect(([:] as SuiteContents).json() == Data("{}".utf8))
    }

    @Test func everyEscapeOfJSONIsRead() throws {
        let text = #"{"a": "\b\f\n\r\t\/\\\"\u0041\ud83d\ude00"}"#
        #expect(try Self.read(text) == ["a": "\u{8}\u{C}\n\r\t/\\\"A😀"])
        #expect(try Self.read("\u{FEFF}" + text) == Self.read(text), "a byte order mark may come first")
    }

    @Test func textThatIsNotUTF8IsRefused() {
        let json = Data(#"{"a": ""#.utf8) + [0xFF] + Data(#""}"#.utf8)
        #expect(fails(with: .unreadable) { _ = try SuiteContents(json: json) })
    }

    private static let keys =
        Samples.strings + ["$data", "$date", "$double", "$dictionary", "\"\\/", "\u{7F}\u{2028}", "a\nb\t", "😀"]

    /// Returns a random tree, often with a dictionary that looks like a tag.
    private static func randomTree(using generator: inout SeededGenerator) -> PropertyList {
        let tree = PropertyList.random(using: &generator)
        return Bool.random(using: &generator) ? tree : .dictionary([keys.randomElement(using: &generator)!: tree])
    }

    @Test func randomContentsReadBackBitForBit() throws {
        for seed in 0..<2_000 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let contents = Self.contents(
                (0..<Int.random(in: 0...3, using: &generator)).map { _ in
                    (Self.keys.randomElement(using: &generator)!, Self.randomTree(using: &generator))
                })
            let json = contents.json()
            #expect(try SuiteContents(json: json) == contents, "seed \(seed)")
            #expect(try SuiteContents(json: json).json() == json, "seed \(seed)")
            // Other tools can also parse the JSON.
            #expect(throws: Never.self, "seed \(seed)") { try JSONSerialization.jsonObject(with: json) }
        }
    }

    @Test func keysAreComparedByTheirBytes() throws {
        let contents = Self.contents([(Samples.composed, 1), (Samples.decomposed, 2)])
        #expect(contents.keys.count == 2)
        #expect(try SuiteContents(json: contents.json()) == contents)
        let nested = "{\"a\": {\"\(Samples.composed)\": 1, \"\(Samples.decomposed)\": 2}}"
        #expect(fails(with: .refused) { _ = try Self.read(nested) })
    }

    /// Returns a tree of values that every JSON tool supports.
    private static func plainTree(depth: Int, using generator: inout SeededGenerator) -> HandWritten.JSONValue {
        switch Int.random(in: 0..<(depth == 0 ? 4 : 6), using: &generator) {
        case 0: .bool(Bool.random(using: &generator))
        case 1: .integer(Int.random(in: -(1 << 53)...(1 << 53), using: &generator))
        case 2: .double(Double.random(in: -1...1, using: &generator))
        case 3: .string(["", "a", "é\u{1}", "\"\\/", "😀\u{2028}"].randomElement(using: &generator)!)
        case 4:
            .array(
                (0..<Int.random(in: 0...3, using: &generator)).map { _ in plainTree(depth: depth - 1, using: &generator)
                })
        default:
            .dictionary(
                Dictionary(
                    (0..<Int.random(in: 0...3, using: &generator)).map { number in
                        ("key \(number)", plainTree(depth: depth - 1, using: &generator))
                    }
                ) { first, _ in first })
        }
    }

    @Test func otherToolsReadAndWritePlainValues() throws {
        for seed in 0..<500 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let values = [
                "a": Self.plainTree(depth: 3, using: &generator), "b": Self.plainTree(depth: 3, using: &generator),
            ]
            let contents = Self.contents(try values.map { ($0.key, try PropertyList(encoding: $0.value)) })
            #expect(try JSONDecoder().decode([String: HandWritten.JSONValue].self, from: contents.json()) == values)
            let encoder = JSONEncoder()
            encoder.outputFormatting = Bool.random(using: &generator) ? .prettyPrinted : []
            #expect(try SuiteContents(json: encoder.encode(values)) == contents, "seed \(seed)")
        }
    }

    @Test(arguments: [
        ("", DefaultsError.Kind.unreadable, "line 1, column 1: unexpected end"),
        ("{", .unreadable, "line 1, column 2: a key in quotation marks is missing"),
        ("{\"a\": 1,\n  \"é\" 2}", .unreadable, "line 2, column 7: “:” is missing"),
        ("{\"a\": 1} x", .unreadable, "line 1, column 10: unexpected text after the end"),
        ("{\"a\": tru}", .unreadable, "line 1, column 7: a value is missing"),
        ("{\"a\": 01}", .unreadable, "line 1, column 9: a number must not start with 0"),
        ("{\"a\": 1.}", .unreadable, "line 1, column 9: a digit is missing"),
        ("{\"a\": \"x}", .unreadable, "line 1, column 10: a string does not end"),
        ("{\"a\": \"\\x\"}", .unreadable, "line 1, column 10: an unknown escape"),
        ("{\"a\": \"\\ud800\"}", .unreadable, "line 1, column 14: half of a surrogate pair"),
        ("{\"a\": \"\\u12\"}", .unreadable, "line 1, column 10: “\\u” needs four hexadecimal digits"),
        ("{\"a\": \"x", .unreadable, "line 1, column 9: a string does not end"),
        ("{\"a\": [1 2]}", .unreadable, "line 1, column 10: “,” or “]” is missing"),
        ("[1]", .refused, "line 1, column 1: a suite is a dictionary of keys and values"),
        ("{\"$data\": \"AA==\"}", .refused, "line 1, column 1: a suite is a dictionary of keys and values"),
        ("{\"a\":\n[null]}", .refused, "line 2, column 2: property lists have no null"),
        ("{\"a\": 1, \"a\": 2}", .refused, "line 1, column 15: a key occurs twice"),
        ("{\"a\": 18446744073709551616}", .refused, "line 1, column 7: an integer beyond 64 bits"),
        ("{\"a\": 1e999}", .refused, "line 1, column 7: a number too large for a double"),
        ("{\"a\": {\"$data\": \"?\"}}", .refused, "line 1, column 7: invalid base64"),
        ("{\"a\": {\"$date\": \"x\"}}", .refused, "line 1, column 7: “$date” must be a number of seconds"),
        (
            "{\"a\": {\"$double\": \"1\"}}", .refused,
            "line 1, column 7: “$double” must be “inf”, “-inf”, “nan” or the bits of a double"
        ),
        (
            "{\"a\": {\"$double\": \"0x+1\"}}", .refused,
            "line 1, column 7: “$double” must be “inf”, “-inf”, “nan” or the bits of a double"
        ),
        (
            "{\"a\": {\"$other\": 1}}", .refused,
            "line 1, column 7: an unknown tag; a dictionary with only this key is written {\"$dictionary\": {…}}"
        ),
    ])
    func errorsNameThePositionButNoValue(text: String, kind: DefaultsError.Kind, reason: String) throws {
        let error = #expect(throws: DefaultsError.self) { try Self.read(text) }
        #expect(error?.kind == kind)
        #expect(error?.reason == "JSON, \(reason)")
    }

    @Test(arguments: [512, 8_192]) func deepTextIsAnError(kilobytes: Int) {
        for levels in [65, 129, 300, 100_000] {
            let text = "{\"a\": " + String(repeating: "[", count: levels) + String(repeating: "]", count: levels) + "}"
            let isRefused = withSmallStack(kilobytes: kilobytes) { () -> Bool in (try? Self.read(text)) == nil }
            #expect(isRefused)
        }
    }
}
