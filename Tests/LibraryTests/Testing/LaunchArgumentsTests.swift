import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

/// Returns the values that a suite reads from arguments, as they would be stored.
private func read(_ arguments: [String], _ key: String) -> PropertyList? {
    let suite = DefaultsSuite.inMemory()
    suite.layers = [.arguments(arguments), .stored]
    return suite[DefaultKey<PropertyList?>(key)]
}

@Suite(.ownThreads) struct LaunchArgumentsTests {
    // Reading

    @Test func argumentsArePairsOfANameAndAValue() {
        let arguments = [
            "/bin/app", "-a", "1", "file", "-b", "-c", "2", "-", "3", "--d", " 4\n", "-a", "5", "-é", "6", "-e", "",
            "-f",
        ]
        let values = ["a", "b", "c", "", "-d", "é", "e", "f", "file", "/bin/app"].map { read(arguments, $0) }
        #expect(values == ["5", nil, "2", nil, "4", "6", "", nil, nil, nil])
        #expect(read(["-a"], "a") == nil)
        #expect(read([], "a") == nil)
    }

    private static let foreign: [String] = [
        "<true/>", "<false></false>", "<integer>-7</integer>", "<integer>18446744073709551615</integer>",
        "<integer>18446744073709551616</integer>", "<real>inf</real>", "<real>-infinity</real>", "<real>nan</real>",
        "<real>2</real>", "<real>5e-324</real>", "<string> a\n</string>", "<string></string>", "<string/>",
        "<string>a&#13;b&#0;c &lt;&gt;&amp;&quot;&apos; &#xE9;</string>", "<string>&unknown;</string>",
        "<string>&amp;\u{301} ;\u{301}</string>", "<string>a", "<data>AQI=</data>", "<data> A Q\nI= </data>",
        "<array/>",
        "<dict/>",
        "<date>2001-01-01T00:00:00Z</date>", "<date>1969-07-20T20:17:40Z</date>", "<date>soon</date>",
        "<dict><key>a</key><array><real>2.0</real><integer>2</integer><true/></array></dict>",
        "<dict> <key> a </key>\n<string>x</string> </dict>", "<dict><key>a</key></dict>", "<dict><true/></dict>",
        "<plist version=\"1.0\"><integer>3</integer></plist>", "<array><true/>",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"x\">\n"
            + "<plist version=\"1.0\"><array><string>a</string></array></plist>", "<unknown/>", "<>", "<",
        "(a, \"b c\", <0102>)", "(a,)", "()", "(a b)", "(a", "(\n  a,\n  (b)\n)", "{a = 1; \"b\" = (2);}", "{a;}", "{}",
        "{a = 1}", "{", "\"a\\U00e9\\n\\\"\"", "\"a\" b", "\"a", "('x', \"'\")", "<0102 03>", "<>", "<012>", "<xy>",
        "{\"a\": 1}", "[1]", "[", "plain", "{a = {b = (c, {d = <00>;});};}", "($a_/:.-1)", "(é)", "\"é\"",
    ]

    /// Compares with Foundation, whose argument domain reads a value as a property list if it
    /// begins with one of these characters, and as a string if that fails. A real without a
    /// fraction is an integer here.
    @Test(arguments: foreign) func valuesAreReadAsFoundationReadsThem(text: String) throws {
        var expected = PropertyList.string(text)
        if "{[(<\"".contains(text.first!),
            let object = try? PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil)
        {
            expected = withoutWholeReals(try #require(propertyList(object)))
        }
        #expect(read(["-key", text], "key") == expected)
    }

    private func withoutWholeReals(_ value: PropertyList) -> PropertyList {
        switch value {
        case .double(let value): Int64(exactly: value).map(PropertyList.integer) ?? .double(value)
        case .array(let elements): .array(elements.map(withoutWholeReals))
        case .dictionary(let entries): .dictionary(entries.mapValues(withoutWholeReals))
        default: value
        }
    }

    @Test func textBehindAValueMakesItAString() {
        #expect(read(["-a", "<integer>7</integer> x"], "a") == "<integer>7</integer> x")
        #expect(read(["-a", "(a) b"], "a") == "(a) b")
    }

    /// Foundation's numbers on Linux are not bridged.
    private func propertyList(_ object: Any) -> PropertyList? {
        switch object {
        case let elements as [Any]: return .array(elements.compactMap(propertyList))
        case let entries as [String: Any]: return .dictionary(entries.compactMapValues(propertyList))
        case let number as NSNumber where type(of: object) is NSNumber.Type || type(of: object) is Bool.Type:
            switch number.objCType.pointee {
            case CChar(UInt8(ascii: "c")), CChar(UInt8(ascii: "B")): return .bool(number.boolValue)
            case CChar(UInt8(ascii: "d")): return .double(number.doubleValue)
            case CChar(UInt8(ascii: "Q")): return .unsigned(number.uint64Value)
            default: return .integer(number.int64Value)
            }
        default: return try? PropertyList(object)
        }
    }

