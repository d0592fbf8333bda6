import Foundation
import Testing

@testable import SettingsFile
@testable import TypedDefaults

struct RecursionCheckingLockTests {
    /// The tickets and the times that threads wrote down while they held the lock.
    private final class Record: @unchecked Sendable {
        // Unchecked, but touched only by the thread that holds the lock.
        var tickets: [UInt64] = []
    }

    @Test func threadsGetTheLockInTheOrderOfAsking() {
        let (lock, record) = (RecursionCheckingLock(), Record())
        let (threads, turns) = (16, 6_250)
        record.tickets.reserveCapacity(threads * turns)
        onThreads(threads) { _ in
            for _ in 0..<turns {
                do throws(RecursionCheckingLock.AcquireError) {
                    let ticket = try lock.acquire(timeout: .seconds(60))
                    record.tickets.append(ticket)
                    lock.release()
                } catch {
                    Issue.record(error)
                }
            }
        }
        #expect(record.tickets == Array(1...UInt64(threads * turns)))
    }

    @Test func aThreadThatGivesUpDoesNotKeepTheTurn() throws {
        let (lock, record) = (RecursionCheckingLock(), Record())
        try lock.acquire(timeout: .zero)
        onThreads(4) { _ in
            let refusal = #expect(throws: RecursionCheckingLock.AcquireError.self) {
                try lock.acquire(timeout: .milliseconds(1))
            }
            #expect(refusal == .timedOut)
        }
        lock.release()
        onThreads(4) { _ in
            guard (try? lock.acquire(timeout: .seconds(60))) != nil else { return }
            record.tickets.append(0)
            lock.release()
        }
        #expect(record.tickets.count == 4)
    }

    @Test func theLastHolderIsToldOfARequest() throws {
        let lock = RecursionCheckingLock()
        #expect(lock.acquireOrRequest())
        #expect(!lock.release())
        try lock.acquire(timeout: .zero)
        #expect(!lock.acquireOrRequest())
        #expect(lock.release())
        #expect(lock.acquireOrRequest())
        #expect(!lock.release())
    }

    @Test func theHolderIsToldThatItAsksAgain() throws {
        let lock = RecursionCheckingLock()
        try lock.acquire(timeout: .seconds(Int64.max))
        let refusal = #expect(throws: RecursionCheckingLock.AcquireError.self) {
            try lock.acquire(timeout: .seconds(Int64.max))
        }
        #expect(refusal == .heldByCaller)
    }

    /// Law 6, on public behavior: with bodies of a millisecond no thread waits much longer than the others take together.
    @Test func noneOfManyWritersTimesOut() throws {
        let suite = DefaultsSuite.inMemory()
        let store = UserDefault(DefaultKey("number", default: 0), in: suite).store
        onThreads(64) { _ in
            for _ in 0..<60 {
                do {
                    try store.updateStored {
                        $0 = ($0 ?? 0) + 1
                        usleep(500)
                    }
                } catch {
                    Issue.record(error)
                }
            }
        }
        #expect(store.get() == 64 * 60)
    }
}

struct DeferredWorkTests {
    /// A delay that does not fit in nanoseconds, of a backend that leaves all to `synchronize()`.
    @Test func aDelayOfAnyLengthIsTaken() {
        let backend = SpyBackend(synchronizationDelay: .seconds(Int64.max))
        let suite = DefaultsSuite(backend: backend)
        suite[DefaultKey("number", default: 0)] = 1
        #expect(suite[DefaultKey("number", default: 0)] == 1)
        #expect(backend.state.withLock { $0.synchronizations } == 0)
    }
}
