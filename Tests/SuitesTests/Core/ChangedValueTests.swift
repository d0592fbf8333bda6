import Foundation
import TestSupport
import Testing
import TypedDefaultsTesting

@testable import TypedDefaults

/// Tests that the values of a change are decoded on demand, and which failures are reported.
struct ChangedValueTests {
    private static let number = DefaultKey("number", default: 0)

    /// A consumer that takes its changes later gets them decoded, and the failure is reported.
    @Test @MainActor func laterConsumersGetDecodedChanges() async {
        let backend = SpyBackend()
        let suite = DefaultsSuite(backend: backend)
        let failures = Failures(of: suite)
        let store = UserDefault(Self.number, in: suite).store
        let values = Heard { note in store.observeOnMainActor { note($0.newValue) } }
        var changes = store.changes.makeAsyncIterator()
        backend.write("text", forKey: "number")
        suite.waitForHandlers()
        #expect(failures.kinds == [.unreadable])
        store.set(2)
        while values.all.count < 2 { await Task.yield() }
        #expect(values.all == [nil, 2])
        #expect(await changes.next()?.newValue == 2)
    }

    /// A change that is kept can still be read, and does not retain its suite.
    @Test func aChangeOutlivesItsSuite() throws {
        let changes = Guarded<[DefaultChange<CameraConfig>]>([])
        weak var core: SuiteCore?
        do {
            let suite = DefaultsSuite.inMemory()
            core = suite.core
            let store = PersistentStore<CameraConfig>(in: suite)
            let token = store.observe { change in changes.withLock { $0.append(change) } }
            store.set(CameraConfig(size: .small))
            store.set(CameraConfig(size: .large))
            token.cancel()
        }
        #expect(core == nil)
        #expect(changes.withLock { $0 }.map(\.newValue?.size) == [.small, .large])
    }
}
