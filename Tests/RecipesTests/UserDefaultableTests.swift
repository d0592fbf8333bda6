import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsRecipes

/// A suite and a fake have the same calls.
struct UserDefaultableTests {
    enum Kind: CaseIterable {
        case suite, fake
        func make() -> any UserDefaultable { self == .suite ? DefaultsSuite.inMemory() : UserDefaultsFake() }
    }

    @Test(arguments: Kind.allCases) func eachTypeIsStoredAndReadAsItself(kind: Kind) throws {
        let defaults = kind.make()
        let failures = Failures(of: defaults.suite)
        let url = try #require(URL(string: "https://example.com/a"))
        let nested: [String: Any] = ["a": [1, 2], "b": ["c": true] as [String: Any]]
        defaults.set("text", forKey: "string")
        defaults.set([1, "a"] as [Any], forKey: "array")
        defaults.set(nested, forKey: "dictionary")
        defaults.set(["a", "b"], forKey: "strings")
        defaults.set(Data([1, 2]), forKey: "data")
        defaults.set(url, forKey: "url")
        defaults.set(3, forKey: "integer")
        defaults.set(Float(0.25), forKey: "float")
        defaults.set(0.1, forKey: "double")
        defaults.set(true, forKey: "bool")
        #expect(defaults.string(forKey: "string") == "text")
        #expect(defaults.array(forKey: "array")?.map { "\($0)" } == ["1", "a"])
        #expect(defaults.dictionary(forKey: "dictionary")?["a"] as? [Int] == [1, 2])
        #expect((defaults.dictionary(forKey: "dictionary")?["b"] as? [String: Any])?["c"] as? Bool == true)
        #expect(defaults.stringArray(forKey: "strings") == ["a", "b"])
        #expect(defaults.data(forKey: "data") == Data([1, 2]))
        #expect(defaults.url(forKey: "url") == url)
        #expect(defaults.integer(forKey: "integer") == 3)
        #expect(defaults.float(forKey: "float") == 0.25)
        #expect(defaults.double(forKey: "double") == 0.1)
        #expect(defaults.bool(forKey: "bool"))
        #expect(defaults.object(forKey: "integer") as? Int == 3)
        #expect(defaults.suite[DefaultKey("integer", default: 0)] == 3)

        #expect(defaults.string(forKey: "integer") == nil && defaults.array(forKey: "dictionary") == nil)
        #expect(defaults.dictionary(forKey: "array") == nil && defaults.stringArray(forKey: "array") == nil)
        #expect(defaults.data(forKey: "string") == nil && defaults.object(forKey: "none") == nil)
        #expect(failures.all == [])
    }

    struct Reading: CustomTestStringConvertible, Sendable {
        let stored: PropertyList
        let (integer, double, bool): (Int, Double, Bool)
        init(_ stored: PropertyList, _ integer: Int, _ double: Double, _ bool: Bool) {
            (self.stored, self.integer, self.double, self.bool) = (stored, integer, double, bool)
        }
        var testDescription: String { "\(stored)" }
    }

    /// As the documentation of `UserDefaults` has it.
    static let readings = [
        Reading(true, 1, 1, true), Reading(false, 0, 0, false),
        Reading(0, 0, 0, false), Reading(1, 1, 1, true), Reading(-3, -3, -3, true), Reading(0.0, 0, 0, false),
        Reading(0.5, 0, 0.5, true), Reading(2.67, 2, 2.67, true), Reading(-3.9, -3, -3.9, true),
        Reading("123", 123, 123, false), Reading("123.4", 123, 123.4, false), Reading("1", 1, 1, true),
        Reading("0", 0, 0, false), Reading("YES", 0, 0, true), Reading("yes", 0, 0, true),
        Reading("true", 0, 0, true), Reading("NO", 0, 0, false), Reading("false", 0, 0, false),
        Reading("x", 0, 0, false), Reading("", 0, 0, false), Reading([1], 0, 0, false),
        Reading(["a": 1], 0, 0, false), Reading(.data(Data([1])), 0, 0, false),
        Reading("9007199254740993", Int(clamping: 9_007_199_254_740_993 as Int64), 9_007_199_254_740_992, false),
    ]

    @Test(arguments: readings) func aNumberIsReadFromOtherTypes(reading: Reading) {
        let suite = DefaultsSuite.inMemory(["a": reading.stored])
        let failures = Failures(of: suite)
        #expect(suite.integer(forKey: "a") == reading.integer)
        #expect(suite.double(forKey: "a") == reading.double)
        #expect(suite.float(forKey: "a") == Float(reading.double))
        #expect(suite.bool(forKey: "a") == reading.bool)
        #expect(failures.all == [])
    }

