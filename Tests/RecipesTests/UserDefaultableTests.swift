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

    @Test(arguments: Kind.allCases) func aValueOfAnotherTypeReadsNil(kind: Kind) throws {
        let defaults = kind.make()
        let failures = Failures(of: defaults.suite)
        let nested: [String: Any] = ["a": [1, 2], "b": ["c": true] as [String: Any]]
        defaults.set("text", forKey: "string")
        defaults.set([1, "a"] as [Any], forKey: "array")
        defaults.set(nested, forKey: "dictionary")
        defaults.set(3, forKey: "integer")
        #expect(defaults.array(forKey: "array")?.map { "\($0)" } == ["1", "a"])
        #expect((defaults.dictionary(forKey: "dictionary")?["b"] as? [String: Any])?["c"] as? Bool == true)
        #expect(defaults.object(forKey: "integer") as? Int == 3)
        #expect(defaults.suite[DefaultKey("integer", default: 0)] == 3)

        #expect(defaults.string(forKey: "integer") == nil && defaults.array(forKey: "dictionary") == nil)
        #expect(defaults.dictionary(forKey: "array") == nil && defaults.stringArray(forKey: "array") == nil)
        #expect(defaults.data(forKey: "string") == nil && defaults.object(forKey: "none") == nil)
        #expect(failures.all == [])
    }

    /// As the documentation of `UserDefaults` has it: a stored value, and what it reads as.
    static let readings: [(PropertyList, Int, Double, Bool)] = [
        (true, 1, 1, true), (false, 0, 0, false),
        (0, 0, 0, false), (1, 1, 1, true), (-3, -3, -3, true), (0.0, 0, 0, false),
        (0.5, 0, 0.5, true), (2.67, 2, 2.67, true), (-3.9, -3, -3.9, true),
        ("123", 123, 123, false), ("123.4", 123, 123.4, false), ("1", 1, 1, true),
        ("0", 0, 0, false), ("YES", 0, 0, true), ("yes", 0, 0, true),
        ("true", 0, 0, true), ("NO", 0, 0, false), ("false", 0, 0, false),
        ("x", 0, 0, false), ("", 0, 0, false), ([1], 0, 0, false),
        (["a": 1], 0, 0, false), (.data(Data([1])), 0, 0, false),
        ("9007199254740993", Int(clamping: 9_007_199_254_740_993 as Int64), 9_007_199_254_740_992, false),
    ]

    @Test(arguments: readings)
    func aNumberIsReadFromOtherTypes(stored: PropertyList, integer: Int, double: Double, bool: Bool) {
        let suite = DefaultsSuite.inMemory(["a": stored])
        let failures = Failures(of: suite)
        #expect(suite.integer(forKey: "a") == integer)
        #expect(suite.double(forKey: "a") == double)
        #expect(suite.float(forKey: "a") == Float(double))
        #expect(suite.bool(forKey: "a") == bool)
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
        let defaults: any UDKeyValueCodingAndObserving = kind.make()
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
}
