import Foundation
import TestSupport
import Testing

@testable import SettingsFile
@testable import TypedDefaults

struct RecursionCheckingLockTests {
    /// The tickets and times that threads record while they hold the lock.
    private final class Record: @unchecked Sendable {
        // Safe: accessed only by the thread that holds the lock.
        var tickets: [UInt64] = []
    }

    @Test func threadsAcquireTheLockInOrder() {
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

    @Test func aThreadThatTimesOutIsSkipped() throws {
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

    @Test func acquiringTwiceOnOneThreadThrows() throws {
        let lock = RecursionCheckingLock()
        try lock.acquire(timeout: .seconds(Int64.max))
        let refusal = #expect(throws: RecursionCheckingLock.AcquireError.self) {
            try lock.acquire(timeout: .seconds(Int64.max))
        }
        #expect(refusal == .heldByCaller)
    }
}

struct DeferredWorkTests {
    /// A delay that does not fit into nanoseconds, for a backend that does all its work in
    /// `synchronize()`.
    @Test func veryLongDelaysAreAccepted() {
        let backend = SpyBackend(synchronizationDelay: .seconds(Int64.max))
        let suite = DefaultsSuite(backend: backend)
        suite[DefaultKey("number", default: 0)] = 1
        #expect(suite[DefaultKey("number", default: 0)] == 1)
        #expect(backend.state.withLock { $0.synchronizations } == 0)
    }

    /// Work that is due earlier than other work does not wait for it.
    @Test func workRunsWhenItIsDue() {
        let objects = [NSObject(), NSObject(), NSObject()]
        let order = Guarded<[Int]>([])
        for (number, delay) in [(2, 0.2), (3, 3_600), (1, 0.1)] {
            _ = DeferredWork.schedule(for: ObjectIdentifier(objects[number - 1]), after: .seconds(delay)) {
                order.withLock { $0.append(number) }
            }
        }
        order.wait { $0.count == 2 }
        #expect(order.withLock { $0 } == [1, 2])
        // Do not leave work behind for the exit.
        _ = DeferredWork.schedule(for: ObjectIdentifier(objects[2]), after: .zero) { order.withLock { $0.append(4) } }
        order.wait { $0.count == 3 }
        #expect(order.withLock { $0 } == [1, 2, 4])
    }
}
