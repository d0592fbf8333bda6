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

    @Test func jsonOfOtherCodeIsReadInBothForms() throws {
        let suite = DefaultsSuite.inMemory([
            "point": try recipe(Point(name: "a", x: 2)), "count": try recipe(5), "names": try recipe(["a", "b"]),
        ])
        #expect(suite[DefaultKey("point", default: Point())] == Point(name: "a", x: 2))
        #expect(suite[DefaultKey("count", default: 0)] == 5)
        #expect(suite[DefaultKey("names", default: [String]())] == ["a", "b"])
        #expect(suite[DefaultKey("point", default: Point(), form: .jsonData)] == Point(name: "a", x: 2))
    }

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

    @Test func valuesThatJSONCannotHoldAreRefused() {
        let suite = DefaultsSuite.inMemory()
        let store = UserDefault(DefaultKey("point", default: Point(), form: .jsonData), in: suite).store
        #expect(fails(with: .refused) { try store.save(Point(x: .nan)) })
        #expect(store.get() == nil)
    }

    @Test func equalValuesAreWrittenEqual() {
        let suite = DefaultsSuite.inMemory()
        let setting = UserDefault(
            DefaultKey("names", default: [String: Int](), form: .jsonData), in: suite)
        let received = Guarded(0)
        let token = setting.observe { _ in received.withLock { $0 += 1 } }
        for _ in 0..<10 {
            setting.value = Dictionary(uniqueKeysWithValues: (0..<20).shuffled().map { ("\($0)", $0) })
        }
        token.cancel()
        #expect(received.withLock { $0 } == 1)
    }
}
