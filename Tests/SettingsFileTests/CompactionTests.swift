import Foundation
import TestSupport
import Testing

@testable import SettingsFile
@testable import SettingsFileInspection
@testable import TypedDefaults

/// Tests when a settings file is compacted, and that no value is lost.
struct CompactionTests: SettingsFileTests {
    /// Leaves the file as it is if a process dies just before the rename.
    private func markReplaced(_ file: URL) throws {
        try openLog(of: file).log.setReplaced(true)
    }

    @Test func aFileMovedIntoARecreatedFolderIsCompactedThere() throws {
        try withFile { file in
            let (folder, old) = (file.appendingPathExtension("a"), file.appendingPathExtension("b"))
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            let path = folder.appending(path: "test.defaults")
            let suite = open(path)
            suite[number] = 1
            #expect(rename(folder.path, old.path) == 0)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            #expect(rename(old.appending(path: "test.defaults").path, path.path) == 0)
            fill(suite)
            try suite.synchronize()
            let size = try size(of: path)
            #expect(size <= RecordFormat.keptSize)
            #expect(open(path)[number] == 1)
            #expect(try FileManager.default.contentsOfDirectory(atPath: old.path).isEmpty)
        }
    }

    /// While the file with the name cannot be opened, reads return the values that are known, and
    /// the error must not be permanent.
    @Test func openingAnInvalidReplacementIsRetried() throws {
        try withFile { file in
            let store = UserDefault(number, in: open(file)).store
            try store.save(1)
            let good = file.appendingPathExtension("good")
            open(good)[number] = 2
            try Data("no settings file".utf8).write(to: file, options: .atomic)
            #expect(fails(with: .unavailable) { try store.save(3) })
            for _ in 0..<2 {
                #expect(store.get() == 1)
                #expect(fails(with: .unavailable) { _ = try store.load() })
            }
            #expect(rename(good.path, file.path) == 0)
            #expect(try store.load() == 2)
        }
    }

    /// After a failed flush, or on a failing disk, records that were read before may be missing
    /// when the file is compacted.
    @Test func compactionWritesValuesThatTheDiskHasLost() throws {
        try withFile { file in
            let backend = FileBackend(path: file.path)
            let suite = DefaultsSuite(backend: backend)
            let failures = Failures(of: suite)
            // Not through the suite, because its background flush might detect the loss first.
            func commit(_ key: String, _ value: PropertyList) throws { try backend.write([(key, value)]) }
            try commit("number", 1)
            let bytes = try #require(FileManager.default.contents(atPath: file.path))
            let record = RecordFormat.length(ofPayload: Int(bytes[RecordFormat.headerLength]))
            try commit("number", 2)
            try commit("other", 3)
            try overwrite(file, at: RecordFormat.headerLength + record + 12, with: [0xFF])
            for _ in 0..<(2 * RecordFormat.busySize / 40_000) {
                try commit("filler", .string(String(repeating: "x", count: Int.random(in: 40_000...48_000))))
            }
            for suite in [suite, open(file)] {
                #expect(suite[number] == 2)
                #expect(suite[DefaultKey("other", default: 0)] == 3)
            }
            #expect(failures.kinds == [])
            #expect(try FileInspection(file: URL(filePath: file.path)).problems == [])
        }
    }

    @Test func manySetsOfOneKeyDoNotGrowTheFile() throws {
        try withFile { file in
            let backend = FileBackend(path: file.path)
            var sizes: Set<Int> = []
            for value in 0..<20_000 {
                // A commit of about 300 bytes, so that the file is compacted once.
                let filler = PropertyList.string(String(repeating: "x", count: 250))
                try backend.write([("number", .integer(.init(value))), ("filler", filler)])
                if value % 100 == 0 { sizes.insert(try size(of: file)) }
            }
            #expect((RecordFormat.busySize - (64 << 10)...RecordFormat.busySize).contains(try #require(sizes.max())))
            try backend.synchronize()
            #expect(try size(of: file) <= RecordFormat.keptSize)
            #expect(open(file)[number] == 19_999)
        }
    }

