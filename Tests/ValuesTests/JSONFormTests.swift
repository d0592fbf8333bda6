import Foundation
import TestSupport
import Testing
import TypedDefaults

struct JSONFormTests {
    struct Point: Codable, Equatable {
        var name = "origin"
        var x = 0.1
    }

    /// Returns JSON data, as many programs store it in `UserDefaults`.
    private func recipe(_ value: some Encodable) throws -> PropertyList { .data(try JSONEncoder().encode(value)) }

    @Test func anOldVersionReadsWhatIsWritten() throws {
        let suite = DefaultsSuite.inMemory()
        let point = UserDefault(DefaultKey("point", default: Point(), form: .jsonData), in: suite)
        point.value = Point(name: "b", x: -0.0)
        guard case .data(let data) = suite[DefaultKey<PropertyList?>("point")] else {
            Issue.record("no data")
            return
        }
        #expect(try JSONDecoder().decode(Point.self, from: data) == Point(name: "b", x: 0))
        #expect(point.value.x.sign == .minus)
        point.reset()
        let optional = UserDefault(DefaultKey<Point?>("point", default: nil, form: .jsonData), in: suite)
        optional.value = Point()
        #expect(optional.value == Point())
        optional.value = nil
        #expect(try suite.keys() == [])
    }

    @Test func dataGoesRoundTrip() {
        let data = UserDefault(DefaultKey("data", default: Data(), form: .jsonData), in: .inMemory())
        data.value = Data([1, 2, 255])
        #expect(data.value == Data([1, 2, 255]))
    }

    @Test func aPropertyListIsReadAsWell() {
        let suite = DefaultsSuite.inMemory(["point": ["name": "c", "x": 1.5]])
        #expect(suite[DefaultKey("point", default: Point(), form: .jsonData)] == Point(name: "c", x: 1.5))
    }

