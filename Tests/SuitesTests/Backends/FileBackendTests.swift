import Foundation
import TestSupport
import Testing

@testable import SettingsFile
@testable import TypedDefaults

/// Tests the settings file. Two backends for one file act as two processes, because they share
/// nothing but the file.
@Suite(.ownThreads) struct FileBackendTests: SettingsFileTests {
    // Several processes

    @Test func theNextGetReadsExternalChanges() throws {
        try withFile { file throws in
            let (first, second) = (open(file), open(file))
            for value in 1...100 {
                first[number] = value
                #expect(second[number] == value)
                second[number] = -value
                #expect(first[number] == -value)
            }
            try first.removeAll()
            #expect(second[number] == 0)
        }
    }

    /// Two threads of a process may ask for the changes after the same generation.
    @Test func changesReturnsTheExternallyChangedKeys() throws {
        try withFile { file throws in
            let (reader, writer) = (FileBackend(path: file.path), FileBackend(path: file.path))
            func commit(_ key: String) throws { try writer.write([(key, 1)]) }
            func changes(since generation: UInt64) throws -> [String]? { try reader.changes(since: generation).keys }
            try commit("zero")
            _ = try reader.value(forKey: "zero")
            let first = try #require(reader.generation)
            try commit("one")
            #expect(try changes(since: first) == ["one"])
            let second = try #require(reader.generation)
            try commit("two")
            #expect(try changes(since: first) == ["one", "two"])
            #expect(try changes(since: second) == ["two"])
        }
    }

    @Test(arguments: [DefaultsSuite.Durability.process, .immediate])
    func updatesOfSeveralProcessesAreExactDuringCompactions(durability: DefaultsSuite.Durability) throws {
        let rounds = durability == .process ? 100 : 20
        try withFile { file throws in
            let filler = DefaultKey("filler", default: "")
            onThreads(8) { index in
                let suite = DefaultsSuite(
                    core: SuiteCore(
                        // A small limit, so that the file is compacted every few rounds, and
                        // ThreadSanitizer has less memory to clear for each mapping.
                        FileBackend(
                            path: file.path, durability: durability, timeout: .seconds(60), sizeLimit: 64 << 10)))
                let store = UserDefault(DefaultKey("number", default: 0), in: suite).store
                for round in 0..<rounds {
                    do {
                        try store.updateStored { $0 = ($0 ?? 0) + 1 }
                        suite[filler] = String(repeating: "x", count: 6_000 + index + round)
                    } catch {
                        Issue.record(error)
                    }
                }
            }
            let suite = open(file)
            #expect(suite[number] == 8 * rounds)
            #expect(try size(of: file) <= 64 << 10)
            // A flush in the background may be replacing the file.
            for _ in 0..<1_000 where try names(beside: file).count > 1 { usleep(10_000) }
            #expect(try names(beside: file) == ["test.defaults"])
        }
    }

