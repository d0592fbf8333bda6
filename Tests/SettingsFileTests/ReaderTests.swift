import Foundation
import TestSupport
import Testing

@testable import SettingsFile
@testable import SettingsFileInspection
@testable import TypedDefaults

#if canImport(Glibc)
    import Glibc
#endif

/// Tests of readers of a file that cannot be used as usual.
@Suite(.ownThreads) struct ReaderTests: SettingsFileTests {
    /// A compaction holds the state lock while the disk works.
    @Test func aReadDoesNotWaitForTheStateLock() throws {
        try withFile { file in
            open(file)[number] = 1
            open(file)[DefaultKey("other", default: 0)] = 2
            let backend = FileBackend(path: file.path)
            let suite = DefaultsSuite(backend: backend)
            // The second read catches up with the file that the first one has opened.
            for _ in 0..<2 { #expect(suite[number] == 1) }
            let isRead = DispatchSemaphore(value: 0)
            let value = Guarded(0)
            let isHeld = DispatchSemaphore(value: 0)
            let holder = onThread {
                backend.file.withState { _ in
                    isHeld.signal()
                    _ = isRead.wait(timeout: .now() + 10)
                }
            }
            isHeld.wait()
            Thread {
                let read = suite[DefaultKey("other", default: 0)]
                value.withLock { $0 = read }
                isRead.signal()
            }.start()
            holder.wait()
            #expect(value.withLock { $0 } == 2)
        }
    }

    /// A reader that goes past the state finds what other processes see already, also of a commit
    /// that this process has not shown yet.
    @Test func aValueThatIsReadPastTheStateIsThatOfTheFile() throws {
        try withFile { file throws in
            let writer = open(file)
            writer[number] = 1
            let backend = FileBackend(path: file.path)
            #expect(try backend.value(forKey: number.name) == 1)
            writer[number] = 2
            #expect(try backend.value(forKey: number.name) == 2)
        }
    }

    /// Only a writer sets damage aside, and tries again until it can.
    @Test func readersReportDamageOnceAndChangeNothing() throws {
        try withFile { file in
            let writer = open(file)
            writer[number] = 1
            writer[DefaultKey("other", default: 0)] = 2
            try writer.synchronize()
            try overwrite(file, at: FileInspection(file: file).end - 4, with: [1, 2, 3])
            let damaged = try Data(contentsOf: file)
            let suite = open(file)
            let failures = Failures(of: suite)
            for _ in 0..<50 { #expect(suite[number] == 1) }
            #expect(failures.kinds == [.unreadable])
            let obstacle = file.deletingLastPathComponent().appending(path: ".test.defaults.new/inside")
            try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: true)
            let store = UserDefault(number, in: suite).store
            for _ in 0..<2 { #expect(fails(with: .unavailable) { try store.save(2) }) }
            #expect(suite[number] == 1)
            #expect(try Data(contentsOf: file) == damaged)
            try FileManager.default.removeItem(at: obstacle.deletingLastPathComponent())
            try store.save(2)
            #expect(open(file)[number] == 2)
            #expect(failures.kinds == [.unreadable, .unreadable])
            #expect(failures.all.last?.reason.contains(".damaged-") == true)
        }
    }

    #if canImport(Glibc)
        @Test(.ownFile) func withoutDescriptorsAReaderKeepsTheLastValue() async {
            await #expect(processExitsWith: .success) { [path = ownFile as String] in
                let number = DefaultKey("number", default: 0)
                // A flush in the background would notice the new file.
                let suite = DefaultsSuite(
                    backend: FileBackend(path: path, timeout: .seconds(60), flushDelay: .seconds(3_600)))
                let other = DefaultsSuite(backend: FileBackend(path: path))
                let failures = Failures(of: suite)
                suite[number] = 41
                #expect(other[number] == 41)
                fill(other)
                try other.synchronize()
                other[number] = 42
                var descriptors: [Int32] = []
                while case let descriptor = Glibc.open("/dev/null", O_RDONLY), descriptor >= 0 {
                    descriptors.append(descriptor)
                }
                for _ in 0..<3 { #expect(suite[number] == 41) }
                #expect(failures.kinds == [.unavailable])
                #expect(fails(with: .unavailable) { try UserDefault(number, in: suite).store.save(5) })
                for descriptor in descriptors { close(descriptor) }
                #expect(try suite.read(number) == 42)
                #expect(suite[number] == 42)
            }
        }

        /// A timer of Dispatch needs a descriptor, and ends a process that has none.
        @Test(.ownFile) func aProcessWithoutDescriptorsWritesAndPolls() async {
            let file = URL(filePath: ownFile)
            open(file)[number] = 41
            await #expect(processExitsWith: .success) { [path = ownFile as String] in
                let number = DefaultKey("number", default: 0)
                let backend = FileBackend(path: path)
                let suite = DefaultsSuite(backend: backend)
                let failures = Failures(of: suite)
                #expect(suite[number] == 41)
                var limit = rlimit()
                getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                limit.rlim_cur = 0
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                suite[number] = 42
                #expect(suite[number] == 42)
                let polls = DispatchSemaphore(value: 0)
                backend.watch { polls.signal() }
                for _ in 0..<3 { #expect(polls.wait(timeout: .now() + 10) == .success) }
                backend.watch(nil)
                #expect(failures.kinds == [.unavailable])
            }
            #expect(open(file)[number] == 42)
        }
    #endif

    @Test func aReaderOfAnUnusableFileReadsTheNextOne() throws {
        try withFile { file in
            try Data("text".utf8).write(to: file)
            let suite = open(file)
            #expect(fails(with: .unavailable) { _ = try suite.read(number) })
            try FileManager.default.removeItem(at: file)
            try FileBackend(path: file.path).write([("number", 7)])
            usleep(300_000)
            #expect(try suite.read(number) == 7)
        }
    }
}
