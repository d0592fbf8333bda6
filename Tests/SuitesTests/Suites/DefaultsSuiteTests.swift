import Dispatch
import Foundation
import TestSupport
import Testing
import TypedDefaultsTesting

@testable import TypedDefaults

struct DefaultsSuiteTests {
    /// Registered suites cost memory and share a lock, so suites in memory are not registered.
    @Test func suitesAreReleasedWithTheirLastHandle() {
        let count = SuiteCore.countInUse
        let stores = (0..<8_000).map { InMemoryStore($0) }
        for _ in 0..<8_000 { _ = DefaultsSuite(backend: MemoryBackend(["number": 1])) }
        // Other tests create a few suites at the same time.
        #expect(SuiteCore.countInUse < count + 1_000)
        #expect(stores.last?.get() == 7_999)
    }

    @Test func theHandlerOfFailuresIsTheSameForAllHandles() {
        let suite = DefaultsSuite.inMemory()
        let failures = Failures(of: suite)
        suite.scoped("user/").onFailure(DefaultsError(.refused, reason: "a test"))
        #expect(failures.kinds == [.refused])
    }

    @Test func kindsOfErrorsAreDescribedInWords() {
        let kinds: [DefaultsError.Kind] = [.unreadable, .timedOut, .nestedWrite, .invalidName]
        #expect(
            kinds.map(\.description) == ["unreadable", "timed out", "nested write", "invalid name"])
    }

    @Test func removingIsOneCommit() throws {
        let backend = SpyBackend(["a": 1, "b": 2, "c": 3])
        let suite = DefaultsSuite(backend: backend)
        suite.remove(["a", "b", "a"])
        try suite.removeAll()
        try suite.removeAll()
        #expect(backend.commits == [["a": nil, "b": nil], ["c": nil]])
    }

    @Test func readersNeverSeePartOfACommit() throws {
        let backend = SpyBackend()
        let suite = DefaultsSuite(backend: backend)
        let first = UserDefault(DefaultKey("first", default: 0), in: suite).store
        let second = UserDefault(DefaultKey("second", default: 0), in: suite).store
        let isDone = Guarded(false)
        // Both keys are written together, so the second value read must not be lower than the
        // first.
        onThreads(3) { index in
            if index == 0 {
                for number in 1...20_000 {
                    do {
                        try suite.core.write { () throws(DefaultsError) in
                            let value = PropertyList.integer(.init(number))
                            try suite.core.commit([Edit("first", value), Edit("second", value)])
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

    /// Nothing keeps other processes from writing during a commit to such storage.
    @Test func aChangeDuringACommitIsNotMissed() {
        for moment in [SpyBackend.Call.commit, .committed] {
            let backend = SpyBackend(["first": 1, "second": 1])
            let suite = DefaultsSuite(backend: backend)
            let (first, second) = (DefaultKey("first", default: 0), DefaultKey("second", default: 0))
            #expect(suite[first] == 1 && suite[second] == 1)
            backend.interrupt { [weak backend] call in
                guard call == moment else { return }
                backend?.interrupt(nil)
                backend?.write(2, forKey: "second")
            }
            suite[first] = 5
            #expect(suite[first] == 5)
            #expect(suite[second] == 2)
        }
    }

    /// Another thread reads before the suite knows that the commit has ended.
    @Test func aChangeOfTheSameKeyAfterACommitIsNotMissed() {
        let backend = SpyBackend(["first": 1])
        let suite = DefaultsSuite(backend: backend)
        let first = DefaultKey("first", default: 0)
        let heard = Heard { note in suite.observe(first) { note($0.newValue ?? -1) } }
        #expect(suite[first] == 1)
        backend.interrupt { [weak backend] call in
            guard call == .committed else { return }
            backend?.interrupt(nil)
            backend?.write(9, forKey: "first")
            #expect(suite[first] == 9)
        }
        suite[first] = 5
        #expect(suite[first] == 9)
        suite.waitForHandlers()
        #expect(heard.all == [5, 9])
    }

    @Test func aCommitDoesNotHideExternalChanges() {
        let backend = SpyBackend(["mine": 1, "theirs": 1])
        let suite = DefaultsSuite(backend: backend)
        let theirs = UserDefault(DefaultKey("theirs", default: 0), in: suite).store
        #expect(theirs.get() == 1)
        backend.write(2, forKey: "theirs")
        suite.remove(["mine"])
        #expect(theirs.get() == 2)
    }

    @Test func aChangeOfOneKeyDoesNotRereadAnother() {
        let backend = SpyBackend(["one": 1, "other": 1])
        let suite = DefaultsSuite(backend: backend)
        let one = UserDefault(DefaultKey("one", default: 0), in: suite).store
        #expect(one.get() == 1)
        let reads = backend.reads
        backend.write(2, forKey: "other")
        #expect(one.get() == 1)
        #expect(backend.reads == reads)
    }

    // Law 6

    @Test func aWriterThatWaitsTooLongTimesOut() throws {
        let core = SuiteCore(ImpatientBackend())
        let suite = DefaultsSuite(core: core)
        let store = UserDefault(DefaultKey("n", default: 0), in: suite).store
        let entered = DispatchSemaphore(value: 0)
        let leave = DispatchSemaphore(value: 0)
        let ended = onThread {
            do {
                try store.updateStored {
                    entered.signal()
                    leave.wait()
                    $0 = 1
                }
            } catch {
                Issue.record(error)
            }
        }
        entered.wait()
        #expect(store.get() == nil)
        #expect(fails(with: .timedOut) { try store.save(2) })
        leave.signal()
        ended.wait()
        #expect(store.get() == 1)
        try store.save(3)
        #expect(store.get() == 3)
    }

    // Failures

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

    private final class ImpatientBackend: BackendDecorator {
        let base: any DefaultsBackend = MemoryBackend()
        let traits = BackendTraits(writeTimeout: .milliseconds(50))
    }
}
