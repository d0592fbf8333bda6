import Foundation
import TestSupport
import Testing

@testable import SettingsFile
@testable import TypedDefaults

#if os(Linux)
    /// Tests what a writer notices that has looked up the path a short time ago. Here, it relies on
    /// that look for a day.
    struct MovedFileTests: SettingsFileTests {
        /// Returns a suite that has written 1, so that it has looked up the path.
        private func openedSuite(_ file: URL, _ durability: DefaultsSuite.Durability = .process) -> DefaultsSuite {
            let backend = FileBackend(
                path: file.path, durability: durability, timeout: .seconds(60), pathInterval: .seconds(86_400))
            let suite = DefaultsSuite(backend: backend)
            for value in 0...1 { suite[number] = value }
            return suite
        }

        @Test func aRemovedFileIsCreatedAgainByTheNextWrite() throws {
            try withFile { file in
                let suite = openedSuite(file)
                try FileManager.default.removeItem(at: file)
                suite[number] = 2
                #expect(open(file)[number] == 2)
            }
        }

        @Test func aReplacedFileIsUsedByTheNextWrite() throws {
            try withFile { file in
                let suite = openedSuite(file)
                let other = file.appendingPathExtension("other")
                open(other)[DefaultKey("other", default: 0)] = 7
                #expect(rename(other.path, file.path) == 0)
                suite[number] = 2
                #expect(open(file)[number] == 2)
                #expect(open(file)[DefaultKey("other", default: 0)] == 7)
            }
        }

        /// A backup program may keep a file by a second name. The compaction by another process
        /// then leaves the old file with a name.
        @Test func aCompactedFileWithASecondNameIsNotWrittenTo() throws {
            try withFile { file in
                let suite = openedSuite(file)
                // Opened before, because a file with two names is refused.
                let other = open(file)
                #expect(other[number] == 1)
                let filler = UserDefault(DefaultKey("filler", default: ""), in: other)
                let copy = file.appendingPathExtension("copy")
                func inode() throws -> Int? {
                    try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? Int
                }
                let old = try inode()
                #expect(link(file.path, copy.path) == 0)
                for count in 60_000..<60_010 { try filler.store.save(String(repeating: "x", count: count)) }
                try other.synchronize()
                #expect(try inode() != old)
                // The writer has read the seal of the old file, which has one name now.
                suite[number] = 2
                #expect(open(file)[number] == 2)
                #expect(open(file)[filler.key].utf8.count == 60_009)
            }
        }

        @Test func aFileWithTwoNamesIsLookedUpByEveryWrite() throws {
            try withFile { file in
                let suite = openedSuite(file)
                #expect(link(file.path, file.path + "-1") == 0)
                #expect(rename(file.path, file.path + "-2") == 0)
                suite[number] = 2
                #expect(open(file)[number] == 2)
            }
        }

        /// The file keeps one name, so only a look at the path shows that it is another one.
        @Test(arguments: [false, true]) func aFlushReportsCommitsInARenamedFile(hasSuccessor: Bool) throws {
            try withFile { file in
                let suite = openedSuite(file)
                let failures = Failures(of: suite)
                let moved = file.appendingPathExtension("moved")
                #expect(rename(file.path, moved.path) == 0)
                if hasSuccessor { open(file)[number] = 5 }
                suite[number] = 2
                #expect(open(moved)[number] == 2)
                #expect(fails(with: .unavailable) { try suite.synchronize() })
                #expect(suite[number] == (hasSuccessor ? 5 : 0))
                try suite.synchronize()
                suite[number] = 3
                #expect(open(file)[number] == 3)
                #expect(failures.kinds == [])
            }
        }

        /// After the interval, or when the watch has seen the rename, the next write notices it.
        @Test func aWriterReportsCommitsInARenamedFolder() throws {
            try withFile { file in
                let folder = file.appendingPathExtension("folder")
                let path = folder.appending(path: "test.defaults")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
                let backend = FileBackend(path: path.path, timeout: .seconds(60), pathInterval: .seconds(86_400))
                let suite = DefaultsSuite(backend: backend)
                for value in 0...1 { suite[number] = value }
                let failures = Failures(of: suite)
                let moved = file.appendingPathExtension("moved")
                #expect(rename(folder.path, moved.path) == 0)
                suite[number] = 2
                #expect(failures.kinds == [])
                #expect(open(moved.appending(path: "test.defaults"))[number] == 2)
                backend.file.withState { $0.nameMayHaveMoved = true }
                suite[number] = 3
                #expect(open(path)[number] == 3)
                #expect(failures.kinds == [.unavailable])
            }
        }

        @Test func anImmediateWriteLooksUpThePath() throws {
            try withFile { file in
                let suite = openedSuite(file, .immediate)
                #expect(rename(file.path, file.path + "-moved") == 0)
                try UserDefault(number, in: suite).store.save(2)
                #expect(open(file)[number] == 2)
            }
        }
    }
#endif
