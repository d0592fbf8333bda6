import TestSupport
import Testing
import TypedDefaults

private struct Camera: DefaultConfig {
    static let key = "Camera"
    var zoom = 1.0
}

/// Three methods, of which `remove` fails in silence.
private struct Stuck: DefaultStoreType {
    func get() -> Int? { 1 }
    func set(_ value: Int) {}
    func remove() {}
}

struct AnyStoreTests {
    private static let removals: [String: @Sendable (DefaultsSuite) throws -> Void] = [
        "store": { try PersistentStore<Camera>(in: $0).removeStored() },
        "any store": { try AnyStore<Camera>.persistent(in: $0).removeStored() },
        "decorator": { try Decorated(base: AnyStore<Camera>.persistent(in: $0)).removeStored() },
        "setting": { try UserDefault<Camera>(in: $0).removeStored() },
        "key": { try $0.removeStored(DefaultKey(Camera.self), DefaultKey("other", default: 1)) },
        "suite": { try $0.removeAll() },
    ]

    @Test(arguments: removals.keys.sorted())
    func aRemovalRemovesWhatCannotBeReadAndThrowsIfItFails(way: String) throws {
        let (backend, remove) = (SpyBackend(["Camera": "garbage"]), try #require(Self.removals[way]))
        let suite = DefaultsSuite(backend: backend)
        let failures = Failures(of: suite)
        backend.fail(with: DefaultsError(.unavailable, reason: "locked"))
        #expect(fails(with: .unavailable) { try remove(suite) })
        backend.fail(with: nil)
        #expect(backend.contents == ["Camera": "garbage"])
        try suite.update { _ in #expect(fails(with: .nestedWrite) { try remove(suite) }) }
        try remove(suite)
        try remove(suite)
        #expect(backend.contents == [:])
        #expect(failures.all.isEmpty)
    }

    @Test func aStoreOfAProgramThrowsIfItsValueStays() {
        #expect(fails(with: .refused) { try AnyStore(Stuck()).removeStored() })
        #expect(fails(with: .refused) { try Stuck().updateStored { $0 = nil } })
    }

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
