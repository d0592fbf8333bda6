import TestSupport
import Testing
import TypedDefaults

struct MappedStoreTests {
    private let suite = DefaultsSuite.inMemory()
    private var store: PersistentStore<CameraConfig> { PersistentStore(in: suite) }

    @Test func aPartIsReadAndWrittenAndTheRestStays() throws {
        let size = store.map(\.size)
        #expect(size.get() == nil)
        #expect(try size.load() == nil)
        store.set(CameraConfig(savesToCameraRoll: false))
        #expect(size.get() == .medium)
        size.set(.large)
        try size.updateStored { part in
            #expect(part == .large)
            part = .small
        }
        #expect(store.get() == CameraConfig(savesToCameraRoll: false, size: .small))
    }

    @Test func aPartWithoutAWholeIsRefusedUnlessThereIsADefault() throws {
        let failures = Failures(of: suite)
        let size = store.map(\.size)
        #expect(fails(with: .refused) { try size.save(.large) })
        size.set(.large)
        #expect(failures.kinds == [.refused])
        #expect(store.get() == nil)
        size.remove()
        #expect(failures.kinds == [.refused], "there is nothing to remove")
        store.set(CameraConfig())
        size.remove()
        AnyStore(store).map(\.size).remove()
        #expect(failures.kinds == [.refused, .refused, .refused])
        #expect(store.get() == CameraConfig())

        store.remove()
        let withDefault = store.map(\.size, default: CameraConfig(savesToCameraRoll: false))
        withDefault.set(.large)
        #expect(store.get() == CameraConfig(savesToCameraRoll: false, size: .large))
        withDefault.remove()
        #expect(store.get() == CameraConfig(savesToCameraRoll: false, size: .medium))
    }

    @Test func onlyChangesOfThePartAreReported() {
        let received = Guarded<[String]>([])
        let token = AnyStore(store).map(\.size).observe(initial: true) { change in
            received.withLock {
                $0.append("\(change.oldValue?.rawValue ?? "-") \(change.newValue?.rawValue ?? "-") \(change.kind)")
            }
        }
        store.set(CameraConfig())
        store.set(CameraConfig(savesToCameraRoll: false))
        store.set(CameraConfig(size: .large))
        store.remove()
        token.cancel()
        store.set(CameraConfig())
        #expect(received.withLock { $0 } == ["- - initial", "- medium set", "medium large set", "large - removed"])
    }

    @Test func aPartOfAPart() {
        struct Outer: Codable, Equatable, Sendable {
            var inner = Inner()
            struct Inner: Codable, Equatable, Sendable { var number = 1 }
        }
        let outer = InMemoryStore<Outer>()
        let number = outer.map(\.inner, default: Outer()).map(\.number, default: Outer.Inner())
        number.set(5)
        #expect(outer.get() == Outer(inner: .init(number: 5)))
    }
}
