import Foundation
import SettingsFile
import TestSupport
import Testing

@testable import TypedDefaults

@Suite(.ownThreads) struct PropertyListTests {
    private static let distinct: [PropertyList] = [
        false, true, 0, 1, -1, 5, 0.0, -0.0, 1.0, 5.0, .double(.nan), .double(-.nan), .double(.signalingNaN),
        .double(Double(bitPattern: 0x7FF8_0000_0000_0001)), .double(.infinity), .integer(9_223_372_036_854_775_807),
        .unsigned(9_223_372_036_854_775_808), .unsigned(18_446_744_073_709_551_615),
        .integer(-9_223_372_036_854_775_808),
        "", "0", "1", "true", .string(Samples.composed), .string(Samples.decomposed), .data(Data()), .data(Data([0])),
        .data(Data("1".utf8)), .date(Date(timeIntervalSinceReferenceDate: 0)),
        .date(Date(timeIntervalSinceReferenceDate: -0.0)), .date(Date(timeIntervalSinceReferenceDate: 1)),
        .date(Date(timeIntervalSinceReferenceDate: .nan)), [], [[]], [[], []], [0], [false], [0, 1], [1, 0], [1.0, 0],
        [:],
        ["a": 0], ["a": false], ["a": 0, "b": 0], ["b": 0], ["a": ["a": 0]], [.string(Samples.composed)],
        [.string(Samples.decomposed)], .dictionary([Samples.composed: 0]), .dictionary([Samples.decomposed: 0]),
        .dictionary([Samples.composed: 0, "a": 0]), .dictionary([Samples.decomposed: 0, "a": 0]),
    ]

    @Test(arguments: distinct.indices)
    func equalityIsSamenessOfBits(index: Int) {
        let value = Self.distinct[index]
        for (other, candidate) in Self.distinct.enumerated() {
            #expect((value == candidate) == (index == other), "\(value.testDescription), \(candidate.testDescription)")
        }
        let copy = PropertyListTests.distinct[index]
        #expect(value.hashValue == copy.hashValue)
    }

    @Test func theLastOfEqualKeysWins() {
        let list: PropertyList = ["a": 1, "b": 2, "a": 3]
        #expect(list == ["a": 3, "b": 2])
    }
}

extension PropertyListTests {
    @Test(
        arguments: [
            PropertyList(exactly: 5 as Int8), PropertyList(exactly: 5 as UInt8), PropertyList(exactly: 5 as UInt64),
            .integer(5), .unsigned(5),
        ])
    func anIntegerHasNoWidthAndNoSignOfItsOwn(integer: PropertyList?) throws {
        #expect(integer == 5)
        #expect(integer?.hashValue == PropertyList.integer(5).hashValue)
        var writer = ByteWriter(capacity: 16)
        writer.append(try #require(integer))
        #expect(writer.withBytes(Array.init) == [2, 5, 0, 0, 0, 0, 0, 0, 0])
    }

    @Test(arguments: distinct) func cutBytesAreNoValue(value: PropertyList) {
        var writer = ByteWriter(capacity: 16)
        writer.append([value, ["k": value]])
        let bytes = writer.withBytes(Array.init)
        for count in bytes.indices {
            #expect(bytes[..<count].withUnsafeBytes(ByteReader.wholeValue) == nil)
        }
        #expect(bytes.withUnsafeBytes(ByteReader.wholeValue) == [value, ["k": value]])
    }

    @Test(arguments: [64, 65]) func bytesHaveALimitOfDepth(depth: Int) {
        for outer in [{ [$0] }, { ["k": $0] }] as [(PropertyList) -> PropertyList] {
            var writer = ByteWriter(capacity: 16)
            let isWhole = writer.append((0..<depth).reduce(1) { value, _ in outer(value) })
            #expect(isWhole == (depth == 64))
        }
    }

    @Test func integersReachFromTheLeastInt64ToTheGreatestUInt64() {
        #expect(PropertyList(exactly: Int64.min) == -9_223_372_036_854_775_808)
        #expect(PropertyList(exactly: UInt64.max) == 18_446_744_073_709_551_615)
        if #available(iOS 18, macOS 15, tvOS 18, watchOS 11, visionOS 2, *) {
            #expect(PropertyList(exactly: Int128(Int64.min) - 1) == nil)
            #expect(PropertyList(exactly: Int128(UInt64.max) + 1) == nil)
            #expect(PropertyList(exactly: Int128(UInt64.max)) == .unsigned(.max))
        }
        #expect(PropertyList.unsigned(.max) != -1)
        #expect(PropertyList.integer(-1) != .unsigned(.max))
        #expect(PropertyList.unsigned(.max).hashValue == PropertyList.unsigned(.max).hashValue)
    }

    #if os(macOS) || os(Linux)
        @Test func literalsBeyond64BitsTrap() async {
            await #expect(processExitsWith: .failure) { _ = [18_446_744_073_709_551_616] as PropertyList }
            await #expect(processExitsWith: .failure) { _ = [-9_223_372_036_854_775_809] as PropertyList }
        }
    #endif
}

