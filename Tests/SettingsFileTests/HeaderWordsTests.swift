import Foundation
import TestSupport
import Testing

@testable import SettingsFile
@testable import SettingsFileInspection
@testable import TypedDefaults

/// Tests the words of a header that no checksum covers: a wrong one does no harm.
struct HeaderWordsTests: SettingsFileTests {
    private func write(_ word: UInt64, at offset: Int, of file: URL) throws {
        try overwrite(file, at: offset, with: Array(withUnsafeBytes(of: word.littleEndian) { Data($0) }))
    }

    /// Returns the committed word of a file, and the end of its first
    /// record.
    private func committed(of file: URL) throws -> (word: CommittedEnd, first: Int) {
        let bytes = try Data(contentsOf: file)
        let word = bytes.withUnsafeBytes {
            CommittedEnd(rawValue: $0.loadUnaligned(fromByteOffset: RecordFormat.committedOffset, as: UInt64.self))
        }
        let record = RecordFormat.length(ofPayload: Int(bytes[RecordFormat.headerLength]))
        return (word, RecordFormat.headerLength + record)
    }

    private static let faults: [(String, @Sendable (CommittedEnd, _ first: Int) -> UInt64)] = [
        ("zero", { _, _ in 0 }),
        ("all ones", { _, _ in .max }),
        ("no record", { word, _ in CommittedEnd(tag: word.tag, end: RecordFormat.headerLength).rawValue }),
        ("an earlier record", { word, first in CommittedEnd(tag: word.tag, end: first).rawValue }),
        ("within a record", { word, first in CommittedEnd(tag: word.tag, end: first + 8).rawValue }),
        ("within the header", { word, _ in CommittedEnd(tag: word.tag, end: 8).rawValue }),
        ("behind the records", { word, _ in CommittedEnd(tag: word.tag, end: word.end + 24).rawValue }),
        ("behind the limit", { word, _ in CommittedEnd(tag: word.tag, end: 1 << 30).rawValue }),
        ("another tag", { word, _ in CommittedEnd(tag: word.tag ^ 1, end: word.end).rawValue }),
        ("a replacement", { word, _ in CommittedEnd(tag: word.tag, end: word.end, isReplaced: true).rawValue }),
    ]

    @Test(arguments: faults.map(\.0), [false, true])
    func aWrongCommittedWordLosesNoRecord(fault: String, isOpenBefore: Bool) throws {
        try withFile { file in
            let writer = open(file)
            for value in 1...3 { writer[number] = value }
            // The flushed word shows that the committed word is too small.
            try writer.synchronize()
            let suite = open(file)
            let failures = Failures(of: suite)
            if isOpenBefore { #expect(suite[number] == 3) }
            let (word, first) = try committed(of: file)
            let wrong = try #require(Self.faults.first { $0.0 == fault }).1
            try write(wrong(word, first), at: RecordFormat.committedOffset, of: file)
            for _ in 0..<2 { #expect(suite[number] == 3) }
            suite[DefaultKey("other", default: 0)] = 5
            for reader in [writer, suite, open(file)] {
                #expect(reader[number] == 3)
                #expect(reader[DefaultKey("other", default: 0)] == 5)
            }
            #expect(failures.kinds == [])
            #expect(try FileInspection(file: file).problems == [])
        }
    }

    /// Records that were not flushed yet: nothing but the committed word says which there are.
    @Test(arguments: faults.map(\.0)) func anInspectionSeesWhatProgramsRead(fault: String) throws {
        try withFile { file in
            let writer = FileBackend(path: file.path, flushDelay: .seconds(3_600))
            for (key, value) in [("a", 1), ("b", 2), ("c", 3)] as [(String, PropertyList)] {
                try writer.write([(key, value)])
            }
            let (word, first) = try committed(of: file)
            let wrong = try #require(Self.faults.first { $0.0 == fault }).1
            try write(wrong(word, first), at: RecordFormat.committedOffset, of: file)
            let inspection = try FileInspection(file: file)
            let reader = open(file)
            #expect(try reader.keys() == inspection.keys)
            // A word that leads into the header is wrong. Any other one may be a smaller end.
            if ["zero", "within the header"].contains(fault) { #expect(inspection.keys == ["a", "b", "c"]) }
            reader[number] = 4
            #expect(
                open(file)[number] == 4 && open(file)[DefaultKey("a", default: 0)] == (inspection.keys.isEmpty ? 0 : 1))
        }
    }

    @Test(arguments: [0, 1, 8, 96, 1 << 20, 1 << 40, .max] as [UInt64])
    func aWrongFlushedWordLosesNoRecord(word: UInt64) throws {
        try withFile { file in
            open(file)[number] = 1
            try write(word, at: RecordFormat.flushedOffset, of: file)
            let suite = open(file)
            #expect(suite[number] == 1)
            suite[number] = 2
            try suite.synchronize()
            #expect(open(file)[number] == 2)
            #expect(try FileInspection(file: file).problems == [])
        }
    }

    /// The end of a file is missing, as after `truncate` or an error of the disk. What was not
    /// flushed may be lost in a power failure, and is no error.
    @Test(arguments: [false, true]) func flushedRecordsThatAreMissingAreReported(isFlushed: Bool) throws {
        try withFile { file in
            let writer = open(file)
            for value in 1...3 { writer[number] = value }
            if isFlushed { try writer.synchronize() }
            let (word, first) = try committed(of: file)
            let zeros = Data(count: word.end - first)
            var bytes = try Data(contentsOf: file)
            bytes.replaceSubrange(first..<word.end, with: zeros)
            let copy = file.deletingLastPathComponent().appending(path: "copy.defaults")
            try bytes.write(to: copy)
            let suite = open(copy)
            let failures = Failures(of: suite)
            #expect(suite[number] == 1)
            #expect(failures.kinds == (isFlushed ? [.unreadable] : []))
            suite[number] = 2
            #expect(open(copy)[number] == 2)
            #expect(failures.kinds == (isFlushed ? [.unreadable, .unreadable] : []))
            if isFlushed { #expect(failures.all[1].reason.contains("which had been flushed, are missing")) }
        }
    }

    /// A writer died before it committed its record. No other process has read it or ever reads it,
    /// so that a value does not change after its writer has died.
    @Test(arguments: [false, true]) func aRecordOfADeadWriterIsNeverRead(isWhole: Bool) throws {
        try withFile { file in
            let writer = open(file)
            writer[number] = 1
            try writer.synchronize()
            let identity = try File.existingDirectory(file.deletingLastPathComponent().path)
                .identity(of: file.lastPathComponent)
            let (word, _) = try committed(of: file)
            let bytes = try Data(contentsOf: file)
            var record = RecordWriter()
            record.append("other", raw: [2, 5, 0, 0, 0, 0, 0, 0, 0])
            _ = record.finish(after: bytes.withUnsafeBytes { Salvage.word(in: $0, at: RecordFormat.headerLength + 4) })
            try overwrite(
                file, at: word.end, with: Array(record.withBytes { Data($0.prefix(isWhole ? $0.count : 20)) }))
            let suite = open(file)
            #expect(suite[number] == 1)
            #expect(suite[DefaultKey("other", default: 0)] == 0)
            #expect(try FileInspection(file: file).problems == [])
            suite[number] = 2
            try suite.synchronize()
            let now = try File.existingDirectory(file.deletingLastPathComponent().path)
                .identity(of: file.lastPathComponent)
            // What was cut off needs no proof by a new file.
            #expect(now == identity)
            #expect(open(file)[number] == 2)
        }
    }
}
