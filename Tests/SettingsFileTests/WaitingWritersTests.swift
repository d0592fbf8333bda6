import Foundation
import TestSupport
import Testing

@testable import SettingsFile
@testable import TypedDefaults

/// Tests how long writers wait while another thread or another process keeps a lock.
@Suite(.ownThreads) struct WaitingWritersTests: SettingsFileTests {
    private func open(_ file: URL, timeout: Duration) -> AnyStore<Int> {
        let backend = FileBackend(path: file.path, timeout: timeout)
        return UserDefault(number, in: DefaultsSuite(core: SuiteCore(backend))).store
    }

    /// Expects a timeout, and returns how long it took.
    private static func timeOut(_ body: () throws -> Void) -> Duration {
        var isTimeout = false
        let time = ContinuousClock().measure { isTimeout = fails(with: .timedOut, body) }
        #expect(isTimeout)
        return time
    }

    /// Each thread would wait for the others, and then for the other process.
    @Test func aWriterWaitsOnceForThreadsAndProcesses() throws {
        try withFile { file in
            let timeout = Duration.seconds(2)
            let store = open(file, timeout: timeout)
            try store.save(1)
            let holder = FileBackend(path: file.path)
            try holder.file.beginWrite()
            let longest = Guarded(Duration.zero)
            onThreads(6) { index in
                let time = Self.timeOut { try store.save(index + 2) }
                longest.withLock { $0 = max($0, time) }
            }
            #expect(longest.withLock { $0 } < timeout * 2)
            #expect(store.get() == 1)
            holder.file.endWrite()
            try store.save(2)
        }
    }

    @Test func afterATimeoutWritersFailAtOnceUntilAnotherProcessWrites() throws {
        try withFile { file in
            let timeout = Duration.seconds(3)
            let store = open(file, timeout: timeout)
            try store.save(1)
            let holder = FileBackend(path: file.path)
            try holder.file.beginWrite()
            #expect(Self.timeOut { try store.save(2) } >= timeout)
            #expect(Self.timeOut { try store.save(3) } < timeout)
            // A holder that makes progress is worth waiting for.
            try holder.commit([("number", 4)])
            #expect(Self.timeOut { try store.save(5) } >= timeout)
            #expect(store.get() == 4)
            holder.file.endWrite()
            try store.save(6)
            #expect(store.get() == 6)
        }
    }

    @Test func afterATimeoutThreadsFailAtOnceUntilTheHolderReleasesTheLock() throws {
        let lock = RecursionCheckingLock()
        try lock.acquire(timeout: .zero)
        func acquireOnThread(timeout: Duration) -> (error: RecursionCheckingLock.AcquireError?, time: Duration) {
            let refusal = Guarded<RecursionCheckingLock.AcquireError?>(nil)
            let time = ContinuousClock().measure {
                onThreads(1) { _ in
                    do throws(RecursionCheckingLock.AcquireError) {
                        try lock.acquire(timeout: timeout)
                        lock.release()
                    } catch {
                        let found = error
                        refusal.withLock { $0 = found }
                    }
                }
            }
            return (refusal.withLock { $0 }, time)
        }
        #expect(acquireOnThread(timeout: .milliseconds(1)).error == .timedOut)
        let second = acquireOnThread(timeout: .seconds(60))
        #expect(second.error == .timedOut)
        #expect(second.time < .seconds(30))
        lock.release()
        #expect(acquireOnThread(timeout: .seconds(60)).error == nil)
    }
}
