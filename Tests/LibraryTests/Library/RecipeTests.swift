import Foundation
import TestSupport
import Testing
import TypedDefaults

/// The published recipes, in each form of declaration.
struct RecipeTests {
    final class TestClass: Codable, Sendable, Equatable {
        let p1: Int
        let p2: String
        init(p1: Int, p2: String) { (self.p1, self.p2) = (p1, p2) }
        static func == (lhs: TestClass, rhs: TestClass) -> Bool { lhs.p1 == rhs.p1 && lhs.p2 == rhs.p2 }
    }

    /// Checks the default, a write and a read, and the default again.
    private func check<Value: Codable & Sendable & Equatable>(default value: Value, _ other: Value) {
        let suite = DefaultsSuite.inMemory()
        let failures = Failures(of: suite)
        @UserDefault("value", in: suite) var local = value
        #expect(local == value)
        local = other
        #expect(local == other)
        #expect(suite[DefaultKey("value", default: value)] == other)
        $local.reset()
        #expect(local == value)
        #expect(failures.all == [])
    }

    @Test func eachTypeReadsItsDefaultThenWhatIsWritten() {
        check(default: true, false)
        check(default: 1, .max)
        check(default: "a", "")
        check(default: 0.5, -0.0)
        check(default: Float(0.25), 0.1)
        check(default: ["a"], [])
        check(default: ["a": 1], ["b": 2, "": 3])
        check(default: URL(string: "https://example.com/a")!, URL(fileURLWithPath: "/b c"))
        check(default: TestClass(p1: 33, p2: "second"), TestClass(p1: 34, p2: "third"))
    }

    @Test func eachOptionalReadsNilThenWhatIsWritten() {
        check(default: Bool?.none, false)
        check(default: Int?.none, 0)
        check(default: String?.none, "")
        check(default: Double?.none, 1e300)
        check(default: Float?.none, 0.1)
        check(default: [String]?.none, [])
        check(default: [String: Int]?.none, [:])
        check(default: URL?.none, URL(string: "https://example.com"))
        check(default: TestClass?.none, TestClass(p1: 33, p2: "second"))
    }

    @Test func twoStructsStayInStep() {
        let suite = DefaultsSuite.inMemory()
        struct Holder {
            @UserDefault var number: Int
            init(_ suite: DefaultsSuite) { _number = UserDefault("number", defaultValue: 10, in: suite) }
        }
        let (first, second) = (Holder(suite), Holder(suite))
        let received = Heard { note in first.$number.observe(initial: true) { note($0.newValue) } }
        first.number = 20
        #expect(second.number == 20)
        second.number = 30
        #expect(first.number == 30)
        for number in [40, 50] { first.$number.value = number }
        second.$number.store.set(60)
        suite[DefaultKey("number", default: 10)] = 70
        received.cancel()
        #expect(received.all == [10, 20, 30, 40, 50, 60, 70])
        #expect(first.number == 70 && second.number == 70)
    }

    /// An object with string keys that receives its suite.
    struct Hoge {
        let defaults: DefaultsSuite
        var count: Int {
            get { defaults[DefaultKey("count", default: 0)] }
            nonmutating set { defaults[DefaultKey("count", default: 0)] = newValue }
        }
    }

    @Test func anInjectedSuiteIsSwappedInATest() throws {
        let (hoge, other) = (Hoge(defaults: .inMemory()), Hoge(defaults: .inMemory(["count": 5])))
        hoge.count += 1
        #expect(hoge.count == 1)
        #expect(other.count == 5)
        try other.defaults.removeAll()
        #expect(other.count == 0)
        #expect(try hoge.defaults.keys() == ["count"])
    }

    /// Its suite in tests is created from a literal, observed like any other, and reset in one
    /// call.
    @Test func anInMemoryStoreIsObservedLikeAPersistentStore() throws {
        let suite = DefaultsSuite.inMemory(["CameraConfig": ["savesToCameraRoll": false, "size": "large"]])
        let (store, other) = (AnyStore<CameraConfig>.persistent(in: suite), AnyStore.inMemory(CameraConfig()))
        let sizes = Guarded<[CameraConfig.Size?]>([])
        let tokens = [store, other].map { store in
            store.observe { change in sizes.withLock { $0.append(change.newValue?.size) } }
        }
        #expect(store.get() == CameraConfig(savesToCameraRoll: false, size: .large))
        store.set(CameraConfig(size: .small))
        #expect(other.get() == CameraConfig())
        try suite.removeAll()
        other.remove()
        #expect(sizes.withLock { $0 } == [.small, nil, nil])
        for token in tokens { token.cancel() }
    }
}