extension PropertyListTests {
    /// An object for a table; `Any` itself is not `Sendable`.
    struct Object: Sendable, CustomTestStringConvertible {
        let any: any Sendable
        init(_ any: any Sendable) { self.any = any }
        var testDescription: String { "\(any) (\(type(of: any)))" }
    }

    private static let doubleOptional: String?? = .some(.some("a"))
    private static let taken: [(Object, PropertyList)] = [
        (Object(true), true), (Object(false), false),
        (Object(0), 0), (Object(1), 1), (Object(-5), -5),
        (Object(5 as Int8), 5), (Object(5 as Int16), 5), (Object(5 as Int32), 5), (Object(5 as Int64), 5),
        (Object(5 as UInt), 5), (Object(5 as UInt8), 5), (Object(5 as UInt16), 5), (Object(5 as UInt32), 5),
        (Object(5 as UInt64), 5), (Object(Int64.min), -9_223_372_036_854_775_808),
        (Object(UInt64.max), 18_446_744_073_709_551_615), (Object(UInt.max), 18_446_744_073_709_551_615),
        (Object(1 as UInt8), 1), (Object(0 as Int8), 0),
        (Object(0.1), 0.1), (Object(-0.0), -0.0), (Object(1.0), 1.0), (Object(Double.nan), .double(.nan)),
        (Object(0.5 as Float), 0.5), (Object(Float.infinity), .double(.infinity)),
        (Object("a"), "a"), (Object("$null"), "$null"), (Object(Samples.decomposed), .string(Samples.decomposed)),
        (Object(Data([1, 2])), .data(Data([1, 2]))),
        (Object(Date(timeIntervalSinceReferenceDate: 0.1)), .date(Date(timeIntervalSinceReferenceDate: 0.1))),
        (Object([1, "a", true] as [any Sendable]), [1, "a", true]),
        (Object([1, 2]), [1, 2]), (Object([[1.5], []]), [[1.5], []]), (Object([] as [Int]), []),
        (Object(["a": 1]), ["a": 1]), (Object(["a": ["b": [true]]]), ["a": ["b": [true]]]),
        (Object([:] as [String: Int]), [:]),
        (Object(["cameraRoll": true, "size": 0] as [String: any Sendable]), ["cameraRoll": true, "size": 0]),
        (Object(Optional(5)), 5), (Object(doubleOptional), "a"), (Object([Optional(1), 2]), [1, 2]),
        (Object(["a": Optional(Optional(true))]), ["a": true]), (Object(Optional([Optional("a")])), ["a"]),
        (Object(PropertyList.double(-0.0)), -0.0), (Object(["a": PropertyList.integer(1)]), ["a": 1]),
        (Object(["a": [PropertyList.bool(true), 5]]), ["a": [true, 5]]), (Object(Optional("a" as PropertyList)), "a"),
    ]

    @Test(arguments: taken)
    func objectsOfAllKindsAreTaken(object: Object, expected: PropertyList) throws {
        #expect(try PropertyList(object.any) == expected)
    }

    struct Unlisted: Sendable {}
    private static let website = URL(string: "https://example.com")!
    private static let none: String? = nil
    private static let refused: [(Object, String, [String])] = [
        (Object(website), "URL", []), (Object(Unlisted()), "Unlisted", []),
        (Object([5: "x"]), "Dictionary<Int, String>", []),
        (Object([1, website] as [any Sendable]), "URL", ["1"]),
        (Object(["a": 1, "b": website] as [String: any Sendable]), "URL", ["b"]),
        (Object(["a": [1, ["c": Unlisted()]] as [any Sendable]]), "Unlisted", ["a", "1", "c"]),
        (Object(["a.b": [[5: 5]]]), "Dictionary<Int, Int>", ["a.b", "0"]),
        (Object(Set([1])), "Set<Int>", []), (Object(1..<2), "Range<Int>", []), (Object(UUID()), "UUID", []),
        (Object(Decimal(1)), "Decimal", []), (Object("a" as Character), "Character", []),
        (Object("a".dropFirst()), "Substring", []),
        (Object(none), "Optional<String>", []), (Object(["a": [none]]), "Optional<String>", ["a", "0"]),
        (Object((1, 2)), "(Int, Int)", []), (Object(ContiguousArray([1])), "ContiguousArray<Int>", []),
    ]
    private static var refusedOf128Bits: [(Object, String, [String])] {
        guard #available(iOS 18, macOS 15, tvOS 18, watchOS 11, visionOS 2, *) else { return [] }
        return [(Object(Int128.max), "Int128", []), (Object([Int128(Int64.min) - 1]), "Int128", ["0"])]
    }

    @Test(arguments: refused + refusedOf128Bits)
    func otherObjectsAreRefusedByTypeAndPath(object: Object, type: String, path: [String]) {
        let error = #expect(throws: DefaultsError.self) { try PropertyList(object.any) }
        #expect(error?.kind == .refused)
        #expect(error?.type == type)
        #expect(error?.path == path)
        #expect(error?.key == nil)
    }