    /// Here `UserDefaults` returns other values.
    @Test func somePartsAreReadOtherwiseThanByUserDefaults() {
        let suite = DefaultsSuite.inMemory([
            "length": "3 km", "large": 1e300, "unsigned": .unsigned(.max), "number": 3, "path": "/tmp/a",
        ])
        #expect(suite.integer(forKey: "length") == 0 && suite.double(forKey: "length") == 0)
        #expect(suite.integer(forKey: "large") == 0 && suite.integer(forKey: "unsigned") == 0)
        #expect(suite.string(forKey: "number") == nil)
        #expect(suite.url(forKey: "path") == URL(string: "/tmp/a"))
    }

    @Test(arguments: Kind.allCases) func nilAndRemovingRemove(kind: Kind) throws {
        let defaults = kind.make()
        let failures = Failures(of: defaults.suite)
        for key in ["a", "b", "c", "d"] { defaults.set(1, forKey: key) }
        defaults.set(nil, forKey: "a")
        defaults.set(String?.none, forKey: "b")
        defaults.set(URL?.none, forKey: "c")
        #expect(try defaults.suite.keys() == ["d"])
        defaults.removeObject(forKey: "d")
        defaults.removeObject(forKey: "d")
        #expect(try defaults.suite.keys() == [])
        #expect(defaults.integer(forKey: "a") == 0 && defaults.url(forKey: "c") == nil)
        for key in ["a", "b"] { defaults.set("x", forKey: key) }
        defaults.reset()
        #expect(try defaults.suite.keys() == [])
        #expect(failures.all == [])
    }

    @Test func anObjectOfAnotherTypeIsReportedAndChangesNothing() throws {
        struct Other {}
        let fake = UserDefaultsFake()
        let failures = Failures(of: fake.suite)
        fake.set(1, forKey: "a")
        fake.set(["b": Other()], forKey: "a")
        #expect(fake.integer(forKey: "a") == 1)
        #expect(failures.all.map(\.key) == ["a"] && failures.kinds == [.refused])
        #expect(failures.all.first?.path == ["b"])
    }

    @Test(arguments: Kind.allCases) func eachChangeIsReportedOnceUntilTheEnd(kind: Kind) {
        let defaults = kind.make()
        let received = Guarded<[String]>([])
        let observation = defaults.observe(String.self, forKey: "name", options: [.initial, .new, .old]) {
            object, change in
            let current = object.string(forKey: "name") ?? "nil"
            received.withLock {
                $0.append("\(change.oldValue ?? "nil") to \(change.newValue ?? "nil"), now \(current)")
            }
        }
        defaults.set("a", forKey: "name")
        defaults.set("a", forKey: "name")
        defaults.set("b", forKey: "name")
        defaults.set("c", forKey: "other")
        defaults.suite[DefaultKey<String?>("name")] = "d"
        defaults.removeObject(forKey: "name")
        (observation as any KeyValueObservationable).invalidate()
        observation.invalidate()
        defaults.set("e", forKey: "name")
        #expect(
            received.withLock { $0 } == [
                "nil to nil, now nil", "nil to a, now a", "a to b, now b", "b to d, now d", "d to nil, now nil",
            ])
    }

    @Test func withoutTheOptionTheCurrentValueIsNotReported() {
        let fake = UserDefaultsFake()
        fake.set(1, forKey: "a")
        let received = Guarded<[Int?]>([])
        var observation: UDKeyValueObservation? = fake.observe(Int.self, forKey: "a") { _, change in
            received.withLock { $0.append(change.newValue) }
        }
        #expect(observation != nil && received.withLock { $0 } == [])
        fake.set(2, forKey: "a")
        observation = nil
        fake.set(3, forKey: "a")
        #expect(received.withLock { $0 } == [2])
    }

    /// Code written for `UserDefaults`, with the settings passed to it.
    private final class Recorder {
        let defaults: any UDKeyValueCodingAndObserving
        init(defaults: any UDKeyValueCodingAndObserving) { self.defaults = defaults }
        func save(takes: Int) { defaults.set(takes, forKey: "takes") }
    }

    @Test func twoFakesShareNothing() {
        let (fake, other) = (UserDefaultsFake(), UserDefaultsFake())
        Recorder(defaults: fake).save(takes: 4)
        Recorder(defaults: other.suite.scoped("user/")).save(takes: 5)
        #expect(fake.integer(forKey: "takes") == 4)
        #expect(other.integer(forKey: "takes") == 0 && other.integer(forKey: "user/takes") == 5)
    }

    @Test func theNamesForOptionalsAreUserDefaults() throws {
        let suite = DefaultsSuite.inMemory()
        struct Settings {
            @OptionalUserDefault var name: String?
            @UserDefaultOptional var count: Int?
            init(_ suite: DefaultsSuite) {
                _name = OptionalUserDefault("name", in: suite)
                _count = UserDefaultOptional("count", defaultValue: 3, in: suite)
            }
        }
        let settings = Settings(suite)
        #expect(settings.name == nil && settings.count == 3)
        settings.name = "a"
        settings.count = nil
        #expect(Settings(suite).name == "a" && suite[DefaultKey<String?>("name")] == "a")
        settings.name = nil
        #expect(try suite.keys() == [])
    }
}