    /// A record may end shortly before a page, or with it. The next record must find room.
    @Test(arguments: [66_000, 100_000, 131_000, 1_000_000])
    func largeAndSmallRecordsFollowEachOther(length: Int) throws {
        try withFile { file in
            let (suite, reader) = (open(file), open(file))
            let text = DefaultKey("text", default: "")
            func inspect() throws -> FileInspection {
                let inspection = try FileInspection(file: URL(filePath: file.path))
                #expect(inspection.problems == [])
                #expect(inspection.size >= inspection.end)
                return inspection
            }
            suite[number] = -1
            var hits = 0
            for round in 0..<20 {
                // The record ends between 0 and 24 bytes before a page.
                let bytesWithoutText = 8 + 13
                let end = try inspect().end + bytesWithoutText + length
                let count = length + (File.pageSize - end % File.pageSize) % File.pageSize + (4 - round % 4) * 8 - 32
                suite[text] = String(repeating: "x", count: count)
                // A compaction in between moves the record.
                if try (File.pageSize - inspect().end % File.pageSize) % File.pageSize <= 32 { hits += 1 }
                #expect(reader[text].utf8.count == count)
                suite[number] = round
                #expect(reader[number] == round)
            }
            #expect(hits > 0)
            #expect(open(file)[number] == 19)
        }
    }

    /// A process died just before the rename, and another one flushes before the next write.
    @Test(arguments: [false, true])
    func aFileThatADeadProcessDidNotReplaceStaysInUse(isKnown: Bool) throws {
        try withFile { file in
            let (first, second) = (open(file), open(file))
            let failures = Failures(of: second)
            fill(first)
            if isKnown { _ = try second.keys() }
            try markReplaced(file)
            try second.synchronize()
            _ = try second.keys()
            try second.synchronize()
            #expect(failures.kinds == [])
            #expect(try names(beside: file) == ["test.defaults"])
            second[number] = 1
            #expect(open(file)[DefaultKey("filler", default: "")].count == 60_009)
        }
    }

    /// The header states that the records were flushed before the file got its name.
    @Test func aCompactedFileStatesItsFlushedLength() throws {
        try withFile { file in
            let suite = open(file)
            fill(suite)
            suite[number] = 1
            try suite.synchronize()
            let bytes = try #require(FileManager.default.contents(atPath: file.path))
            let base = bytes[48..<56].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let end = try FileInspection(file: URL(filePath: file.path)).end
            #expect(base == UInt64(end) && base > 12_000)
        }
    }

    /// Another process compacts the file while a value is decoded.
    @Test func anUnreadableValueIsReportedOnceAcrossACompaction() throws {
        struct FailingOnRead: DefaultConvertible {
            static let key = "moody"
            static let onRead = Guarded<(@Sendable () -> Void)?>(nil)
            init?(_ object: Any) {
                let onRead = Self.onRead.withLock { onRead in
                    defer { onRead = nil }
                    return onRead
                }
                onRead?()
                return nil
            }
            func serialize() -> Any { 1 }
        }
        try withFile { file in
            let (suite, other) = (open(file), open(file))
            other[DefaultKey("moody", default: "")] = "bad"
            let failures = Failures(of: suite)
            let store = PersistentStore<FailingOnRead>(in: suite)
            FailingOnRead.onRead.withLock {
                $0 = {
                    fill(other)
                    #expect(throws: Never.self) { try other.synchronize() }
                    _ = suite[number]
                }
            }
            for _ in 0..<3 { #expect(store.get() == nil) }
            #expect(failures.kinds == [.unreadable])
        }
    }

    @Test func aFileThatCannotBeCompactedIsStillFlushed() throws {
        try withFile { file in
            let suite = open(file)
            fill(suite)
            // A folder that is not empty has the temporary name.
            let obstacle = file.deletingLastPathComponent().appending(path: ".test.defaults.new/inside")
            try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: true)
            try suite.synchronize()
            // A concurrent write does not turn this into a failure either.
            try UserDefault(number, in: suite).store.updateStored { value in
                value = 1
                onThreads(1) { _ in do { try suite.synchronize() } catch { Issue.record(error) } }
            }
            #expect(suite[DefaultKey("filler", default: "")].count == 60_009)
            try FileManager.default.removeItem(at: obstacle.deletingLastPathComponent())
            // Compaction is tried again when the file has grown by half.
            for _ in 0..<2 { fill(suite) }
            try suite.synchronize()
            let size = try size(of: file)
            #expect(size <= RecordFormat.keptSize)
        }
    }

