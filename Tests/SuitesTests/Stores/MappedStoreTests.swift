import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

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

    @Test func aChangeOfOtherCodeIsExternal() {
        let backend = SpyBackend()
        let suite = DefaultsSuite(backend: backend)
        let store = PersistentStore<CameraConfig>(in: suite)
        let origins = Heard { note in store.map(\.size).observe { note($0.origin) } }
        store.set(CameraConfig(size: .large))
        backend.write(["size": "small"], forKey: CameraConfig.key)
        suite.waitForHandlers()
        #expect(origins.all == [.local, .external])
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

    @Test func aPartOfAForeignStoreThrowsTheErrorOfTheStore() throws {
        final class Failing: DefaultStoreType {
            struct Secret: Error { let text = "S3CR3T" }
            func get() -> CameraConfig? { CameraConfig() }
            func set(_ value: CameraConfig) {}
            func remove() {}
            func save(_ value: CameraConfig) throws { throw Secret() }
        }
        #expect(throws: Failing.Secret.self) { try Failing().map(\.size).save(.large) }
        // Goes to the log, because there is no handler.
        Failing().map(\.size).set(.large)
    }

    @Test func aPartDiffersByItsBits() {
        struct Whole: Codable, Sendable {
            var number = 0.0
            var note = 0
            var inner = Inner()
            struct Inner: Codable, Equatable, Sendable { var text = "e\u{301}" }
        }
        let store = InMemoryStore(Whole())
        let received = Guarded(0)
        let tokens = [
            store.map(\.number).observe { _ in received.withLock { $0 += 1 } },
            store.map(\.inner.text).observe { _ in received.withLock { $0 += 1 } },
        ]
        store.set(Whole(number: -0.0))
        #expect(received.withLock { $0 } == 1)
        store.set(Whole(number: .nan))
        store.set(Whole(number: .nan, note: 1))
        #expect(received.withLock { $0 } == 2)
        store.set(Whole(number: .nan, note: 1, inner: .init(text: "\u{E9}")))
        #expect(received.withLock { $0 } == 3)
        for token in tokens { token.cancel() }
    }

    @Test func theFailureOfAPartOfAPartReachesTheSuite() {
        struct Outer: DefaultConvertible, Codable {
            static let key = "outer"
            var inner = Inner()
            struct Inner: Codable, Equatable, Sendable { var number = 1 }
        }
        let failures = Failures(of: suite)
        PersistentStore<Outer>(in: suite).map(\.inner).map(\.number).set(3)
        #expect(failures.kinds == [.refused])
    }
}
