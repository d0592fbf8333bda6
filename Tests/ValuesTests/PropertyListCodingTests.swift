import Foundation
import TestSupport
import Testing
import TypedDefaults

/// Tests the forms, the exactness and the refusals of the coder. Nil is in `NilFormTests`, errors
/// and depth in `CodingErrorTests`.
struct PropertyListCodingTests {
    /// Encodes, decodes and encodes again. The second encoding shows differences that `==` ignores,
    /// such as the sign of zero.
    private func roundTrip<Value: Codable & Equatable>(
        _ value: Value, as form: PropertyList? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let stored = try PropertyList(encoding: value)
        if let form { #expect(stored == form, sourceLocation: sourceLocation) }
        let copy = try stored.decode(Value.self)
        #expect(copy == value, sourceLocation: sourceLocation)
        #expect(try PropertyList(encoding: copy) == stored, sourceLocation: sourceLocation)
        // As an entry, as an element and as the wrapped value of an optional.
        #expect(
            try PropertyList(encoding: ["a": value]).decode([String: Value].self) == ["a": value],
            sourceLocation: sourceLocation)
        #expect(try PropertyList(encoding: [value]).decode([Value].self) == [value], sourceLocation: sourceLocation)
        #expect(
            try PropertyList(encoding: Optional(value)).decode(Value?.self) == value, sourceLocation: sourceLocation)
        #expect(
            try PropertyList(encoding: [value, nil]).decode([Value?].self) == [value, nil],
            sourceLocation: sourceLocation)
    }

    private enum Size: String, Codable, CodingKeyRepresentable { case large, medium }
    private enum Plain: Int, Codable { case zero, one }
    private enum Shape: Codable, Equatable {
        case point
        case circle(radius: Double)
        case pair(Int, String?)
        indirect case group([Shape])
    }
    private struct Camera: Codable, Equatable {
        var savesToCameraRoll = true
        var size = Size.medium
        var date = Date(timeIntervalSinceReferenceDate: 0.1)
        var icon = Data([1, 2])
        var tags: [String] = ["a"]
        var site = URL(string: "https://example.com/a?b#c")
        var parent: [Camera] = []
    }
    private struct Structured: Codable, Hashable { var x: Int }
    private struct Empty: Codable, Equatable {}

    @Test func structsAreDictionaries() throws {
        try roundTrip(
            Camera(),
            as: [
                "savesToCameraRoll": true, "size": "medium", "date": .date(Date(timeIntervalSinceReferenceDate: 0.1)),
                "icon": .data(Data([1, 2])), "tags": ["a"], "site": "https://example.com/a?b#c", "parent": [],
            ])
        try roundTrip(Camera(size: .large, parent: [Camera(), Camera(parent: [Camera()])]))
        try roundTrip(Empty(), as: [:])
    }

    @Test func enumsWithPayloadsAreDictionaries() throws {
        try roundTrip(Shape.point, as: ["point": [:]])
        try roundTrip(Shape.circle(radius: 1), as: ["circle": ["radius": 1.0]])
        try roundTrip(Shape.pair(1, "a"), as: ["pair": ["_0": 1, "_1": "a"]])
        try roundTrip(Shape.pair(1, nil))
        try roundTrip(Shape.group([.point, .group([]), .circle(radius: -0.0)]))
    }

    @Test func collectionsAreArraysAndDictionaries() throws {
        try roundTrip([1, 2, 3], as: [1, 2, 3])
        try roundTrip([[Int]](), as: [])
        try roundTrip([[1], [], [2, 3]], as: [[1], [], [2, 3]])
        try roundTrip(["a": [1]], as: ["a": [1]])
        try roundTrip([Int: String](), as: [:])
        try roundTrip([5: "a", -1: "b"], as: ["5": "a", "-1": "b"])
        try roundTrip([Size.large: 1], as: ["large": 1])
        try roundTrip([Plain.one: 1], as: [1, 1])
        try roundTrip([Structured(x: 1): "a"], as: [["x": 1], "a"])
        try roundTrip(Set([5]), as: [5])
        #expect(try PropertyList(encoding: Set(0..<100)).decode() == Set(0..<100))
        #expect(
            try PropertyList(encoding: Dictionary(uniqueKeysWithValues: (0..<100).map { (Structured(x: $0), $0) }))
                .decode([Structured: Int].self).count == 100)
    }

    @Test func standardTypesKeepTheirCodableForm() throws {
        try roundTrip(1..<5, as: [1, 5])
        try roundTrip(1...5, as: [1, 5])
        #expect(try PropertyList(encoding: 1...) == [1])
        #expect(try PropertyList(encoding: ...5.5).decode(PartialRangeThrough<Double>.self).upperBound == 5.5)
        let id = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
        try roundTrip(id, as: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
        try roundTrip(CGFloat(-0.0), as: -0.0)
        try roundTrip(Duration.seconds(5))
        try roundTrip(Locale(identifier: "de_CH"))
        try roundTrip(DateComponents(year: 2026, month: 2))
        try roundTrip(IndexSet([1, 2, 9]))
    }

    /// Reads a value back alone, as an element, as an optional element and as an entry.
    private func copies<Value: Codable>(of value: Value) throws -> [Value] {
        [
            try PropertyList(encoding: value).decode(Value.self),
            try PropertyList(encoding: [value]).decode([Value].self)[0],
            try #require(try PropertyList(encoding: [value, nil]).decode([Value?].self)[0]),
            try #require(try PropertyList(encoding: ["a": value]).decode([String: Value].self)["a"]),
        ]
    }

    @Test(arguments: Samples.dates.indices) func datesAreExact(index: Int) throws {
        let date = Samples.dates[index]
        #expect(try PropertyList(encoding: date) == .date(date))
        let bits = date.timeIntervalSinceReferenceDate.bitPattern
        for copy in try copies(of: date) { #expect(copy.timeIntervalSinceReferenceDate.bitPattern == bits) }
    }

    @Test(arguments: Samples.data) func dataIsData(data: Data) throws {
        try roundTrip(data, as: .data(data))
    }

    @Test(arguments: Samples.strings) func stringsKeepTheirBytes(string: String) throws {
        #expect(try PropertyList(encoding: string) == .string(string))
        let keys = try PropertyList(encoding: [string: 1]).decode([String: Int].self).keys
        for copy in try copies(of: string) + keys { #expect(Array(copy.utf8) == Array(string.utf8)) }
    }

    @Test(arguments: Samples.doubles.indices) func doublesKeepTheirBits(index: Int) throws {
        let value = Samples.doubles[index]
        #expect(try PropertyList(encoding: value) == .double(value))
        for copy in try copies(of: value) { #expect(copy.bitPattern == value.bitPattern) }
        for copy in try copies(of: CGFloat(value)) { #expect(copy.native.bitPattern == value.bitPattern) }
    }

    @Test(arguments: Samples.floats.indices) func floatsKeepTheirBits(index: Int) throws {
        let value = Samples.floats[index]
        for copy in try copies(of: value) { #expect(copy.bitPattern == value.bitPattern) }
        if !value.isNaN { #expect(try PropertyList(encoding: value) == .double(Double(value))) }
    }

    @Test func integersReachTheirLimits() throws {
        func check<Number: FixedWidthInteger & Codable>(_ type: Number.Type) throws {
            for value in [Number.min, .max, 0, 1, Number.max / 2] {
                try roundTrip(value, as: PropertyList(exactly: value)!)
            }
        }
        let types: [any (FixedWidthInteger & Codable).Type] = [
            Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self, UInt16.self, UInt32.self,
            UInt64.self,
        ]
        for type in types { try check(type) }
    }

    @Test(arguments: [
        "https://example.com", "https://example.com/a%20b?c=d#e", "file:///tmp/a", "file:///tmp/a/", "/tmp", "a",
        "mailto:a@b.c",
        "https://example.com:8080/%7Ea/../b/./c", "https://b\u{FC}cher.example/", "data:,a", "#a", "?a=b",
    ])
    func urlsAreTheirStrings(text: String) throws {
        let url = try #require(URL(string: text))
        try roundTrip(url, as: .string(url.absoluteString))
    }

    @Test func urlsKeepTheirBase() throws {
        let base = try #require(URL(string: "https://example.com/a/b"))
        let url = try #require(URL(string: "../c?d", relativeTo: base))
        try roundTrip(url, as: ["relative": "../c?d", "base": "https://example.com/a/b"])
        let copy = try PropertyList(encoding: url).decode(URL.self)
        #expect(copy.baseURL == base)
        #expect(copy.relativeString == "../c?d")
        let file = URL(filePath: "b", relativeTo: URL(filePath: "/tmp/", directoryHint: .isDirectory))
        try roundTrip(file)
    }

    @Test(
        arguments: [
            ("0", "0"), ("1.1", "1.1"), ("-1.1", "-1.1"), ("NaN", "NaN"), ("0.1", "0.1"), ("100", "100"),
            ("3.14159265358979323846264338327950288419", nil), ("18446744073709551616", "18446744073709551616"),
            ("1e127", nil), ("-1e127", nil), ("1e-127", nil), ("340282366920938463463374607431768211455", nil),
            ("123456789012345678901234567890.12345678", nil),
        ] as [(String, String?)])
    func decimalsAreTheirDigits(text: String, form: String?) throws {
        let decimal = try text == "NaN" ? .nan : #require(Decimal(string: text))
        let stored = try PropertyList(encoding: decimal)
        if let form { #expect(stored == .string(form)) }
        let copy = try stored.decode(Decimal.self)
        #expect(copy.isNaN == decimal.isNaN)
        #expect(copy.isNaN || copy == decimal)
        #expect(try PropertyList(encoding: [decimal]).decode([Decimal].self)[0].description == decimal.description)
    }

    @Test(arguments: [
        Decimal.greatestFiniteMagnitude, -Decimal.greatestFiniteMagnitude, .leastNonzeroMagnitude,
        -.leastNonzeroMagnitude, .pi,
    ])
    func decimalsReachTheirLimits(decimal: Decimal) throws {
        try roundTrip(decimal)
    }
}

extension PropertyListCodingTests {
    /// The stored value, the type to read it as, and the expected value; `nil` if it is refused.
    private func expect<Value: Codable & Equatable>(
        _ stored: PropertyList, reads value: Value?, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect((try? stored.decode(Value.self)) == value, sourceLocation: sourceLocation)
        #expect(
            (try? PropertyList.array([stored]).decode([Value].self)) == value.map { [$0] },
            sourceLocation: sourceLocation)
        #expect(
            (try? PropertyList.dictionary(["a": stored]).decode([String: Value].self)) == value.map { ["a": $0] },
            sourceLocation: sourceLocation)
    }

    @Test func booleansAreAlsoReadFromZeroAndOne() {
        expect(true, reads: true)
        expect(1, reads: true)
        expect(0, reads: false)
        for stored in [2, -1, 1.0, 0.0, "true", "1", "YES", [], [:], .data(Data([1]))] as [PropertyList] {
            expect(stored, reads: nil as Bool?)
        }
    }

    @Test func integersAreAlsoReadFromWholeDoubles() {
        expect(5.0, reads: 5)
        expect(-5.0, reads: -5 as Int8)
        expect(-0.0, reads: 0)
        expect(18_446_744_073_709_549_568.0, reads: 18_446_744_073_709_549_568 as UInt64)
        for stored in [
            1.5, 1e300, .double(.nan), .double(.infinity), 9_223_372_036_854_775_808.0, 9_223_372_036_854_775_808, true,
            false,
            "5", [5], ["a": 5], .date(Date(timeIntervalSinceReferenceDate: 5)), .data(Data([5])),
        ] as [PropertyList] {
            expect(stored, reads: nil as Int?)
        }
    }

    @Test func numbersThatDoNotFitAreNotCut() {
        expect(300, reads: nil as Int8?)
        expect(300.0, reads: nil as UInt8?)
        expect(-1, reads: nil as UInt?)
        expect(-1, reads: nil as UInt64?)
        expect(127, reads: 127 as Int8)
        expect(18_446_744_073_709_551_615, reads: nil as Int64?)
    }

    @Test func doublesAreAlsoReadFromIntegersTheyHoldExactly() {
        expect(5, reads: 5.0)
        expect(9_007_199_254_740_992, reads: 9_007_199_254_740_992.0)
        expect(9_007_199_254_740_993, reads: nil as Double?)
        expect(-9_223_372_036_854_775_808, reads: -9_223_372_036_854_775_808.0)
        expect(9_223_372_036_854_775_808, reads: 9_223_372_036_854_775_808.0)
        expect(18_446_744_073_709_551_615, reads: nil as Double?)
        for stored in [true, "5", "1.5", [], .date(Date(timeIntervalSinceReferenceDate: 5))] as [PropertyList] {
            expect(stored, reads: nil as Double?)
        }
    }

    @Test func floatsAreAlsoReadRounded() {
        expect(0.1, reads: 0.1 as Float)
        expect(5, reads: 5 as Float)
        expect(16_777_217, reads: 16_777_216 as Float)
        expect(9_007_199_254_740_993, reads: 9_007_199_254_740_992 as Float)
        expect(18_446_744_073_709_551_615, reads: 18_446_744_073_709_551_616 as Float)
        expect(1e-300, reads: 0 as Float)
        expect(.double(.infinity), reads: .infinity as Float)
        for stored in [1e300, -1e300, true, "5", .double(Double(bitPattern: 0x7FF0_0000_0000_0001))] as [PropertyList] {
            expect(stored, reads: nil as Float?)
        }
    }

    @Test func decimalsAreAlsoReadFromNumbers() {
        expect("1.10", reads: Decimal(string: "1.1"))
        expect("-1e3", reads: Decimal(-1000))
        expect(5, reads: Decimal(5))
        expect(18_446_744_073_709_551_615, reads: Decimal(UInt64.max))
        expect(1.1, reads: Decimal(string: "1.1"))
        expect(1e16, reads: Decimal(10_000_000_000_000_000 as Int64))
        expect(1e-7, reads: Decimal(string: "0.0000001"))
        for stored in [
            "", "a", "1a", "1,1", "1.1 ", " 1", "0x10", "inf", "nan", ".", "e", "+", "1e", "1e+", "--1", "1.1.1", true,
            [],
            .double(.nan), .double(.infinity), .date(Date(timeIntervalSinceReferenceDate: 5)),
        ] as [PropertyList] {
            expect(stored, reads: nil as Decimal?)
        }
    }

    @Test(arguments: [
        "1e99999999999999999999", "1e9223372036854775807", "1e-99999999999999999999", "-1e2147483648", "1e300",
        "1e-300", "1e128",
        "1e-129", "0e999", String(repeating: "9", count: 500), "0." + String(repeating: "9", count: 500),
        "." + String(repeating: "0", count: 500) + "1", "5e-324", "1.7976931348623157e+308",
    ])
    func digitsBeyondADecimalDoNotTrap(text: String) throws {
        // The result is as close as a decimal can be, and never of another magnitude.
        guard let decimal = try? PropertyList.string(text).decode(Decimal.self), !decimal.isNaN else { return }
        let expected = try #require(Double(text))
        let read = try #require(Double(decimal.description))
        #expect(abs(read - expected) <= abs(expected) * 1e-9 + 1e-100)
    }

    @Test func doublesBeyondADecimalDoNotTrap() throws {
        for double in Samples.doubles {
            guard let decimal = try? PropertyList.double(double).decode(Decimal.self), !decimal.isNaN else { continue }
            let read = try #require(Double(decimal.description))
            #expect(abs(read - double) <= abs(double) * 1e-9 + 1e-100, "\(double)")
        }
    }

    @Test func otherTypesAreReadFromTheirOwnFormOnly() {
        for stored in [5, 1.5, true, [], [:], .data(Data("a".utf8)), .date(.distantPast)] as [PropertyList] {
            expect(stored, reads: nil as String?)
            expect(stored, reads: nil as URL?)
            expect(stored, reads: nil as UUID?)
        }
        for stored in [5, 1.5, "2026-01-01T00:00:00Z", true, []] as [PropertyList] {
            expect(stored, reads: nil as Date?)
        }
        for stored in [5, "AAAA", [1, 2], true, [:]] as [PropertyList] { expect(stored, reads: nil as Data?) }
        for stored in [5, "a", true, ["a": 1], .data(Data("[1]".utf8))] as [PropertyList] {
            expect(stored, reads: nil as [Int]?)
        }
        for stored in [5, "a", true, ["a", 1], []] as [PropertyList] { expect(stored, reads: nil as [String: Int]?) }
        expect("", reads: nil as URL?)
        expect(["relative": "a"], reads: nil as URL?)
        expect(["relative": "a", "base": 5], reads: nil as URL?)
        expect("/tmp", reads: URL(string: "/tmp"))
        expect("huge", reads: nil as Size?)
        expect(5, reads: nil as Size?)
        expect(5, reads: nil as Plain?)
        expect(1.0, reads: Plain.one)
    }
}

extension PropertyListCodingTests {
    private static let marker = CodingUserInfoKey(rawValue: "marker")!
    private struct Informed: Codable, Equatable {
        var depth: Int
        init(depth: Int) { self.depth = depth }
        func encode(to encoder: any Encoder) throws {
            #expect(encoder.userInfo[marker] as? String == "here")
            var container = encoder.unkeyedContainer()
            if depth > 0 { try container.encode(Informed(depth: depth - 1)) }
        }
        init(from decoder: any Decoder) throws {
            #expect(decoder.userInfo[marker] as? String == "here")
            var container = try decoder.unkeyedContainer()
            depth = container.isAtEnd ? 0 : try container.decode(Informed.self).depth + 1
        }
    }

    @Test func userInfoReachesEveryLevel() throws {
        let stored = try PropertyList(encoding: Informed(depth: 3), userInfo: [Self.marker: "here"])
        #expect(try stored.decode(Informed.self, userInfo: [Self.marker: "here"]) == Informed(depth: 3))
    }

    private struct Careful: Codable, Equatable {
        var order: [String]
        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            order = []
            while !container.isAtEnd {
                if let text = try? container.decode(String.self) {
                    order.append(text)
                } else if (try? container.nestedUnkeyedContainer()) != nil {
                    order.append("array")
                } else if (try? container.nestedContainer(keyedBy: AnyKey.self)) != nil {
                    order.append("dictionary")
                } else {
                    order.append("\(try container.decode(Int.self))")
                }
            }
        }
    }

    @Test func anElementThatFailsToDecodeIsStillTheNext() throws {
        #expect(
            try (["a", [], 5, [:], "b"] as PropertyList).decode(Careful.self).order == [
                "a", "array", "5", "dictionary", "b",
            ])
    }
}

/// `Int128` and `UInt128`, which no property list holds.
extension PropertyListCodingTests {
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private struct Wide<Number: FixedWidthInteger & Codable & Sendable>: Codable, Sendable {
        var numbers: [Number] = [5]
    }

    @Test func integersOfMoreThan64BitsAreRefused() throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
        func expectRefusal<Value: Codable & Sendable>(of value: Value, stored: PropertyList, at path: [String]) {
            for form in [DefaultKey<Value>.Form.propertyList, .jsonData] {
                let suite = DefaultsSuite.inMemory(["read": stored])
                let written = #expect(throws: DefaultsError.self) {
                    try UserDefault(DefaultKey("a", default: value, form: form), in: suite).store.save(value)
                }
                #expect(written?.kind == .refused && written?.path == path)
                #expect(written?.reason == "an integer of more than 64 bits; use Decimal or String")
            }
            let suite = DefaultsSuite.inMemory(["read": stored])
            let read = #expect(throws: DefaultsError.self) {
                try UserDefault(DefaultKey<Value?>("read", default: nil), in: suite).store.load()
            }
            #expect(read?.kind == .unreadable && read?.path == path)
            #expect(read?.reason == "an integer of more than 64 bits; use Decimal or String")
        }
        expectRefusal(of: 5 as Int128, stored: 5, at: [])
        expectRefusal(of: 5 as UInt128, stored: 5, at: [])
        expectRefusal(of: Wide<Int128>(), stored: ["numbers": [5]], at: ["numbers", "0"])
    }
}