    /// Overwriting the file with `cp` is not supported, but a process that has the file open must
    /// detect it.
    @Test func aWriteFollowsAnOlderCopyOfTheContents() throws {
        try withFile { file in
            let suite = open(file)
            let store = UserDefault(number, in: suite).store
            try store.save(1)
            let copy = try Data(contentsOf: file)
            try store.save(2)
            try UserDefault(DefaultKey("other", default: 0), in: suite).store.save(3)
            try overwrite(file, with: copy)
            try store.save(4)
            #expect(open(file)[number] == 4)
            #expect(suite[DefaultKey("other", default: 0)] == 0)
            try store.save(5)
            #expect(open(file)[number] == 5)
        }
    }

    @Test func aFlushReportsThatItsDescriptorWasReused() throws {
        try withFile { file in
            let backend = FileBackend(path: file.path)
            let suite = DefaultsSuite(backend: backend)
            suite[number] = 1
            let other = file.appendingPathExtension("other")
            #expect(FileManager.default.createFile(atPath: other.path, contents: Data("mine".utf8)))
            let descriptor = try #require(backend.file.withState { $0.log?.open.file.descriptor })
            let kept = dup(descriptor)
            let opened = try FileHandle(forUpdating: other)
            #expect(dup2(opened.fileDescriptor, descriptor) == descriptor)
            #expect(fails(with: .unavailable) { try backend.synchronize() })
            #expect(FileManager.default.contents(atPath: other.path) == Data("mine".utf8))
            #expect(dup2(kept, descriptor) == descriptor)
            close(kept)
            try opened.close()
            try backend.synchronize()
        }
    }

    /// The folder may be read-only, or the file a mount point. Here a folder has the temporary
    /// name.
    @Test func aFileThatCannotBeCompactedGrowsToItsLimit() throws {
        try withFile { file in
            let limit = 1 << 20
            let backend = FileBackend(path: file.path, durability: .process, timeout: .seconds(2), sizeLimit: limit)
            let store = UserDefault(DefaultKey("text", default: ""), in: DefaultsSuite(backend: backend)).store
            try store.save("")
            let obstacle = file.deletingLastPathComponent().appending(path: ".test.defaults.new/inside")
            try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: true)
            for count in 40_000..<40_025 { try store.save(String(repeating: "x", count: count)) }
            let isRefused = fails(with: .unavailable) {
                for count in 40_025..<40_028 { try store.save(String(repeating: "x", count: count)) }
            }
            #expect(isRefused)
            let size = try size(of: file)
            #expect((limit - 40_100...limit).contains(size))
            try FileManager.default.removeItem(at: obstacle.deletingLastPathComponent())
            try store.save("z")
            #expect(open(file)[DefaultKey("text", default: "")] == "z")
        }
    }

    @Test func aFullFileIsNotCompactedForARecordThatDoesNotFit() throws {
        try withFile { file in
            let backend = FileBackend(
                path: file.path, durability: .process, timeout: .seconds(2), sizeLimit: 256 << 10)
            let suite = DefaultsSuite(backend: backend)
            func save(_ name: String) throws {
                try UserDefault(DefaultKey(name, default: ""), in: suite).store.save(
                    String(repeating: "x", count: 30_000))
            }
            for number in 0..<8 { try save("\(number)") }
            let epoch = try FileInspection(file: URL(filePath: file.path)).epoch
            for _ in 0..<3 { #expect(fails(with: .refused) { try save("more") }) }
            #expect(try FileInspection(file: URL(filePath: file.path)).epoch == epoch)
            suite.remove(["0", "1"])
            try save("more")
        }
    }
}
