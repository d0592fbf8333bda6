import Foundation
import TestSupport
import Testing

@testable import SettingsFile
@testable import SettingsFileInspection
@testable import TypedDefaults

/// Tests the inspection of settings files. It must never change a file, and no bytes may crash it.
struct FileInspectionTests: SettingsFileTests {
    private func problems(_ file: URL) throws -> [String] {
        try FileInspection(file: URL(filePath: file.path)).problems
    }

    /// Creates a file of four records, k1 to k4, and returns its bytes and the offsets of the
    /// records. After a compaction, one record holds all four values.
    private func makeRecords(_ file: URL, isCompacted: Bool = false) throws -> (bytes: Data, starts: [Int]) {
        // Not through a suite: its flush in the background may read the file that a test changes.
        let backend = FileBackend(path: file.path)
        for number in 1...4 {
            let value = PropertyList.string(String(repeating: "v", count: 20 + number))
            try backend.write([("k\(number)", value)])
        }
        if isCompacted { try backend.file.withLog { state throws(FileFailure) in try backend.file.compact(&state) } }
        let bytes = try #require(FileManager.default.contents(atPath: file.path))
        var starts = [RecordFormat.headerLength]
        for _ in 1...(isCompacted ? 1 : 4) {
            starts.append(starts.last! + RecordFormat.length(ofPayload: Int(bytes[starts.last!])))
        }
        return (bytes, starts)
    }

    /// Inspects a file of the given bytes, and checks that they stay unchanged.
    private func inspect(_ bytes: Data, _ file: URL) throws -> FileInspection {
        try bytes.write(to: file)
        chmod(file.path, 0o600)
        let inspection = try FileInspection(file: URL(filePath: file.path))
        #expect(FileManager.default.contents(atPath: file.path) == bytes)
        return inspection
    }

