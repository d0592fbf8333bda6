import Foundation
import TestSupport
import Testing

@testable import SettingsFile
@testable import SettingsFileInspection
@testable import TypedDefaults

/// Tests who holds the lock of a settings file, and what a writer that does not get it reports.
struct FileLockTests: SettingsFileTests {
    private func opened(_ file: URL) throws -> File {
        try File.existingDirectory(file.deletingLastPathComponent().path).file(file.lastPathComponent, .readWrite)
    }

    /// Returns whether another process could lock the file now.
    private func isUnlocked(_ file: URL) throws -> Bool { try opened(file).tryLock() }

    @Test func aWriterTimesOutWhileAnotherProcessHoldsTheLock() throws {
        try withFile { file in
            let backend = FileBackend(path: file.path, durability: .process, timeout: .milliseconds(50))
            let suite = DefaultsSuite(backend: backend)
            let store = UserDefault(number, in: suite).store
            try store.save(1)
            let other = try opened(file)
            #expect(try other.tryLock())
            let error = #expect(throws: DefaultsError.self) { try store.save(2) }
            #expect(error?.kind == .timedOut)
            #expect(error?.reason.contains(file.path) == true)
            #expect(store.get() == 1)
            other.unlock()
            try store.save(3)
            #expect(open(file)[number] == 3)
        }
    }

    /// A lock that is not released would block the writes of all other processes until this one
    /// ends.
    @Test func noCallKeepsTheLock() throws {
        try withFile { file in
            let temporary = file.deletingLastPathComponent().appending(path: ".test.defaults.new")
            let obstacle = temporary.appending(path: "inside")
            let backend = FileBackend(path: file.path)
            func grow() throws {
                for _ in 0..<6 { try backend.write([("filler", .data(Data(count: 12_000)))]) }
            }
            // A commit, and one that is refused.
            try backend.write([("number", 1)])
            #expect(try isUnlocked(file))
            let long = String(repeating: "x", count: RecordFormat.keyLimit + 1)
            #expect(fails(with: .refused) { try backend.write([(long, 1)]) })
            #expect(try isUnlocked(file))
            // A compaction that fails, and one that replaces the file.
            try grow()
            try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: true)
            try backend.synchronize()
            #expect(try isUnlocked(file))
            try FileManager.default.removeItem(at: temporary)
            for _ in 0..<4 { try grow() }
            let epoch = try FileInspection(file: URL(filePath: file.path)).epoch
            try backend.synchronize()
            #expect(try FileInspection(file: URL(filePath: file.path)).epoch != epoch)
            #expect(try isUnlocked(file))
            // A write that finds an older copy.
            try backend.write([("number", 2)])
            let older = try Data(contentsOf: file)
            try backend.write([("number", 3)])
            try overwrite(file, with: older)
            try backend.write([("number", 4)])
            #expect(try isUnlocked(file))
            // A reader that cannot repair the file, and one that can.
            var damaged = try Data(contentsOf: file)
            damaged[RecordFormat.headerLength + 12] ^= 1
            try overwrite(file, with: damaged)
            try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: true)
            let reader = FileBackend(path: file.path)
            #expect(try reader.value(forKey: "number") == nil)
            #expect(try isUnlocked(file))
            try FileManager.default.removeItem(at: temporary)
            let repairing = FileBackend(path: file.path)
            #expect(try repairing.keys() == [])
            #expect(try isUnlocked(file))
            withExtendedLifetime((backend, reader, repairing)) {}
        }
    }
}
