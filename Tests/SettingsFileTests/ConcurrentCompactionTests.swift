#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    @testable import SettingsFile
    @testable import TypedDefaults

    /// Tests what happens to the folder at a certain moment of a compaction or creation. The system
    /// reports that moment on Linux only.
    struct ConcurrentCompactionTests: SettingsFileTests {
        /// Compacting the removed file and creating a new one both use the same temporary name.
        @Test func recreatingTheFileSurvivesAConcurrentCompaction() throws {
            var lost = 0
            for _ in 0..<50 {
                try withFile { file in
                    let old = FileBackend(path: file.path)
                    for _ in 0..<6 { try old.write([("filler", .data(Data(count: 20_000)))]) }
                    let creations = try FileActivity(.creation, file.deletingLastPathComponent())
                    let group = DispatchGroup()
                    DispatchQueue.global().async(group: group) {
                        #expect(throws: Never.self) { try old.synchronize() }
                    }
                    #expect(creations.wait(for: 1), "the file is compacted")
                    try? FileManager.default.removeItem(at: file)
                    let new = UserDefault(number, in: open(file)).store
                    #expect(throws: Never.self) { try new.save(31) }
                    group.wait()
                    if new.get() != 31 { lost += 1 }
                }
            }
            #expect(lost == 0)
        }

        /// Returns a store whose timeout is longer than a busy disk takes.
        private func storeWithLongTimeout(_ file: URL) -> AnyStore<Int> {
            let backend = FileBackend(path: file.path, durability: .process, timeout: .seconds(60))
            return UserDefault(number, in: DefaultsSuite(core: SuiteCore(backend))).store
        }

        @Test func aWriterThatWaitsUsesTheFileOfAnotherProcess() throws {
            try withFile { file in
                let folder = file.deletingLastPathComponent()
                let temporary = folder.appending(path: ".test.defaults.new")
                try Data().write(to: temporary)
                let other = try File.existingDirectory(folder.path).file(temporary.lastPathComponent, .readWrite)
                #expect(try other.tryLock())
                let elsewhere = folder.appending(path: "elsewhere.defaults")
                open(elsewhere)[number] = 1
                let store = storeWithLongTimeout(file)
                let openings = try FileActivity(.open, temporary)
                let ends = onThread { #expect(throws: Never.self) { try store.save(2) } }
                #expect(openings.wait(for: 1), "the writer waits")
                // Do what the other process does, which still holds its lock.
                #expect(rename(elsewhere.path, file.path) == 0)
                ends.wait()
                #expect(store.get() == 2)
                #expect(FileManager.default.fileExists(atPath: temporary.path))
            }
        }

        @Test func aWriterThatWaitsIgnoresAFileInARenamedFolder() throws {
            try withFile { file in
                let (old, new) = (file.appendingPathExtension("a"), file.appendingPathExtension("b"))
                try FileManager.default.createDirectory(at: old, withIntermediateDirectories: false)
                try Data().write(to: old.appending(path: ".test.defaults.new"))
                let other = try File.existingDirectory(old.path).file(".test.defaults.new", .readWrite)
                #expect(try other.tryLock())
                let store = storeWithLongTimeout(old.appending(path: "test.defaults"))
                let openings = try FileActivity(.open, old.appending(path: ".test.defaults.new"))
                let ends = onThread { #expect(throws: Never.self) { try store.save(2) } }
                #expect(openings.wait(for: 1), "the writer waits")
                #expect(rename(old.path, new.path) == 0)
                // Do what the other process does under the same temporary name.
                open(file)[number] = 1
                #expect(rename(file.path, new.appending(path: "test.defaults").path) == 0)
                other.unlock()
                ends.wait()
                #expect(open(new.appending(path: "test.defaults"))[number] == 1)
                #expect(open(old.appending(path: "test.defaults"))[number] == 2)
            }
        }
    }
#endif
