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

    #if os(Linux)
        /// One report says why the file grows.
        @Test func aFailedCompactionIsReportedOnce() throws {
            try withFile { file in
                let backend = FileBackend(path: file.path)
                let reports = Guarded<[String]>([])
                backend.watch(.failures) { event in
                    if case .failed(let error) = event { reports.withLock { $0.append(error.reason) } }
                }
                func grow(_ count: Int) throws {
                    for length in 12_000..<(12_000 + count) {
                        try backend.write([("filler", .string(String(repeating: "x", count: length)))])
                    }
                }
                try grow(6)
                // A folder that has the temporary name. A commit tries, too.
                let temporary = file.deletingLastPathComponent().appending(path: ".test.defaults.new")
                try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
                for count in [20, 400] {
                    try backend.synchronize()
                    #expect(reports.withLock { $0 }.count == 1)
                    #expect(reports.withLock { $0 }.first?.contains(".test.defaults.new is in the way") == true)
                    try grow(count)
                }
                #expect(try size(of: file) > RecordFormat.busySize)
                try FileManager.default.removeItem(at: temporary)
                try grow(200)
                #expect(try size(of: file) < RecordFormat.busySize)
                try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
                try grow(400)
                #expect(reports.withLock { $0 }.count == 2)
            }
        }
    #endif
}
