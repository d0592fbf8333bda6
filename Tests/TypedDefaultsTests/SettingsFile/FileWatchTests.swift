import Dispatch
import Foundation
import Testing

@testable import SettingsFile
@testable import TypedDefaults

/// News that arrive while nobody reads. Another backend on the file stands for another process.
struct FileWatchTests {
    private let number = DefaultKey("number", default: 0)

    @Test func changesReplacementsAndRemovalsAreTold() throws {
        let file = try makeFile()
        let writer = DefaultsSuite(backend: FileBackend(path: file.path))
        let backend = FileBackend(path: file.path)
        let suite = DefaultsSuite(backend: backend)
        let news = DispatchSemaphore(value: 0)
        backend.watch { _ in news.signal() }
        func expectNews(_ value: Int, _ what: Comment) {
            repeat {
                guard news.wait(timeout: .now() + 10) == .success else {
                    Issue.record(what)
                    return
                }
            } while suite[number] != value
        }
        writer[number] = 1
        expectNews(1, "the file is made")
        for value in 2...20 {
            writer[number] = value
            expectNews(value, "a change")
        }
        // Enough for several replacements.
        for _ in 0..<40 {
            writer[DefaultKey("filler", default: "")] = String(repeating: "x", count: .random(in: 5_000...6_000))
        }
        writer[number] = 21
        expectNews(21, "a change after replacements")

        let other = file.deletingLastPathComponent().appending(path: "other.defaults")
        DefaultsSuite(backend: FileBackend(path: other.path))[number] = 30
        #expect(rename(other.path, file.path) == 0)
        expectNews(30, "another file is renamed over it")
        try FileManager.default.removeItem(at: file)
        expectNews(0, "it is removed")
        DefaultsSuite(backend: FileBackend(path: file.path))[number] = 31
        expectNews(31, "it is made anew")
        try FileManager.default.removeItem(at: file.deletingLastPathComponent())
        expectNews(0, "its folder is removed")
        for value in 32...33 {
            DefaultsSuite(backend: FileBackend(path: file.path))[number] = value
            expectNews(value, "in a folder made anew")
        }
        backend.watch(nil)
        try FileManager.default.removeItem(at: file.deletingLastPathComponent())
    }

    #if os(macOS) || os(Linux)
        @Test func nothingIsToldAnyMoreAndNothingIsLeftBehind() async throws {
            await #expect(processExitsWith: .success) {
                let file = try makeFile()
                let writer = DefaultsSuite(backend: FileBackend(path: file.path))
                writer[DefaultKey("number", default: 0)] = 1
                let backend = FileBackend(path: file.path)
                func descriptors() -> Int { (0..<1_024 as Range<Int32>).count { fcntl($0, F_GETFD) >= 0 } }
                // What Dispatch itself needs is there from the first time on.
                backend.watch { _ in }
                backend.watch(nil)
                let before = descriptors()
                for _ in 0..<200 {
                    // Some systems have the file looked at once when the watch has begun.
                    let isOver = Guarded(false)
                    backend.watch { _ in
                        if isOver.withLock({ $0 }) { Issue.record("something is told after the end") }
                    }
                    backend.watch(nil)
                    isOver.withLock { $0 = true }
                    writer[DefaultKey("number", default: 0)] += 1
                }
                // They are closed on the queues of the watches.
                for _ in 0..<500 where descriptors() > before { usleep(10_000) }
                #expect(descriptors() <= before)
                try FileManager.default.removeItem(at: file.deletingLastPathComponent())
            }
        }
    #endif

    @Test func whereTheSystemRefusesChangesAreLookedForAndThatIsSaidOnce() {
        let looks = DispatchSemaphore(value: 0)
        let backend = FileBackend(path: "/dev/null/nowhere/test.defaults")
        let suite = DefaultsSuite(backend: backend)
        let failures = Failures(of: suite)
        for _ in 0..<2 {
            backend.watch { _ in looks.signal() }
            for _ in 0..<3 { #expect(looks.wait(timeout: .now() + 10) == .success) }
            backend.watch(nil)
        }
        #expect(failures.kinds == [.unavailable])
    }
}