    @Test func aValueThatIsNestedTooDeepIsAString() {
        for (start, end) in [("(", ")"), ("<array>", "</array>")] {
            func text(_ levels: Int) -> String {
                String(repeating: start, count: levels) + String(repeating: end, count: levels)
            }
            #expect(read(["-a", text(PropertyList.depthLimit)], "a") == .nested(PropertyList.depthLimit))
            #expect(read(["-a", text(PropertyList.depthLimit + 1)], "a") == .string(text(PropertyList.depthLimit + 1)))
            #expect(read(["-a", text(100_000)], "a") == .string(text(100_000)))
        }
    }

    #if os(macOS) || os(Linux)
        // In its own process, because a failure is a stack overflow.
        @Test func deepTextIsReadOnAStackOf256Kilobytes() async {
            await #expect(processExitsWith: .success) {
                for start in ["(", "{a=", "<array>", "<dict><key>a</key>", "(\"))\","] {
                    for levels in [60, 400, 600, 20_000] {
                        let text = String(repeating: start, count: levels)
                        let closed = text + String(repeating: start == "(" ? ")" : "</array>", count: levels)
                        precondition(withSmallStack(kilobytes: 256) { read(["-a", text], "a") } == .string(text))
                        precondition(withSmallStack(kilobytes: 256) { read(["-a", closed], "a") } != nil)
                    }
                }
            }
        }
    #endif

    @Test func cutAndFuzzedValuesNeverTrap() {
        var generator = SeededGenerator(seed: 15)
        for text in Self.foreign {
            for length in 0...text.unicodeScalars.count {
                _ = read(["-a", String(text.unicodeScalars.prefix(length))], "a")
            }
            for _ in 0..<20 {
                var bytes = Array(text.utf8)
                for _ in 0..<3 {
                    bytes[Int.random(in: 0..<bytes.count, using: &generator)] =
                        Array("<>/&;(){}\"\\=,#a0 ".utf8).randomElement(using: &generator)!
                }
                _ = read(["-a", String(decoding: bytes, as: UTF8.self)], "a")
            }
        }
    }

    // Writing

    private struct Profile: DefaultConfig, Equatable {
        static let key = "profile"
        var name = "é & <b>"
        var born = Date(timeIntervalSinceReferenceDate: 0.1)
        var picture = Data([0, 1])
        var scores = [0.1, -0.0]
        var url = URL(string: "https://example.com/?a=1&b=2")
    }

    @Test func typedValuesAreReadBack() throws {
        let volume = DefaultKey("volume", default: 0)
        let date = DefaultKey("date", default: Date.distantPast)
        let arguments = [String].defaults {
            $0[volume] = -7
            $0[date] = Date(timeIntervalSinceReferenceDate: 1.25)
            $0[Profile.self].scores.append(.infinity)
            $0[stored: CameraConfig.self] = CameraConfig(size: .large)
            $0["user-42/volume"] = 3
        }
        #expect(arguments.count == 10)
        let suite = DefaultsSuite.inMemory()
        suite.layers = [.arguments(["/app"] + arguments + ["-other", "x"]), .stored]
        #expect(suite[volume] == -7)
        #expect(suite[date] == Date(timeIntervalSinceReferenceDate: 1.25))
        #expect(PersistentStore<Profile>(in: suite).value == Profile(scores: [0.1, -0.0, .infinity]))
        #expect(PersistentStore<CameraConfig>(in: suite).get()?.size == .large)
        #expect(suite.scoped("user-42/")[volume] == 3)
        #expect(try suite.keys() == [])
    }

    @Test func theArgumentsAreSortedXML() {
        let arguments = [String].defaults {
            $0["b"] = ["x": [1, 2.5, true], "a": "<&"]
            $0["a"] = .date(Date(timeIntervalSinceReferenceDate: 0))
            $0["-c"] = "-"
        }
        #expect(
            arguments == [
                "--c", "<string>-</string>", "-a", "<date>2001-01-01T00:00:00Z</date>", "-b",
                "<dict><key>a</key><string>&#60;&#38;</string><key>x</key><array><integer>1</integer><real>2.5</real>"
                    + "<true/></array></dict>",
            ])
    }

    /// A value that the decoder does not read back is also in a comment, which other readers
    /// ignore.
    @Test func valuesWithoutAnExactFormInXMLHaveOneInJSON() {
        let arguments = [String].defaults {
            $0["a"] = 2.0
            $0["b"] = .date(Date(timeIntervalSinceReferenceDate: 0.5))
            $0["c"] = ["-->\u{301}": 1.0]
        }
        #expect(
            arguments == [
                "-a", "<!--2.0--><real>2.0</real>",
                "-b", "<!--{\"$date\": 0.5}--><date>2001-01-01T00:00:00Z</date>",
                "-c",
                "<!--{\"--\\u003e\u{301}\": 1.0}--><dict><key>--&#62;\u{301}</key><real>1.0</real></dict>",
            ])
        #expect(read(arguments, "a") == 2.0)
        #expect(read(["-a", "<!--{--><true/>"], "a") == "<!--{--><true/>")
    }

    @Test func aKeyThatTheBodyRemovesHasNoArgument() {
        let optional = DefaultKey<Int?>("optional")
        let arguments = [String].defaults {
            $0[optional] = 5
            $0[optional] = nil
            $0["a"] = 1
            $0["a"] = nil
            $0.remove(DefaultKey("b", default: 0))
        }
        #expect(arguments == [])
        #expect(throws: DefaultsError.self) {
            try [String].defaults { _ in throw DefaultsError(.refused, reason: "for a test") }
        }
    }

    @Test func everyPropertyListIsReadBackExactly() throws {
        var generator = SeededGenerator(seed: 1)
        for round in 0..<3_000 {
            let value = PropertyList.random(using: &generator)
            let key = "k" + (Samples.strings.randomElement(using: &generator)!).filter { $0 != "\0" }
            let arguments = [String].defaults { $0[key] = value }
            #expect(arguments.allSatisfy { !$0.utf8.contains(0) })
            #expect(read(arguments, key) == value, "round \(round): \(arguments)")
        }
        let numbers = (0...0x10FFFF as ClosedRange<UInt32>).filter { $0 < 0x3000 || $0 % 97 == 0 }
        let scalars = numbers.compactMap { UnicodeScalar($0) }
        for start in stride(from: 0, to: scalars.count, by: 500) {
            let texts = scalars[start...].prefix(500).map { PropertyList.string("&\($0);\($0)") }
            let value = PropertyList.array(texts)
            #expect(read(.defaults { $0["k"] = value }, "k") == value)
        }
    }

    @Test func foundationReadsPlainValues() throws {
        var generator = SeededGenerator(seed: 2)
        var count = 0
        for _ in 0..<3_000 {
            let value = PropertyList.random(using: &generator)
            guard isPlain(value) else { continue }
            count += 1
            let text = try #require([String].defaults { $0["k"] = value }.last)
            let object = try PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil)
            #expect(propertyList(object) == value)
        }
        #expect(count > 500)
    }

    /// Whether Foundation reads the value exactly. On Linux, it drops a byte order mark.
    private func isPlain(_ value: PropertyList) -> Bool {
        switch value {
        case .bool, .integer, .unsigned: true
        case .string(let text): text != "\u{FEFF}"
        case .double(let value): value.isFinite
        case .array(let elements): elements.allSatisfy(isPlain)
        case .dictionary(let entries): entries.allSatisfy { $0 != "\u{FEFF}" && isPlain($1) }
        case .data, .date: false
        }
    }

    @Test(.collectsIssues) func whatCannotBeAnArgumentIsAFailureOfTheTest() {
        var arguments: [String] = []
        func expectIssue(_ text: String, _ body: (inout SuiteContents) -> Void) {
            let issues = CollectedIssues.of { arguments = .defaults(body) }
            #expect(issues.count == 1)
            #expect(issues.first?.text.contains(text) == true)
        }
        expectIssue("refused “deep”: nested deeper") { $0["deep"] = .nested(PropertyList.depthLimit + 1) }
        #expect(arguments == [])
        expectIssue("refused “config”") {
            $0[DefaultKey("config", default: [Unwritable()])] = [Unwritable()]
            $0["a"] = 1
        }
        #expect(arguments == [])
        expectIssue("The key “”") { contents in
            contents[""] = 1
            contents["a"] = 1
        }
        #expect(arguments == ["-a", "<integer>1</integer>"])
        expectIssue("cannot be a launch argument") { $0["a\0"] = 1 }
    }

    private struct Unwritable: Codable {
        func encode(to encoder: any Encoder) throws {
            throw EncodingError.invalidValue(0, .init(codingPath: [], debugDescription: "no form"))
        }
    }
}
