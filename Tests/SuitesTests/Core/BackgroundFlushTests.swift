import Foundation
import TestSupport
import Testing

@testable import TypedDefaults

/// Tests what happens after a background flush fails.
@Suite(.ownThreads) struct BackgroundFlushTests {
    /// A backend in memory whose first flushes fail.
    private final class FailingFlushes: BackendDecorator {
        let flushes = Guarded(0)
        let traits: BackendTraits
        var generation: UInt64? { nil }
        private let failures: Int
        private let onSuccess: @Sendable () -> Void
        let base: any DefaultsBackend = MemoryBackend()

        init(_ failures: Int, delay: Duration, onSuccess: @escaping @Sendable () -> Void = {}) {
            (self.failures, self.onSuccess) = (failures, onSuccess)
            traits = BackendTraits(synchronizationDelay: delay)
        }

        func synchronize() throws(DefaultsError) {
            let flush = flushes.withLock { flushes in
                flushes += 1
                return flushes
            }
            guard flush > failures else { throw DefaultsError(.unavailable, reason: "the disk fails") }
            onSuccess()
        }
    }

    private static let number = DefaultKey("number", default: 0)

    @Test func savingTheStoredValueAgainFlushesAnImmediateSuite() throws {
        let backend = SpyBackend(synchronizationDelay: .zero)
        let store = UserDefault(Self.number, in: DefaultsSuite(backend: backend)).store
        for _ in 0..<3 { try store.save(1) }
        #expect(backend.commits.count == 1)
        #expect(backend.state.withLock { $0.synchronizations } == 3)
    }

    @Test func aFailedFlushIsTriedAgainUntilItSucceeds() {
        let backend = FailingFlushes(3, delay: .milliseconds(1))
        let suite = DefaultsSuite(backend: backend)
        let failures = Guarded(0)
        suite.onFailure = { _ in failures.withLock { $0 += 1 } }
        suite[Self.number] = 1
        backend.flushes.wait { $0 == 4 }
        #expect(backend.flushes.withLock { $0 } == 4)
        failures.wait { $0 == 3 }
        #expect(failures.withLock { $0 } == 3)
    }

    @Test func severalCommitsAreFlushedOnceAndLaterOnesAgain() {
        let backend = FailingFlushes(0, delay: .milliseconds(100))
        let suite = DefaultsSuite(backend: backend)
        for number in 1...10 { suite[Self.number] = number }
        backend.flushes.wait { $0 == 1 }
        suite[Self.number] = 11
        backend.flushes.wait { $0 == 2 }
        #expect(backend.flushes.withLock { $0 } == 2)
    }

    #if canImport(Glibc) && !canImport(AppleFoundation)
        @Test func withoutAThreadTheNextWriteTriesAgain() async {
            await #expect(processExitsWith: .success) {
                // Root may start more threads than the limit.
                if geteuid() == 0 { #expect(setgid(65_534) == 0 && setuid(65_534) == 0) }
                // RLIMIT_NPROC, which Swift's C library module lacks.
                let threads: __rlimit_resource_t = 6
                var limit = rlimit()
                getrlimit(threads, &limit)
                let most = limit.rlim_cur
                limit.rlim_cur = 0
                setrlimit(threads, &limit)
                let backends = [0, 1].map { _ in FailingFlushes(0, delay: .milliseconds(10)) }
                let suites = backends.map { DefaultsSuite(backend: $0) }
                for suite in suites { suite[Self.number] = 1 }
                usleep(50_000)
                #expect(backends.map { $0.flushes.withLock { $0 } } == [0, 0])
                limit.rlim_cur = most
                setrlimit(threads, &limit)
                suites[0][Self.number] = 2
                backends[0].flushes.wait { $0 == 1 }
                #expect(backends.map { $0.flushes.withLock { $0 } } == [1, 0])
            }
        }
    #endif

    #if os(macOS) || os(Linux)
        /// The disk fails, then works again, and the process ends before the next attempt.
        @Test(.ownFile, arguments: [1, 1_000])
        func aFailedFlushIsTriedOnceMoreAtExit(failing: Int) async {
            await #expect(processExitsWith: .exitCode(7)) {
                [path = ownFolder as String, failing = failing as Int] in
                let backend = FailingFlushes(failing, delay: .milliseconds(500)) {
                    _ = FileManager.default.createFile(atPath: "\(path)/flushed", contents: nil)
                }
                let suite = DefaultsSuite(backend: backend)
                let failures = Guarded(0)
                suite.onFailure = { _ in failures.withLock { $0 += 1 } }
                suite[Self.number] = 1
                // The handler is called after the next attempt was scheduled.
                failures.wait { $0 == 1 }
                exit(7)
            }
            #expect(FileManager.default.fileExists(atPath: "\(ownFolder)/flushed") == (failing == 1))
        }
    #endif
}
