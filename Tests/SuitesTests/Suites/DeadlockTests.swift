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
        @Test func aDeinitInsideAReplacedValueMayUseTheSuite() async {
            await #expect(processExitsWith: .success) {
                alarm(60)
                let settings = Settings()
                settings.holder.set(Holder())
                _ = settings.holder.get()
                // Another process replaces the value: the next read releases it.
                settings.backend.write(["item": "item", "number": 1], forKey: "holder")
                let before = settings.ended.get() ?? 0
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
    #endif

    /// A backend that uses a suite of its own, which it creates on first use.
    private final class LayeredBackend: SystemBackend {
        enum Hook { case attach, location }
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
        func commit(_ edits: [(key: String, value: PropertyList?)]) {}
        func attach(report: @escaping @Sendable (DefaultsError) -> Void) { if hook == .attach { _ = open() } }
        var location: String? { hook == .location ? open().location ?? "layered" : nil }
    }

    #if os(macOS) || os(Linux)
        @Test func aBackendMayCreateASuiteWhenItIsAttached() async {
            await #expect(processExitsWith: .success) {
                alarm(60)
                for hook in [LayeredBackend.Hook.attach, .location] {
                    let suite = DefaultsSuite(backend: LayeredBackend(hook))
                    #expect(suite[DefaultKey("number", default: 0)] == 7)
                }
            }
        }
    #endif
}

/// Tests suites that are created on several threads at the same time.
struct SharedSuiteTests {
    private final class ReportingBackend: SystemBackend {
        let memory = MemoryBackend()
        let report = Guarded<(@Sendable (DefaultsError) -> Void)?>(nil)
        func value(forKey key: String) -> PropertyList? { memory.value(forKey: key) }
        func keys() -> [String] { memory.keys() }
        func commit(_ edits: [(key: String, value: PropertyList?)]) throws(DefaultsError) { try memory.commit(edits) }
        func attach(report: @escaping @Sendable (DefaultsError) -> Void) { self.report.withLock { $0 = report } }
    }

    @Test func concurrentlyCreatedSuitesOfOneBackendAreEqual() {
        for _ in 0..<300 {
            let backend = ReportingBackend()
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
            backend.report.withLock { $0 }?(DefaultsError(.refused, reason: "the backend itself"))
            #expect(failures.kinds == [.refused])
        }
    }
}
