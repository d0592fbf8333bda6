import TestSupport
import Testing
import TypedDefaults

struct InMemoryStoreTests {
    @Test func twoStoresShareNothing() {
        let first = InMemoryStore(CameraConfig())
        let second = InMemoryStore<CameraConfig>()
        #expect(first.get() == CameraConfig())
        #expect(second.get() == nil)
    }

    @Test func copiesShareTheValue() {
        let store = InMemoryStore<CameraConfig>()
        let copy = store
        copy.set(CameraConfig(size: .large))
        #expect(store.get()?.size == .large)
    }
}