    @Test func aValidFileHasNoProblem() throws {
        try withFile { file in
            let (_, starts) = try makeRecords(file)
            let suite = DefaultsSuite(backend: FileBackend(path: file.path))
            suite.remove(["k2"])
            let inspection = try FileInspection(file: URL(filePath: file.path))
            #expect(inspection.problems == [])
            #expect(inspection.keys == ["k1", "k3", "k4"])
            #expect(inspection.records == 5)
            #expect(inspection.end == starts[4] + RecordFormat.length(ofPayload: 4))
            #expect(inspection.size == 4 << 10)
            #expect((inspection.version, inspection.epoch ?? 1) == (2, 0))
            #expect(inspection.liveBytes > 0 && inspection.liveBytes < inspection.end - starts[0])
            #expect(inspection.salvageableValues.isEmpty)
            #expect(
                try names(beside: file).count == 1)
        }
    }

    /// The value of a damaged record is rejected unless only its checksum is damaged, and the next
    /// record proves that. No record after it is lost.
    @Test(arguments: [false, true]) func recordsAfterAFlippedBitAreFound(isCompacted: Bool) throws {
        try withFile { file in
            let (bytes, starts) = try makeRecords(file, isCompacted: isCompacted)
            let keys = isCompacted ? [["k1", "k2", "k3", "k4"]] : (1...4).map { ["k\($0)"] }
            for record in keys.indices {
                for bit in (starts[record] * 8)..<(starts[record + 1] * 8) {
                    var flipped = bytes
                    flipped[bit / 8] ^= 1 << (bit % 8)
                    let inspection = try inspect(flipped, file)
                    let isChecksum = (starts[record] + 4..<starts[record] + 8).contains(bit / 8)
                    let isProven = isChecksum && record + 1 < keys.count
                    let expected = keys[(isProven ? record : record + 1)...].flatMap { $0 }
                    #expect(inspection.salvageableValues.map(\.key) == expected, "bit \(bit)")
                    // The records of a compacted file had been flushed, so they are missing too.
                    #expect(inspection.problems.count == (isCompacted ? 2 : 1))
                    #expect(inspection.end == starts[record])
                    #expect(inspection.keys == keys[..<record].flatMap { $0 })
                    let last = inspection.salvageableValues.last?.value
                    #expect(expected.isEmpty || last == .string(String(repeating: "v", count: 24)))
                }
            }
        }
    }

    /// Each bit of a header may be flipped, also in its checksum or in the words that no checksum
    /// covers.
    @Test(arguments: [false, true]) func aFlippedBitInTheHeaderLosesNoValue(isCompacted: Bool) throws {
        try withFile { file in
            var (bytes, starts) = try makeRecords(file, isCompacted: isCompacted)
            // Until a flush, nothing but the committed word says which records count.
            withUnsafeBytes(of: UInt64(starts.last!).littleEndian) {
                bytes.replaceSubrange(RecordFormat.flushedOffset..<RecordFormat.flushedOffset + 8, with: $0)
            }
            let keys = (1...4).map { "k\($0)" }
            for bit in 0..<(RecordFormat.headerLength * 8) {
                var flipped = bytes
                flipped[bit / 8] ^= 1 << (bit % 8)
                let inspection = try inspect(flipped, file)
                let isWord = (RecordFormat.committedOffset..<RecordFormat.flushedOffset + 8).contains(bit / 8)
                #expect(inspection.keys == (isWord ? keys : []), "bit \(bit)")
                #expect(inspection.salvageableValues.map(\.key) == (isWord ? [] : keys), "bit \(bit)")
                #expect(inspection.isHeaderDamaged == !isWord)
                let repaired = try FileInspection.repair(file.path)
                #expect((repaired == nil) == isWord)
                if let copy = repaired?.copy { try FileManager.default.removeItem(atPath: copy) }
                let backend = FileBackend(path: file.path)
                #expect(try backend.keys().sorted() == keys, "bit \(bit)")
                #expect(try backend.value(forKey: "k1") == .string(String(repeating: "v", count: 21)))
            }
        }
    }

    @Test func everyTruncationIsReportedWithoutInventedValues() throws {
        try withFile { file in
            let (bytes, starts) = try makeRecords(file)
            for length in 1...starts[4] {
                let inspection = try inspect(bytes.prefix(length), file)
                // A file may end with its last record.
                #expect(inspection.problems.isEmpty == starts.contains(length), "\(length)")
                // A record without its last byte is not whole.
                #expect(inspection.salvageableValues.isEmpty, "\(length)")
            }
        }
    }

    @Test func problemsOfTheFileAndFolderAreReported() throws {
        try withFile { file in
            _ = try makeRecords(file)
            let folder = file.deletingLastPathComponent()
            let other = folder.appending(path: "other")
            chmod(file.path, 0o666)
            // All users may read a file of root.
            #expect(try problems(file) == ["has permissions wider than \(geteuid() == 0 ? "0644" : "0600")"])
            chmod(file.path, 0o600)
            #expect(link(file.path, other.path) == 0)
            #expect(try problems(file) == ["has more than one hard link"])
            #expect(unlink(file.path) == 0)
            #expect(symlink(other.path, file.path) == 0)
            // A link that only this user can change is followed.
            chmod(folder.path, 0o700)
            #expect(try problems(file) == [])
            #expect(unlink(file.path) == 0)
            #expect(mkfifo(file.path, 0o600) == 0)
            #expect(try problems(file) == ["is not a regular file"])
            #expect(unlink(file.path) == 0)
            #expect(rename(other.path, file.path) == 0)
            chmod(folder.path, 0o777)
            #expect(try problems(file) == ["is in a folder that is writable by all users"])
            chmod(folder.path, 0o700)
            if geteuid() == 0 {
                #expect(chown(file.path, 1, 1) == 0)
                let seen7 = try problems(file)
                #expect(seen7 == ["belongs to the user 1"])
                #expect(chown(file.path, 0, 0) == 0)
            }
            #expect(try problems(file) == [])
        }
    }

    @Test func aMissingFileIsNotCreated() throws {
        try withFile { file throws in
            let folder = file.deletingLastPathComponent()
            for path in [file.path, folder.path + "/a/b/c.defaults"] {
                #expect(try FileInspection(path) == nil)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        }
    }

    /// The header says which records were flushed before the file got its name.
    @Test func aFileThatLacksFlushedRecordsIsAProblem() throws {
        try withFile { file in
            let suite = DefaultsSuite(backend: FileBackend(path: file.path))
            fill(suite)
            try suite.synchronize()
            let inspection = try FileInspection(file: URL(filePath: file.path))
            #expect(inspection.isComplete && inspection.epoch == 1)
            let bytes = try Data(contentsOf: file)
            let empty = bytes.prefix(RecordFormat.headerLength) + Data(count: bytes.count - RecordFormat.headerLength)
            let problems = try inspect(empty, file).problems
            #expect(
                problems == ["ends at byte 64, although records up to byte \(inspection.end) had been flushed"])
        }
    }

    /// A process that died while it created the file leaves it empty.
    @Test(arguments: [(0, "is empty"), (4_096, "holds only zeros")])
    func aFileWithoutHeaderIsAProblem(count: Int, problem: String) throws {
        try withFile { file in
            let inspection = try inspect(Data(count: count), file)
            #expect(inspection.problems == [problem])
            #expect(!inspection.isComplete)
        }
    }

    /// Inspects random bytes, alone and inside a valid file. Some of them look like the beginning
    /// of a record.
    @Test func noBytesCrashTheProcess() throws {
        try withFile { file in
            let (bytes, starts) = try makeRecords(file)
            var generator = SeededGenerator(seed: 4)
            for round in 0..<500 {
                var fuzzed =
                    round % 2 == 0 ? bytes.prefix(starts[4] + 64) : Data(count: .random(in: 0...600, using: &generator))
                for _ in 0..<Int.random(in: 1...12, using: &generator) where !fuzzed.isEmpty {
                    let place = Int.random(in: 0..<fuzzed.count, using: &generator)
                    let some: [UInt8] = [0, 1, 2, 3, 8, 16, 0x7F, 0x80, 0xFF, .random(in: 0...255, using: &generator)]
                    fuzzed[place] = some.randomElement(using: &generator)!
                }
                if round % 5 == 0 { fuzzed.removeLast(.random(in: 0...fuzzed.count, using: &generator)) }
                _ = try inspect(fuzzed, file)
            }
        }
    }

    /// Every eight bytes look like the beginning of a record of 16 MiB. Summing all of them would
    /// take days.
    @Test func theSearchForRecordsIsBounded() throws {
        try withFile { file in
            let count = 16 << 20
            let word: [UInt8] = [1, 0, 0x7F, 0, 1, 1, 1, 1]
            var bytes = Data(count: count)
            bytes.withUnsafeMutableBytes { bytes in
                for place in stride(from: 0, to: count, by: 8) { bytes[place...].copyBytes(from: word) }
            }
            let start = ContinuousClock.now
            let inspection = try inspect(bytes, file)
            #expect(inspection.problems.count == 2, "it gives up, and says so")
            #expect(ContinuousClock.now - start < .seconds(60))
        }
    }

    @Test func aFileOfTheLargestSizeIsRead() throws {
        try withFile { file in
            try FileBackend(path: file.path).write([("number", 7)])
            #expect(truncate(file.path, off_t(RecordFormat.sizeLimit)) == 0)
            #expect(try FileInspection(file: URL(filePath: file.path)).problems == [])
        }
    }
}
