import Foundation
import TestSupport
import Testing

@testable import TypedDefaults

/// Tests calls of foreign code that would deadlock if the library held a lock. Each test runs in a
/// process of its own, which an alarm kills after a minute, so that a deadlock fails only the test.
struct DeadlockTests {
    /// A value whose deinit runs code of the program.
    private struct Holder: Codable, Sendable {
        var item = Item()
        var number = 0
    }
    private final class Item: Codable, Sendable {
        static let whenItEnds = Guarded<(@Sendable () -> Void)?>(nil)
        init() {}
        init(from decoder: any Decoder) {}
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode("item")
        }
        deinit {
            // Do not run the action for items that are deallocated inside it.
            guard let action = Item.whenItEnds.withLock({ $0.take() }) else { return }
            action()
            Item.whenItEnds.withLock { $0 = action }
        }
    }

    /// A setting that holds an object, and another one that the object's deinit reads and writes.
    private struct Settings: Sendable {
        let backend = SpyBackend()
        let suite: DefaultsSuite
        let failures: Failures
        let holder: AnyStore<Holder>
        let ended: AnyStore<Int>

        init() {
            suite = DefaultsSuite(backend: backend)
            failures = Failures(of: suite)
            holder = UserDefault(DefaultKey("holder", default: Holder()), in: suite).store
            ended = UserDefault(DefaultKey("ended", default: 0), in: suite).store
            let (holder, ended) = (holder, ended)
            Item.whenItEnds.withLock {
                $0 = {
                    _ = holder.get()
                    ended.set((ended.get() ?? 0) + 1)
                }
            }
        }
    }

    #if os(macOS) || os(Linux)
        private final class Reader: Sendable {
            let suite: DefaultsSuite
            init(_ suite: DefaultsSuite) { self.suite = suite }
            deinit { _ = suite[DefaultKey("a", default: 0)] }
        }

        /// The queue must not hold the last reference to a cancelled observer.
        @Test func aDeinitInACancelledObserverMayUseTheSuite() async {
            await #expect(processExitsWith: .success) {
                alarm(60)
                let suite = DefaultsSuite(backend: SpyBackend())
                let (a, b) = (DefaultKey("a", default: 0), DefaultKey("b", default: 0))
                let token = Guarded<ObservationToken?>(nil)
                do {
                    let reader = Reader(suite)
                    let first = suite.observe(a) { _ in
                        withExtendedLifetime(reader) { token.withLock { $0.take() }?.cancel() }
                    }
                    token.withLock { $0 = first }
                }
                let second = suite.observe(b) { _ in }
                try suite.update { contents in
                    contents[a] = 1
                    contents[b] = 1
                }
                second.cancel()
            }
        }

        @Test func aDeinitInsideAReplacedValueMayUseTheSuite() async {
            await #expect(processExitsWith: .success) {
                alarm(60)
                let settings = Settings()
                settings.holder.set(Holder())
                _ = settings.holder.get()
                let before = settings.ended.get() ?? 0
                // Another process replaces the value: the next read releases it.
                settings.backend.write(["item": "item", "number": 1], forKey: "holder")
                #expect(settings.holder.get()?.number == 1)
                #expect(settings.ended.get() ?? 0 > before)
                // This process replaces the value: it is released after the write, because its
                // deinit writes.
                settings.holder.set(Holder(number: 2))
                _ = settings.holder.get()
                try settings.holder.updateStored { $0?.number = 3 }
                _ = settings.holder.get()
                settings.holder.remove()
                #expect(settings.failures.all == [])
            }
        }

        @Test func theDeallocatorsOfReplacedDataMayUseTheSuite() async {
            await #expect(processExitsWith: .success) {
                alarm(60)
                let suite = DefaultsSuite.inMemory()
                let ended = Guarded(0)
                func data() -> Data {
                    let bytes = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 1)
                    bytes.initializeMemory(as: UInt8.self, repeating: 7, count: 64)
                    return Data(
                        bytesNoCopy: bytes, count: 64,
                        deallocator: .custom { bytes, _ in
                            bytes.deallocate()
                            _ = suite[DefaultKey("other", default: 0)]
                            ended.withLock { $0 += 1 }
                        })
                }
                try suite.update { contents in
                    for key in ["a", "b", "c"] { contents[key] = .data(data()) }
                }
                try suite.update { contents in
                    for key in ["a", "b", "c"] { contents[key] = .data(Data()) }
                }
                #expect(ended.withLock { $0 } == 3)
            }
        }
    #endif

    /// A backend that uses a suite of its own, which it creates on first use.
    private final class LayeredBackend: DefaultsBackend {
        enum Hook { case watch, traits }
        let hook: Hook
        let inner = Guarded<DefaultsSuite?>(nil)
        init(_ hook: Hook) { self.hook = hook }

        func open() -> DefaultsSuite {
            if let inner = inner.withLock({ $0 }) { return inner }
            let made = DefaultsSuite(backend: MemoryBackend(["number": 7]))
            inner.withLock { $0 = made }
            return made
        }
        func value(forKey key: String) -> PropertyList? { open()[DefaultKey<PropertyList?>(key)] }
        func keys() throws(DefaultsError) -> [String] { [] }
        func commit(_ edits: BackendEdits, over generation: UInt64?) -> CommitOutcome { .committed() }
        func watch(_ subject: WatchedSubject, _ handler: (@Sendable (BackendEvent) -> Void)?) -> Bool {
            if hook == .watch { _ = open() }
            return false
        }
        var traits: BackendTraits {
            BackendTraits(location: hook == .traits ? open().location ?? "layered" : nil)
        }
    }

    #if os(macOS) || os(Linux)
        @Test func aBackendMayCreateASuiteWhenItIsWatched() async {
            await #expect(processExitsWith: .success) {
                alarm(60)
                for hook in [LayeredBackend.Hook.watch, .traits] {
                    let suite = DefaultsSuite(backend: LayeredBackend(hook))
                    #expect(suite[DefaultKey("number", default: 0)] == 7)
                }
            }
        }
    #endif
}

/// Tests suites that are created on several threads at the same time.
struct SharedSuiteTests {
    @Test func concurrentlyCreatedSuitesOfOneBackendAreEqual() {
        for _ in 0..<300 {
            let backend = TellingBackend()
            let suites = Guarded<[DefaultsSuite]>([])
            onThreads(4) { _ in
                let suite = DefaultsSuite(backend: backend)
                suites.withLock { $0.append(suite) }
                for _ in 0..<10 {
                    do {
                        try UserDefault(DefaultKey("count", default: 0), in: suite).store.updateStored {
                            $0 = ($0 ?? 0) + 1
                        }
                    } catch {
                        Issue.record(error)
                    }
                }
            }
            let suite = suites.withLock { $0[0] }
            #expect(suite[DefaultKey("count", default: 0)] == 40)
            let failures = Failures(of: suite)
            backend.tell(.failed(DefaultsError(.refused, reason: "the backend itself")))
            #expect(failures.kinds == [.refused])
        }
    }
}
