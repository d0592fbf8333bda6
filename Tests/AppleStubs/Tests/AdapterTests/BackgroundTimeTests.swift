import AppleFoundation
import TestSupport
import Testing

@testable import SettingsFile
@testable import TypedDefaults

/// Tests flushes and compactions of a process that may be suspended. Each test runs in its own
/// process, because the stub's state applies to the whole process.
@Suite(.ownThreads) struct BackgroundTimeTests {
    /// A backend that is flushed shortly after a change.
    private final class Backend: DefaultsBackend {
        let contents = Guarded<[String: PropertyList]>([:])
        let flush: @Sendable () -> Void
        init(_ flush: @escaping @Sendable () -> Void) { self.flush = flush }
        func value(forKey key: String) -> PropertyList? { contents.now[key] }
        func keys() -> [String] { Array(contents.now.keys) }
        func commit(_ edits: BackendEdits, over generation: UInt64?) -> CommitOutcome {
            contents.withLock { contents in for edit in edits { contents[edit.key] = edit.value } }
            return .committed()
        }
        let traits = BackendTraits(synchronizationDelay: .milliseconds(1))
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

    /// Runs `body` with a file that the next flush compacts.
    private static func withLargeFile(_ body: (_ file: SettingsFile, URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "AdapterTests-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appending(path: "settings")
        let file = SettingsFile(path: url.path)
        for _ in 0..<6 {
            try file.beginWrite()
            defer { file.endWrite() }
            var record = RecordWriter()
            record.append("filler", raw: ArraySlice(repeating: 1, count: 12_000))
            try file.commit(&record)
        }
        try body(file, url)
    }

    private static func size(of url: URL) throws -> Int {
        try #require(FileManager.default.contents(atPath: url.path)).count
    }

    @Test func compactionHoldsBackgroundTimeUntilItEnds() async {
        await #expect(processExitsWith: .success) {
            try Self.withLargeFile { file, url in
                let size = try Self.size(of: url)
                let (isOver, end) = (Guarded(false), DispatchSemaphore(value: 0))
                Thread.detachNewThread {
                    #expect(throws: Never.self) { try file.synchronize() }
                    isOver.withLock { $0 = true }
                    end.signal()
                }
                while ProcessInfo.runningActivities == 0, !isOver.now { sched_yield() }
                ProcessInfo.expireActivities()
                end.wait()
                #expect(ProcessInfo.startedActivities == 1)
                #expect(try Self.size(of: url) < size)
                while ProcessInfo.runningActivities > 0 { sched_yield() }
            }
        }
    }

    /// Only compaction asks for time, not each write.
    @Test func compactionWithoutBackgroundTimeContinues() async {
        await #expect(processExitsWith: .success) {
            ProcessInfo.refuseActivities(true)
            try Self.withLargeFile { file, url in
                let size = try Self.size(of: url)
                try file.synchronize()
                #expect(try Self.size(of: url) < size)
                try file.synchronize()
                let end = ContinuousClock.now + .seconds(10)
                while ProcessInfo.refusedActivities == 0, ContinuousClock.now < end { sched_yield() }
                #expect(ProcessInfo.refusedActivities == 1)
            }
        }
    }
}
