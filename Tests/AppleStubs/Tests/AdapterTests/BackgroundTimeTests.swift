import AppleFoundation
import Testing

@testable import TypedDefaults

/// Tests flushes of a process that may be suspended. Each test runs in its own process, because the
/// stub's state applies to the whole process.
struct BackgroundTimeTests {
    /// A backend that is flushed shortly after a change.
    private final class Backend: SystemBackend {
        let contents = Guarded<[String: PropertyList]>([:])
        let flush: @Sendable () -> Void
        init(_ flush: @escaping @Sendable () -> Void) { self.flush = flush }
        func value(forKey key: String) -> PropertyList? { contents.now[key] }
        func keys() -> [String] { Array(contents.now.keys) }
        func commit(_ edits: [(key: String, value: PropertyList?)]) {
            contents.withLock { contents in for edit in edits { contents[edit.key] = edit.value } }
        }
        var synchronizationDelay: Duration? { .milliseconds(1) }
        func synchronize() { flush() }
    }

    @Test func aFlushRunsOnceEvenIfItsBackgroundTimeExpires() async {
        await #expect(processExitsWith: .success) {
            let (flushes, done) = (Guarded(0), DispatchSemaphore(value: 0))
            let suite = DefaultsSuite(
                backend: Backend {
                    flushes.withLock { $0 += 1 }
                    #expect(ProcessInfo.runningActivities == 1)
                    ProcessInfo.expireActivities()
                    done.signal()
                })
            suite[DefaultKey("number", default: 0)] = 1
            done.wait()
            #expect(flushes.now == 1)
        }
    }

    @Test func aFlushWithoutBackgroundTimeWaits() async {
        await #expect(processExitsWith: .success) {
            ProcessInfo.refuseActivities(true)
            let (flushes, done) = (Guarded(0), DispatchSemaphore(value: 0))
            let suite = DefaultsSuite(
                backend: Backend {
                    flushes.withLock { $0 += 1 }
                    done.signal()
                })
            suite[DefaultKey("number", default: 0)] = 1
            while ProcessInfo.refusedActivities < 2, flushes.now == 0 { sched_yield() }
            #expect(flushes.now == 0)
            ProcessInfo.refuseActivities(false)
            done.wait()
            #expect(flushes.now == 1)
        }
    }

    @Test func aFlushWithoutBackgroundTimeRunsAtExit() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            ProcessInfo.refuseActivities(true)
            let suite = DefaultsSuite(backend: Backend { FileHandle.standardError.write(Data("flushed\n".utf8)) })
            suite[DefaultKey("number", default: 0)] = 1
            while ProcessInfo.refusedActivities < 1 { sched_yield() }
            // Exit explicitly, because the end of an exit test does not run `atexit` handlers.
            exit(0)
        }
        #expect(String(decoding: result.standardErrorContent, as: UTF8.self).contains("flushed\n"))
    }

    /// A naive adapter that runs its work at every call.
    @Test func anAdapterThatIgnoresTheArgumentRunsTwiceAndWithoutTime() async {
        await #expect(processExitsWith: .success) {
            let (count, done) = (Guarded(0), DispatchSemaphore(value: 0))
            @Sendable func ask() {
                ProcessInfo.processInfo.performExpiringActivity(withReason: "test") { _ in
                    if count.withLock({
                        $0 += 1
                        return $0 == 1
                    }) {
                        ProcessInfo.expireActivities()
                    }
                    done.signal()
                }
            }
            ask()
            done.wait()
            done.wait()
            #expect(count.now == 2)
            ProcessInfo.refuseActivities(true)
            ask()
            done.wait()
            #expect(count.now == 3)
        }
    }
}