    #if os(macOS) || os(Linux)
        /// A file lock belongs to the open file description, which a forked child shares with its
        /// parent.
        @Test(.ownFile) func aForkedChildSharesTheFileWithItsParent() async {
            await #expect(processExitsWith: .success) { [path = ownFile as String] in
                let store = UserDefault(
                    DefaultKey("number", default: 0), in: try DefaultsSuite(file: URL(filePath: path))
                ).store
                store.set(0)
                let children = (0..<4).map { _ in
                    let child = forkProcess()
                    if child == 0 {
                        for _ in 0..<250 { _ = try? store.updateStored { $0? += 1 } }
                        _exit(0)
                    }
                    return child
                }
                for _ in 0..<250 { try store.updateStored { $0? += 1 } }
                for child in children {
                    var status: Int32 = -1
                    #expect(waitpid(child, &status, 0) == child)
                    #expect(status == 0)
                }
                #expect(store.get() == 1_250)
            }
        }

        /// Neither an inherited descriptor nor an inherited mapping may keep the lock.
        @Test(.ownFile) func aChildDoesNotInheritTheLockOfAKilledParent() async throws {
            let file = URL(filePath: ownFile)
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = ownFile as String] in
                let store = UserDefault(
                    DefaultKey("number", default: 0), in: try DefaultsSuite(file: URL(filePath: path))
                ).store
                try store.save(1)
                try store.updateStored { _ in
                    if forkProcess() == 0 {
                        // Close the output, so that the test does not wait for this process.
                        for descriptor in 0..<1_024 as Range<Int32> { close(descriptor) }
                        sleep(6)
                        _exit(0)
                    }
                    kill(getpid(), SIGKILL)
                }
            }
            try UserDefault(number, in: open(file)).store.save(2)
            #expect(open(file)[number] == 2)
        }
    #endif

    // After a kill

    #if os(macOS) || os(Linux)
        @Test(.ownFile) func setValuesSurviveAKill() async {
            let file = URL(filePath: ownFile)
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = ownFile as String] in
                let suite = try DefaultsSuite(file: URL(filePath: path))
                for value in 1...1_000 { suite[DefaultKey("number", default: 0)] = value }
                kill(getpid(), SIGKILL)
            }
            #expect(open(file)[number] == 1_000)
        }
    #endif

    @Test func everyTruncationKeepsTheWholeRecordsBeforeIt() throws {
        try withFile { file throws in
            let suite = open(file)
            for value in 1...20 { suite[number] = value }
            let bytes = try #require(FileManager.default.contents(atPath: file.path))
            let record = RecordFormat.length(ofPayload: Int(bytes[RecordFormat.headerLength]))
            let end = RecordFormat.headerLength + 20 * record
            for length in RecordFormat.headerLength...end {
                let copy = file.deletingLastPathComponent().appending(path: "cut-\(length).defaults")
                try bytes.prefix(length).write(to: copy)
                let cut = open(copy)
                let failures = Failures(of: cut)
                let (whole, part) = (length - RecordFormat.headerLength).quotientAndRemainder(dividingBy: record)
                #expect(cut[number] == whole, "\(length)")
                #expect(failures.kinds == (part == 0 ? [] : [.unreadable]), "\(length)")
                cut[number] = 99
                #expect(open(copy)[number] == 99)
            }
        }
    }

    @Test func everyBitFlipOfARecordIsDetectedAndSetAside() throws {
        try withFile { file throws in
            let suite = open(file)
            for value in 1...4 { suite[number] = value }
            let bytes = try #require(FileManager.default.contents(atPath: file.path))
            let record = RecordFormat.length(ofPayload: Int(bytes[RecordFormat.headerLength]))
            let end = RecordFormat.headerLength + 4 * record
            for bit in (RecordFormat.headerLength * 8)..<(end * 8) {
                let folder = file.deletingLastPathComponent().appending(path: "\(bit)")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
                let copy = folder.appending(path: "flip.defaults")
                var flipped = bytes
                flipped[bit / 8] ^= 1 << (bit % 8)
                try flipped.write(to: copy)
                let damaged = open(copy)
                let failures = Failures(of: damaged)
                #expect(damaged[number] == (bit / 8 - RecordFormat.headerLength) / record)
                #expect(failures.kinds == [.unreadable], "bit \(bit)")
                try FileBackend(path: copy.path).writing {}
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
            }
        }
    }

    #if os(macOS) || os(Linux)
        /// Only the header is mapped. Records are read with calls that can fail.
        @Test(.ownFile) func recordsOfATruncatedFileAreRead() async {
            await #expect(processExitsWith: .success) { [path = ownFile as String] in
                let (reader, writer) = (FileBackend(path: path), FileBackend(path: path))
                let text = PropertyList.string(String(repeating: "x", count: 3_900))
                for (key, value) in [("other", 1), ("text", text)] {
                    try writer.write([(key, value)])
                    if key == "other" { #expect(try reader.value(forKey: key) == value) }
                }
                #expect(truncate(path, 4_096) == 0)
                #expect(try reader.changes(since: 0).keys == nil)
                #expect(try reader.value(forKey: "text") == text)
                try reader.synchronize()
            }
        }
    #endif

    // Unusable files

    /// Readers keep the values that they know, and writes fail.
    @Test func aFileThatGrowsBeyondTheLimitIsNotWritten() throws {
        try withFile { file in
            let (key, writer) = (DefaultKey("text", default: ""), open(file))
            writer[key] = "x"
            let backend = FileBackend(
                path: file.path, durability: .process, timeout: .seconds(2), sizeLimit: 128 << 10)
            let reader = DefaultsSuite(backend: backend).quiet
            #expect(reader[key] == "x")
            writer[key] = String(repeating: "y", count: 1 << 20)
            for _ in 0..<3 {
                #expect(reader[key] == "x")
                #expect(fails(with: .unavailable) { try reader.update { $0[key] = "z" } })
            }
        }
    }

    @Test func foreignFilesAreUnavailableAndUntouched() throws {
        try withFile { file throws in
            var newer = RecordFormat.header(epoch: 0, end: 64)
            newer[8] = 3
            for bytes in [
                Data("not a settings file, but longer than a header of one would be, really".utf8), Data(newer),
                Data(count: 4_096) + Data("an image of a disk".utf8),
            ] {
                try bytes.write(to: file)
                let store = PersistentStore<CameraConfig>(in: open(file))
                #expect(fails(with: .unavailable) { _ = try store.load() })
                #expect(fails(with: .unavailable) { try store.save(CameraConfig()) })
                #expect(FileManager.default.contents(atPath: file.path) == bytes)
            }
        }
    }

    @Test func hardLinksPipesAndFoldersAreRefused() throws {
        try withFile { file throws in
            let folder = file.deletingLastPathComponent()
            try Data().write(to: folder.appending(path: "target"))
            for make in [
                { link(folder.appending(path: "target").path, file.path) },
                { mkfifo(file.path, 0o600) },
                { mkdir(file.path, 0o700) },
            ] {
                #expect(make() == 0)
                let store = PersistentStore<CameraConfig>(in: open(file))
                #expect(fails(with: .unavailable) { _ = try store.load() })
                #expect(fails(with: .unavailable) { try store.save(CameraConfig()) })
                try FileManager.default.removeItem(at: file)
            }
        }
    }

    @Test(arguments: ["settings/test.defaults", "/tmp/settings.defaults/"])
    func relativeAndFolderPathsAreRefused(path: String) throws {
        let store = UserDefault(number, in: DefaultsSuite(backend: FileBackend(path: path))).store
        let error = #expect(throws: DefaultsError.self) { try store.save(1) }
        #expect(error?.kind == .unavailable)
        #expect(error?.reason.contains("not absolute") == true)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func limitsAreCheckedBeforeAnythingIsWritten() throws {
        try withFile { file throws in
            let suite = open(file)
            let failures = Failures(of: suite)
            suite[DefaultKey("k", default: Data())] = Data(count: 17 << 20)
            suite[DefaultKey(String(repeating: "k", count: 4_097), default: 0)] = 1
            var deep: PropertyList = 1
            for _ in 0..<129 { deep = [deep] }
            let backend = FileBackend(path: file.path)
            #expect(fails(with: .refused) { try backend.commit([("deep", deep)]) })
            let longKey = String(repeating: "k", count: 4_097)
            let error = #expect(throws: DefaultsError.self) { try backend.commit([("a", 1), (longKey, 1)]) }
            #expect(error?.key == longKey)
            #expect(failures.kinds == [.refused, .refused])
            #expect(try suite.keys() == [])
            suite[DefaultKey(String(repeating: "k", count: 4_096), default: 0)] = 1
            #expect(try suite.keys().count == 1)
        }
    }

    @Test func anEmptyCommitWritesNothing() throws {
        try withFile { file throws in
            let backend = FileBackend(path: file.path)
            for edits in [[("a", 1)], [], [("b", 1)]] as [[(String, PropertyList?)]] {
                try backend.write(edits.map { (key: $0.0, value: $0.1) })
            }
            #expect(try open(file).keys() == ["a", "b"])
        }
    }
}
