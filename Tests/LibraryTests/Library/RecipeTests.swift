import Foundation
import TestSupport
import Testing
import TypedDefaults

/// The published recipes, in each form of declaration.
struct RecipeTests {
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
