import Dispatch
import Foundation
import Testing

@testable import TypedDefaults

struct DefaultsSuiteTests {
    @Test func suitesInMemoryShareNothing() {
        let first = DefaultsSuite.inMemory()
        let second = DefaultsSuite.inMemory()
        PersistentStore<CameraConfig>(suite: first).set(CameraConfig())
        #expect(PersistentStore<CameraConfig>(suite: second).get() == nil)
    }

    @Test func aSuiteIsSeededFromALiteral() {
        let suite = DefaultsSuite.inMemory(["CameraConfig": ["savesToCameraRoll": false, "size": "large"], "é": 1])
        #expect(
            PersistentStore<CameraConfig>(suite: suite).get() == CameraConfig(savesToCameraRoll: false, size: .large))
    }

    @Test func suitesOnOneBackendShareOneCore() {
        let backend = MemoryBackend()
        #expect(DefaultsSuite(backend: backend).core === DefaultsSuite(backend: backend).core)
    }

    @Test func removingIsOneCommit() {
        let backend = SpyBackend(["a": 1, "b": 2, "c": 3])
        let suite = DefaultsSuite(backend: backend)
        suite.remove(["a", "b", "a"])
        suite.removeAll()
        suite.removeAll()
        #expect(backend.commits == [["a": nil, "b": nil], ["c": nil]])
    }

    @Test func aReaderNeverSeesHalfACommit() throws {
        let backend = SpyBackend()
        let suite = DefaultsSuite(backend: backend)
        let first = PersistentStore(DefaultKey("first", default: 0), suite: suite)
        let second = PersistentStore(DefaultKey("second", default: 0), suite: suite)
        let isDone = Guarded(false)
        // The second key is written with the first: once the first shows a number, the second must not be behind it.
        onThreads(3) { index in
            if index == 0 {
                for number in 1...20_000 {
                    do {
                        try suite.core.withWriteAccess { () throws(DefaultsError) in
                            let value = PropertyList.integer(.init(number))
                            try suite.core.commit([("first", value), ("second", value)])
                        }
                    } catch {
                        Issue.record(error)
                    }
                }
                isDone.withLock { $0 = true }
            } else {
                while !isDone.withLock({ $0 }) {
                    let one = first.get() ?? 0
                    let other = second.get() ?? 0
                    if other < one { Issue.record("\(one) was seen, then \(other)") }
                }
            }
        }
        #expect(first.get() == 20_000 && second.get() == 20_000)
    }

    // Law 6

    @Test func aWriterThatWaitsTooLongGetsAnError() throws {
        let core = SuiteCore(MemoryBackend(), patience: .milliseconds(50))
        let suite = DefaultsSuite(core: core)
        let store = PersistentStore(DefaultKey("n", default: 0), suite: suite)
        let entered = DispatchSemaphore(value: 0)
        let leave = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        Thread {
            do {
                try store.update {
                    entered.signal()
                    leave.wait()
                    $0 = 1
                }
            } catch {
                Issue.record(error)
            }
            ended.signal()
        }.start()
        entered.wait()
        #expect(store.get() == nil)
        #expect(fails(with: .timedOut) { try store.save(2) })
        leave.signal()
        ended.wait()
        #expect(store.get() == 1)
        try store.save(3)
        #expect(store.get() == 3)
    }

    @Test func anotherSuiteMayBeWrittenInsideAnUpdate() throws {
        let store = InMemoryStore(CameraConfig())
        let other = InMemoryStore(CameraConfig())
        try store.update { config in try other.update { $0?.size = .large } }
        #expect(other.get()?.size == .large)
    }

    // Failures

    @Test func aFailureHandlerMayUseTheSuite() {
        let backend = SpyBackend(["n": "unreadable"])
        let suite = DefaultsSuite(backend: backend)
        suite.onFailure = { _ in suite[DefaultKey("failures", default: 0)] += 1 }
        suite[DefaultKey("n", default: 0)] = 5
        #expect(suite[DefaultKey("failures", default: 0)] == 1)
        #expect(suite[DefaultKey("n", default: 0)] == 5)
    }

    @Test func aFailureHandlerThatFailsDoesNotCallItself() {
        let suite = DefaultsSuite(backend: SpyBackend())
        let calls = Guarded(0)
        suite.onFailure = { _ in
            calls.withLock { $0 += 1 }
            suite[DefaultKey("n", default: 0)] = calls.withLock { $0 }
        }
        (suite.core.backend as? SpyBackend)?.fail(with: DefaultsError(.unavailable, reason: "a test"))
        suite[DefaultKey("n", default: 0)] = 5
        #expect(calls.withLock { $0 } == 1)
    }

    // Durability

    @Test func aBackendThatAsksForItIsSynchronizedInTheBackgroundOnceForSeveralCommits() throws {
        let backend = SignallingBackend()
        let suite = DefaultsSuite(backend: backend)
        for number in 0..<10 { suite[DefaultKey("n", default: -1)] = number }
        #expect(backend.synchronized.wait(timeout: .now() + 10) == .success)
        suite[DefaultKey("n", default: -1)] = 11
        #expect(backend.synchronized.wait(timeout: .now() + 10) == .success)
        #expect(backend.contents.value(forKey: "n") == 11)
    }

    @Test func aFailureInTheBackgroundReachesTheHandler() throws {
        let suite = DefaultsSuite(backend: SignallingBackend(failing: true))
        let heard = DispatchSemaphore(value: 0)
        suite.onFailure = { if $0.kind == .unavailable { heard.signal() } }
        suite[DefaultKey("n", default: 0)] = 1
        #expect(heard.wait(timeout: .now() + 10) == .success)
    }

    private final class SignallingBackend: DefaultsBackend {
        let contents = MemoryBackend()
        let synchronized = DispatchSemaphore(value: 0)
        private let fails: Bool
        init(failing: Bool = false) { fails = failing }
        func value(forKey key: String) -> PropertyList? { contents.value(forKey: key) }
        func keys() -> [String] { contents.keys() }
        func withWriteAccess(_ body: () -> Void) { body() }
        func commit(_ edits: [(key: String, value: PropertyList?)]) { contents.commit(edits) }
        var generation: UInt64? { 0 }
        func changes(since generation: UInt64) -> (keys: [String]?, generation: UInt64) { ([], 0) }
        var synchronizationDelay: Duration? { .milliseconds(100) }
        func synchronize() throws(DefaultsError) {
            if fails { throw DefaultsError(.unavailable, reason: "a test") }
            synchronized.signal()
        }
    }
}
