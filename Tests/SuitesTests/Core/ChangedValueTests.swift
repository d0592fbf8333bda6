import Foundation
import SettingsFile
import TestSupport
import Testing
import TypedDefaultsTesting

@testable import TypedDefaults

/// Tests that the values of a change are decoded on demand, and which failures are reported.
struct ChangedValueTests {
    private static let decodings = Guarded(0)

    private struct Counted: DefaultConfig, Equatable {
        static let key = "counted"
        var number = 0

        init() {}
        init(number: Int) { self.number = number }

        init(from decoder: any Decoder) throws {
            decodings.withLock { $0 += 1 }
            number = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .number)
        }
    }

    private struct Limits: DefaultConfig, Equatable {
        static let key = "limits"
        var rate = 100
        var size = 1
    }

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

    /// A program that only observes also receives a report of parts that cannot be read.
    @Test func aPartThatCannotBeReadIsReportedOnce() {
        let backend = SpyBackend()
        let suite = DefaultsSuite(backend: backend)
        let failures = Failures(of: suite)
        let store = PersistentStore<Limits>(in: suite)
        let token = store.observe { change in _ = change.newValue }
        backend.write(["rate": "many", "size": 7], forKey: "limits")
        suite.waitForHandlers()
        #expect(failures.all.map(\.key) == ["limits"])
        #expect(store.get() == Limits(rate: 100, size: 7))
        #expect(failures.all.count == 1)
        backend.write(["rate": 5, "size": 7], forKey: "limits")
        backend.write(["rate": "many", "size": 7], forKey: "limits")
        suite.waitForHandlers()
        #expect(failures.all.count == 2)
        token.cancel()
    }

    /// Once, after the observers have returned, if one of them has asked for it.
    @Test func anUnreadableValueThatAnObserverAsksForIsReported() {
        let backend = SpyBackend()
        let suite = DefaultsSuite(backend: backend)
        let events = Guarded<[String]>([])
        suite.onFailure = { error in events.withLock { $0.append("\(error.kind)") } }
        let store = UserDefault(Self.number, in: suite).store
        var tokens = [store.observe { change in events.withLock { $0.append("first \(change.kind)") } }]
        backend.write("text", forKey: "number")
        suite.waitForHandlers()
        #expect(events.withLock { $0 } == ["first set"])
        for name in ["second", "third"] {
            tokens.append(store.observe { change in events.withLock { $0.append("\(name) \(change.newValue ?? -1)") } })
        }
        backend.write("another text", forKey: "number")
        suite.waitForHandlers()
        for _ in 1...2 { #expect(store.get() == nil) }
        #expect(events.withLock { $0 } == ["first set", "first set", "second -1", "third -1", "unreadable"])
        for token in tokens { token.cancel() }
    }

    /// A program may keep a change under a lock that its failure handler acquires as well.
    @Test func askingLaterCallsNoFailureHandlerAndKeepsNoReport() throws {
        let backend = SpyBackend()
        let suite = DefaultsSuite(backend: backend)
        let failures = Failures(of: suite)
        let store = UserDefault(Self.number, in: suite).store
        let changes = Heard { note in store.observe { note($0) } }
        backend.write("text", forKey: "number")
        store.remove()
        let before = failures.all.count
        for change in changes.all { #expect(change.oldValue == nil && change.newValue == nil) }
        #expect(failures.all.count == before)
        // Readers see the same bad value as a new one.
        backend.write("text", forKey: "number")
        #expect(store.get() == nil)
        #expect(failures.all.count == before + 1)
    }

    /// A change that is kept can still be read, and does not retain its suite.
    @Test func aChangeOutlivesItsSuite() throws {
        let changes = Guarded<[DefaultChange<Counted>]>([])
        weak var core: SuiteCore?
        do {
            let suite = DefaultsSuite.inMemory()
            core = suite.core
            let store = PersistentStore<Counted>(in: suite)
            let token = store.observe { change in changes.withLock { $0.append(change) } }
            store.set(Counted(number: 3))
            store.set(Counted(number: 4))
            token.cancel()
        }
        #expect(core == nil)
        #expect(changes.withLock { $0 }.map(\.newValue?.number) == [3, 4])
    }
}