    @Test func aDescriptionShowsTheKindAndNotTheValue() {
        let list: PropertyList = ["secret": .date(Date(timeIntervalSinceReferenceDate: .nan)), "b": "secret"]
        var dumped = ""
        dump(list, to: &dumped)
        for text in ["\(list)", String(reflecting: list), dumped, "\([list])"] {
            #expect(!text.contains("secret"))
            #expect(text.contains("a dictionary"))
        }
    }
}

extension PropertyListTests {
    private static func nestedArrays(_ levels: Int, around leaf: (any Sendable)?) -> Any {
        var object: Any = leaf.map { [$0] as [Any] } ?? []
        for _ in 1..<levels { object = [object] }
        return object
    }

    private static func nestedDictionaries(_ levels: Int) -> Any {
        var object: Any = ["a": 5] as [String: Any]
        for _ in 1..<levels { object = ["a": object] }
        return object
    }

    @Test(arguments: [1, 63, 64])
    func theDepthLimitIsTaken(levels: Int) throws {
        #expect(try PropertyList(Self.nestedArrays(levels, around: nil)) == .nested(levels))
        #expect(try PropertyList(Self.nestedArrays(levels, around: 5)) == .nested(levels, around: 5))
        #expect(throws: Never.self) { try PropertyList(Self.nestedDictionaries(levels)) }
        #expect(try PropertyList(PropertyList.nested(levels, around: 5).object) == .nested(levels, around: 5))
        #expect(try PropertyList(PropertyList.nested(levels, around: 5)) == .nested(levels, around: 5))
    }

    @Test(arguments: [65, 66, 1000])
    func deeperThanTheLimitIsRefused(levels: Int) {
        let objects = [
            Self.nestedArrays(levels, around: nil), Self.nestedArrays(levels, around: 5),
            Self.nestedDictionaries(levels),
            PropertyList.nested(levels), [PropertyList.nested(levels - 1)],
        ]
        for (index, object) in objects.enumerated() {
            #expect(Self.refusal(of: object)?.kind == .refused, "object \(index)")
        }
    }

    // Without `#expect(throws:)`, because it would print a value that was not refused, with all its
    // thousand levels.
    private static func refusal(of object: Any) -> DefaultsError? {
        do throws(DefaultsError) {
            _ = try PropertyList(object)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [65, 1000])
    func nothingDeeperThanTheLimitIsStored(levels: Int) throws {
        let suite = DefaultsSuite.inMemory()
        let store = UserDefault(DefaultKey<PropertyList?>("list"), in: suite).store
        try store.save(.nested(64, around: 5))
        #expect(throws: DefaultsError.self) { try store.save(.nested(levels)) }
        #expect(throws: DefaultsError.self) { try suite.update { $0["list"] = .nested(levels) } }
        #expect(throws: DefaultsError.self) { try suite.replaceContents(with: ["list": .nested(levels)]) }
        let isUnchanged = try store.load() == .nested(64, around: 5)
        #expect(isUnchanged)
    }

    @Test func depthCountsThroughPropertyListsInObjects() {
        let half = PropertyList.nested(32)
        #expect(throws: Never.self) { try PropertyList(Self.nestedArrays(32, around: half)) }
        #expect(Self.refusal(of: Self.nestedArrays(33, around: half))?.kind == .refused)
    }

    @Test func aSmallStackHoldsTheDepthLimit() {
        let isSame = withSmallStack {
            (try? PropertyList(PropertyList.nested(PropertyList.depthLimit).object)) == .nested(PropertyList.depthLimit)
        }
        #expect(isSame)
    }
}

extension PropertyListTests {
    @Test func objectsArePlainSwift() throws {
        let list: PropertyList = [
            "bool": true, "int": 5, "big": 18_446_744_073_709_551_615, "double": 0.5, "string": "a",
            "data": .data(Data([1])), "date": .date(Date(timeIntervalSinceReferenceDate: 1)), "array": [1, ["a": "b"]],
        ]
        let object = try #require(list.object as? [String: Any])
        #expect(object.count == 8)
        #expect(object["bool"] as? Bool == true)
        #expect(object["int"] as? Int == 5)
        #expect(object["int"] as? Bool == nil)
        #expect(object["big"] as? UInt64 == .max)
        #expect(object["double"] as? Double == 0.5)
        #expect(object["string"] as? String == "a")
        #expect(object["data"] as? Data == Data([1]))
        #expect(object["date"] as? Date == Date(timeIntervalSinceReferenceDate: 1))
        let array = try #require(object["array"] as? [Any])
        #expect(array[0] as? Int == 1)
        #expect((array[1] as? [String: Any])?["a"] as? String == "b")
        #expect((PropertyList.integer(.max)).object as? Int == .max)
        #expect((PropertyList.integer(.min)).object as? Int == .min)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func anyObjectReadsBackTheSame(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let list = PropertyList.random(using: &generator)
            let copy = try PropertyList(list.object)
            let isSame = copy == list && copy.hashValue == list.hashValue
            #expect(isSame, "\(list.testDescription) read back as \(copy.testDescription)")
        }
    }

    @Test func dictionariesAreNested() {
        let deep = (0..<65).reduce(PropertyList.integer(1)) { value, _ in ["k": value] }
        #expect(deep.isNested(deeperThan: PropertyList.depthLimit))
    }
}
