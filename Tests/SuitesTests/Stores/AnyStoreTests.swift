import TestSupport
import Testing
import TypedDefaults

struct AnyStoreTests {
    @Test func aBoxAroundABoxAddsNoLayer() {
        let box = AnyStore(InMemoryStore(CameraConfig()))
        #expect(
            String(describing: Mirror(reflecting: AnyStore(box)).children.map(\.value)).contains("AnyStore") == false)
        #expect(MemoryLayout.size(ofValue: AnyStore(box)) == MemoryLayout.size(ofValue: box))
    }

    @Test func anExistentialStoreCanBeBoxed() {
        let store: any DefaultStoreType<CameraConfig> = InMemoryStore(CameraConfig(size: .large))
        #expect(AnyStore(store).get()?.size == .large)
    }

    @Test func valuesThatHaveNoKeyCanBeHeldInMemory() {
        #expect(AnyStore(InMemoryStore(7)).get() == 7)
        #expect(AnyStore(InMemoryStore(CameraConfig.Size.large)).get() == .large)
        #expect(AnyStore(InMemoryStore(["a": [1.5]])).get() == ["a": [1.5]])
    }
}
