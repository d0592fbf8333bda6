import Foundation
import SettingsFile
import TestSupport
import Testing

@testable import TypedDefaults

/// Tests that the values of a change are decoded when they are asked for, and once.
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

    @Test func aValueIsDecodedOnceWhenItIsAskedFor() throws {
        let store = PersistentStore<Counted>(in: .inMemory())
        // The first value of a type is decoded to check its round trip.
        store.set(Counted(number: 1))
        let changes = Guarded<[DefaultChange<Counted>]>([])
        let tokens = (1...3).map { _ in store.observe { change in changes.withLock { $0.append(change) } } }
        let before = Self.decodings.withLock { $0 }
        for number in 2...5 { store.set(Counted(number: number)) }
        store.remove()
        #expect(Self.decodings.withLock { $0 } == before)
        let received = changes.withLock { $0 }
        #expect(received.map(\.kind) == [.set, .set, .set, .set, .removed].flatMap { [$0, $0, $0] })
        // The new value of a change is the old one of the next.
        #expect(received.compactMap(\.newValue?.number) == (2...5).flatMap { [$0, $0, $0] })
        #expect(received.compactMap(\.oldValue?.number) == (1...5).flatMap { [$0, $0, $0] })
        #expect(Self.decodings.withLock { $0 } == before + 5)
        for token in tokens { token.cancel() }
    }

    @Test func theDefaultTakesThePlaceOfAMissingValue() throws {
        let backend = SpyBackend()
        let suite = DefaultsSuite(backend: backend)
        let failures = Failures(of: suite)
        let wrapper = UserDefault(DefaultKey("number", default: 9), in: suite)
        let received = Guarded<[[Int?]]>([])
        let token = wrapper.observe { change in
            received.withLock { $0.append([change.oldValue, change.newValue]) }
        }
        backend.write("text", forKey: "number")
        wrapper.value = 2
        wrapper.reset()
        #expect(received.withLock { $0 } == [[9, 9], [9, 2], [2, 9]])
        // The second one says where the write has kept the value.
        #expect(failures.kinds == [.unreadable, .unreadable])
        token.cancel()
    }

    private static let number = DefaultKey("number", default: 0)

    /// Once, after the observers have returned, if one of them has asked for it.
    @Test func anUnreadableValueThatAnObserverAsksForIsReported() {
        let backend = SpyBackend()
        let suite = DefaultsSuite(backend: backend)
        let events = Guarded<[String]>([])
        suite.onFailure = { error in events.withLock { $0.append("\(error.kind)") } }
        let store = UserDefault(Self.number, in: suite).store
        var tokens = [store.observe { change in events.withLock { $0.append("first \(change.kind)") } }]
        backend.write("text", forKey: "number")
        #expect(events.withLock { $0 } == ["first set"])
        for name in ["second", "third"] {
            tokens.append(store.observe { change in events.withLock { $0.append("\(name) \(change.newValue ?? -1)") } })
        }
        backend.write("another text", forKey: "number")
        for _ in 1...2 { #expect(store.get() == nil) }
        #expect(events.withLock { $0 } == ["first set", "first set", "second -1", "third -1", "unreadable"])
        for token in tokens { token.cancel() }
    }

    /// A consumer that takes its changes later gets them decoded, and the failure is reported.
    @Test @MainActor func laterConsumersGetDecodedChanges() async {
        let backend = SpyBackend()
        let suite = DefaultsSuite(backend: backend)
        let failures = Failures(of: suite)
        let store = UserDefault(Self.number, in: suite).store
        let values = Guarded<[Int?]>([])
        let token = store.observeOnMainActor { change in values.withLock { $0.append(change.newValue) } }
        var changes = store.changes.makeAsyncIterator()
        backend.write("text", forKey: "number")
        #expect(failures.kinds == [.unreadable])
        store.set(2)
        while values.withLock({ $0.count }) < 2 { await Task.yield() }
        #expect(values.withLock { $0 } == [nil, 2])
        #expect(await changes.next()?.newValue == 2)
        token.cancel()
    }

    /// A program may keep a change under a lock that its failure handler acquires as well.
    @Test func askingLaterCallsNoFailureHandlerAndKeepsNoReport() throws {
        let backend = SpyBackend()
        let suite = DefaultsSuite(backend: backend)
        let failures = Failures(of: suite)
        let store = UserDefault(Self.number, in: suite).store
        let changes = Guarded<[DefaultChange<Int>]>([])
        let token = store.observe { change in changes.withLock { $0.append(change) } }
        backend.write("text", forKey: "number")
        store.remove()
        let before = failures.all.count
        for change in changes.withLock({ $0 }) { #expect(change.oldValue == nil && change.newValue == nil) }
        #expect(failures.all.count == before)
        // The same bad value is a new one for readers.
        backend.write("text", forKey: "number")
        #expect(store.get() == nil)
        #expect(failures.all.count == before + 1)
        token.cancel()
    }

    private final class Item: Codable, Sendable {}
    private struct Holder: DefaultConfig {
        static let key = "holder"
        var item = Item()
        var number = 0
    }

    @Test func threadsThatAskAtOnceGetOneValue() throws {
        let store = PersistentStore<Holder>(in: .inMemory())
        let changes = Guarded<[DefaultChange<Holder>]>([])
        let token = store.observe { change in changes.withLock { $0.append(change) } }
        for number in 1...200 { store.set(Holder(number: number)) }
        token.cancel()
        let received = changes.withLock { $0 }
        let items = Guarded<[[Item]]>(received.map { _ in [] })
        onThreads(4) { _ in
            for (index, change) in received.enumerated() {
                guard let item = change.newValue?.item else { return }
                items.withLock { $0[index].append(item) }
            }
        }
        #expect(items.withLock { $0 }.allSatisfy { $0.count == 4 && Set($0.map(ObjectIdentifier.init)).count == 1 })
    }

    /// A change that is kept can still be read, and does not keep its suite.
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
