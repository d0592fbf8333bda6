import Dispatch
import Foundation
import TestSupport
import Testing

@testable import SettingsFile
@testable import TypedDefaults

/// Tests changes that arrive without a read. Another backend for the file acts as another process.
@Suite(.ownFile, .ownThreads) struct FileWatchTests {
    private var file: URL { URL(filePath: ownFile) }
    private let number = DefaultKey("number", default: 0)

    @Test func changesReplacementsAndRemovalsAreReported() throws {
        let writer = DefaultsSuite(backend: FileBackend(path: file.path))
        let backend = FileBackend(path: file.path)
        let suite = DefaultsSuite(backend: backend)
        let reported = DispatchSemaphore(value: 0)
        backend.watch { reported.signal() }
        func expectChange(_ value: Int, _ what: Comment) {
            repeat {
                guard reported.wait(timeout: .now() + 10) == .success else {
                    Issue.record(what)
                    return
                }
            } while suite[number] != value
        }
        writer[number] = 1
        expectChange(1, "the file is created")
        for value in 2...20 {
            writer[number] = value
            expectChange(value, "a change")
        }
        // Enough bytes for several compactions.
        for _ in 0..<40 {
            writer[DefaultKey("filler", default: "")] = String(repeating: "x", count: .random(in: 5_000...6_000))
        }
        writer[number] = 21
        expectChange(21, "a change after replacements")

        let other = file.deletingLastPathComponent().appending(path: "other.defaults")
        DefaultsSuite(backend: FileBackend(path: other.path))[number] = 30
        #expect(rename(other.path, file.path) == 0)
        expectChange(30, "another file is renamed over it")
        try FileManager.default.removeItem(at: file)
        expectChange(0, "the file is removed")
        DefaultsSuite(backend: FileBackend(path: file.path))[number] = 31
        expectChange(31, "it is created again")
        #expect(rename(file.path, other.path) == 0)
        expectChange(0, "it is moved away")
        #expect(rename(other.path, file.path) == 0)
        expectChange(31, "it is moved back")
        try FileManager.default.removeItem(at: file.deletingLastPathComponent())
        expectChange(0, "its folder is removed")
        for value in 32...33 {
            DefaultsSuite(backend: FileBackend(path: file.path))[number] = value
            expectChange(value, "a change in a new folder")
        }
        backend.watch(nil)
    }

    /// The system reports none of these changes to a watch of the old folder.
    @Test(arguments: ["folder above", "link to the file", "link to the folder"], [true, false])
    func observersFollowThePath(_ way: String, writesBefore: Bool) throws {
        let root = URL(filePath: ownFolder)
        func folder(_ name: String) throws -> URL {
            let folder = root.appending(path: name)
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            return folder
        }
        func path(_ name: String) -> String { root.appending(path: name).path }
        var (file, other) = (path("a/b/test.defaults"), path("c/b/test.defaults"))
        for (name, value) in [("a/b", 1), ("c/b", 2)] {
            DefaultsSuite(backend: FileBackend(path: try folder(name).path + "/test.defaults"))[number] = value
        }
        var (link, target) = ("", "")
        switch way {
        case "link to the file": (link, file, target) = (path("link"), path("link"), other)
        case "link to the folder": (link, file, target) = (path("current"), path("current/test.defaults"), path("c/b"))
        default: break
        }
        if !link.isEmpty {
            #expect(symlink(way == "link to the file" ? path("a/b/test.defaults") : path("a/b"), link) == 0)
        }
        let suite = DefaultsSuite(backend: FileBackend(path: file))
        let heard = Heard { note in suite.observe(number) { note($0.newValue ?? 0) } }
        if link.isEmpty {
            #expect(rename(path("a"), path("old")) == 0 && rename(path("c"), path("a")) == 0)
            other = file
        } else {
            #expect(symlink(target, link + "-new") == 0 && rename(link + "-new", link) == 0)
        }
        if writesBefore { suite[DefaultKey("other", default: 0)] = 1 }
        let writer = DefaultsSuite(backend: FileBackend(path: other))
        let times = (3...5).map { value in
            ContinuousClock().measure {
                writer[number] = value
                heard.wait { $0.last == value }
            }
        }
        // The first may wait for the next look at the path, which is due in two seconds.
        #expect(times[0] < .seconds(5) && times.dropFirst().min()! < .seconds(1))
        let values = heard.all
        #expect(Set(values).count == values.count && values.suffix(3) == [3, 4, 5])
        heard.cancel()
    }

    #if os(macOS) || os(Linux)
        @Test func aStoppedWatchReportsNothingAndLeaksNothing() async throws {
            await #expect(processExitsWith: .success) { [path = ownFile as String] in
                let writer = DefaultsSuite(backend: FileBackend(path: path))
                writer[DefaultKey("number", default: 0)] = 1
                let backend = FileBackend(path: path)
                func descriptors() -> Int { (0..<1_024 as Range<Int32>).count { fcntl($0, F_GETFD) >= 0 } }
                // Dispatch opens some descriptors of its own the first time.
                backend.watch {}
                backend.watch(nil)
                let before = descriptors()
                for _ in 0..<50 {
                    let (isOver, late) = (Guarded(false), Guarded(0))
                    backend.watch {
                        if isOver.withLock({ $0 }) { late.withLock { $0 += 1 } }
                        // One report may be under way when the watch ends. One that does not end
                        // would report each of the next writes.
                        if late.withLock({ $0 > 1 }) { Issue.record("reported changes after the end") }
                    }
                    backend.watch(nil)
                    isOver.withLock { $0 = true }
                    writer[DefaultKey("number", default: 0)] += 1
                }
                // Within two seconds, the thread of the watches ends.
                for _ in 0..<6_000 where descriptors() > before { usleep(10_000) }
                #expect(descriptors() <= before)
            }
        }
    #endif

    @Test func aFailedWatchPollsAndIsReportedOnce() {
        let polls = DispatchSemaphore(value: 0)
        let backend = FileBackend(path: "/dev/null/nowhere/test.defaults")
        let suite = DefaultsSuite(backend: backend)
        let failures = Failures(of: suite)
        for _ in 0..<2 {
            backend.watch { polls.signal() }
            for _ in 0..<3 { #expect(polls.wait(timeout: .now() + 10) == .success) }
            backend.watch(nil)
        }
        #expect(failures.kinds == [.unavailable])
    }
}