    /// Numbers with more digits than a double has lose them.
    @Test func aTreeInsideJSONIsReadAsItIs() throws {
        struct Holder: Codable { var tree: PropertyList }
        let json = Data(#"{"tree": [1, 0.5, "$null", {"a": [true]}, 12345678901234567890123]}"#.utf8)
        let key = DefaultKey("holder", default: Holder(tree: 0))
        let suite = DefaultsSuite.inMemory(["holder": .data(json)])
        #expect(suite[key].tree == [1, 0.5, "$null", ["a": [true]], 1.2345678901234568e22])
        let other = DefaultsSuite.inMemory(["holder": .data(Data(#"{"tree": [1, null]}"#.utf8))])
        other.onFailure = { _ in }
        #expect(other[key].tree == 0)
    }

    @Test func valuesThatJSONCannotHoldAreRefused() {
        let suite = DefaultsSuite.inMemory()
        let store = UserDefault(DefaultKey("point", default: Point(), form: .jsonData), in: suite).store
        #expect(fails(with: .refused) { try store.save(Point(x: .nan)) })
        #expect(store.get() == nil)
    }

    /// Stores equal values that differ in their order in memory. Only the first one may be a
    /// change.
    private func expectOneChange<Value: Codable & Sendable & Equatable>(
        _ value: Value, _ makeEqual: () -> Value, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let setting = UserDefault(DefaultKey<Value?>("value", default: nil, form: .jsonData), in: .inMemory())
        let received = Guarded(0)
        let token = setting.observe { _ in received.withLock { $0 += 1 } }
        for _ in 0..<10 {
            setting.value = makeEqual()
            #expect(setting.value == value, sourceLocation: sourceLocation)
        }
        token.cancel()
        #expect(received.withLock { $0 } == 1, sourceLocation: sourceLocation)
    }

    private func shuffled(_ count: Int = 20) -> [Int] { (0..<count).shuffled() }

    @Test func equalValuesAreWrittenEqual() {
        struct Tag: Codable, Hashable { var name: Int }
        struct Tags: Codable, Equatable {
            var all: Set<Tag>
            var counts: [Tag: Set<Int>]
            var names: [String: [Set<Int>]]
        }
        func tags() -> Tags {
            Tags(
                all: Set(shuffled().map(Tag.init)),
                counts: Dictionary(uniqueKeysWithValues: shuffled().map { (Tag(name: $0), Set(shuffled())) }),
                names: Dictionary(uniqueKeysWithValues: shuffled(3).map { ("\($0)", [Set(shuffled()), [$0]]) }))
        }
        func dictionary() -> [String: Int] { Dictionary(uniqueKeysWithValues: shuffled().map { ("\($0)", $0) }) }
        expectOneChange(dictionary(), dictionary)
        expectOneChange(Set(0..<20)) { Set(shuffled()) }
        expectOneChange(Set(shuffled().map { ["a": $0] })) { Set(shuffled().map { ["a": $0] }) }
        expectOneChange(tags(), tags)
    }

    /// Has a property of each type that Foundation treats specially, and containers of each kind.
    private struct Everything: Codable {
        var date = Date(timeIntervalSinceReferenceDate: 0.1)
        var data: Data? = Data([1, 2, 255])
        var url = URL(string: "b?c=d", relativeTo: URL(string: "https://example.com/a/"))!
        var decimal = Decimal(string: "0.12345678901234567890123")!
        var float: Float = 0.1
        var numbers: [UInt64?] = [nil, .max]
        var text: [String: String?] = ["$null": "é", "b": nil]
        var empty: [Set<Int>: Int] = [:]
        var list: [Int: [Bool]] = [1: [true]]
        enum Payload: Codable {
            case none
            case some(Int, name: String)
        }
        var payloads = [Payload.none, .some(1, name: "a")]

        func encode(to encoder: any Encoder) throws {
            enum Key: String, CodingKey { case outer, list, parent }
            var container = encoder.container(keyedBy: Key.self)
            var outer = container.nestedContainer(keyedBy: CodingKeys.self, forKey: .outer)
            try outer.encode(date, forKey: .date)
            try outer.encodeIfPresent(data, forKey: .data)
            try outer.encode(url, forKey: .url)
            try outer.encode(decimal, forKey: .decimal)
            try outer.encode(float, forKey: .float)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            try list.encode(numbers)
            try list.encodeNil()
            try list.encode(text)
            try list.encode(empty)
            var inner = list.nestedUnkeyedContainer()
            try inner.encode(contentsOf: [1.5, 2])
            var single = list.superEncoder().singleValueContainer()
            try single.encode(self.list)
            try payloads.encode(to: container.superEncoder())
            var parent = container.superEncoder(forKey: .parent).unkeyedContainer()
            try parent.encode(payloads)
        }
    }

    @Test func theFormIsThatOfFoundation() throws {
        let suite = DefaultsSuite.inMemory()
        suite[DefaultKey<Everything?>("value", default: nil, form: .jsonData)] = Everything()
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(suite[DefaultKey<PropertyList?>("value")] == .data(try encoder.encode(Everything())))
    }

    @Test func entriesThatTheTypeDoesNotKnowAreCopiedFirst() throws {
        let stored = PropertyList.data(Data(#"{"name": "a", "x": 2, "y": {"unit": "m"}}"#.utf8))
        let suite = DefaultsSuite.inMemory(["point": stored])
        let failures = Failures(of: suite)
        let key = DefaultKey("point", default: Point(), form: .jsonData)
        #expect(suite[key] == Point(name: "a", x: 2))
        #expect(failures.all.isEmpty && suite[DefaultKey<PropertyList?>("point.unreadable")] == nil)
        try suite.update(key) { $0.x = 3 }
        try suite.update(key) { $0.x = 4 }
        #expect(suite[key] == Point(name: "a", x: 4))
        #expect(suite[DefaultKey<PropertyList?>("point.unreadable")] == stored)
        #expect(failures.all.map(\.kind) == [.unreadable] && failures.all.first?.key == "point")
        #expect(failures.all.first?.reason.contains("point.unreadable") == true)
    }

    @Test func entriesThatTheTypeDoesNotKnowStayInTheNativeForm() throws {
        let stored = PropertyList.data(Data(#"{"name": "a", "x": 2, "y": {"unit": "m"}}"#.utf8))
        let suite = DefaultsSuite.inMemory(["point": stored])
        let failures = Failures(of: suite)
        try suite.update(DefaultKey("point", default: Point())) { $0.x = 3 }
        #expect(try suite.contents() == ["point": ["name": "a", "x": 3.0, "y": ["unit": "m"]]])
        #expect(failures.all.isEmpty)
    }

    @Test func whatTheTypeKnowsIsReplacedWithoutACopy() throws {
        let suite = DefaultsSuite.inMemory(["point": try recipe(Point(name: "a", x: 2))])
        let failures = Failures(of: suite)
        try suite.update(DefaultKey("point", default: Point(), form: .jsonData)) { $0.x = 3 }
        #expect(failures.all.isEmpty)
        #expect(try suite.keys() == ["point"])
    }
}
