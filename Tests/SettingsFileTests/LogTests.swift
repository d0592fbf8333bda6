import Foundation
import TestSupport
import Testing

@testable import SettingsFile
@testable import SettingsFileInspection
@testable import TypedDefaults

/// Tests the values of an open file against a dictionary.
struct LogTests: SettingsFileTests {
    /// Returns the records of the given commits.
    private func records(_ commits: [[(key: String, value: [UInt8]?)]], after crc: UInt32) -> [UInt8] {
        var (bytes, crc) = ([UInt8](), crc)
        for commit in commits {
            var record = RecordWriter()
            for (key, value) in commit {
                if let value { record.append(key, raw: value[...]) } else { record.append(removalOf: key) }
            }
            crc = record.finish(after: crc)
            record.withBytes { bytes += $0 }
        }
        return bytes
    }

    /// Reads all records when the file is opened, or one half of them afterwards.
    @Test(arguments: [false, true]) func aLogHoldsTheLastValueOfEachKey(readsLater: Bool) throws {
        var generator = SeededGenerator(seed: readsLater ? 1 : 0)
        // Keys of many lengths, and keys that are not ASCII.
        let keys = (0..<3_000).map { number in
            let start = String(repeating: number % 2 == 0 ? "k" : "é", count: number % 41)
            return number < 41 ? start : start + String(number)
        }
        var expected: [String: [UInt8]] = [:]
        var commits: [[(key: String, value: [UInt8]?)]] = []
        for _ in 0..<6_000 {
            var edits: [(key: String, value: [UInt8]?)] = []
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let key = keys.randomElement(using: &generator)!
                let value = Array(key.utf8.reversed()) + [UInt8.random(in: 0...255, using: &generator)]
                edits.append((key, Int.random(in: 0..<5, using: &generator) == 0 ? nil : value))
            }
            for (key, value) in edits { expected[key] = value }
            commits.append(edits)
        }
        var header = RecordFormat.header(epoch: 0, end: 0)
        let crc = header.withUnsafeBytes { Salvage.word(in: $0, at: 60) }
        let half = readsLater ? commits.count / 2 : commits.count
        let (first, all) = (records(Array(commits[..<half]), after: crc), records(commits, after: crc))
        let committed = CommittedEnd(tag: 7, end: header.count + first.count)
        withUnsafeBytes(of: committed.rawValue.littleEndian) {
            header.replaceSubrange(RecordFormat.committedOffset..<RecordFormat.flushedOffset, with: $0)
        }
        try withFile { file in
            try Data(header + first).write(to: file)
            chmod(file.path, 0o600)
            var (log, values) = try openLog(of: file)
            #expect(log.end == header.count + first.count && log.isSettled)
            try log.open.file.write(Array(all[first.count...]), at: header.count + first.count)
            let end = CommittedEnd(tag: 7, end: header.count + all.count)
            let records = try log.readRecords(upTo: end, sizeLimit: .max)
            values.apply(records)
            #expect(records.keys == commits[half...].flatMap { $0.map(\.key) })
            #expect(log.end == header.count + all.count)
            #expect(Set(values.keys) == Set(expected.keys))
            for key in keys { #expect(values.value(forKey: key) == expected[key]) }
        }
    }

    /// Each attempt takes the time of the disk, so a file that cannot be replaced must not cost it
    /// at each flush.
    @Test func aFailedCompactionIsTriedAgainWhenTheFileHasGrownByHalf() throws {
        try withFile { file in
            fill(open(file))
            var log = try openLog(of: file).log
            func isDue(appending count: Int) -> Bool {
                log.isDueForCompaction(appending: count, to: -count, keeping: RecordFormat.keptSize)
            }
            let end = log.end
            #expect(isDue(appending: 0))
            log.noteFailedCompaction()
            #expect(!isDue(appending: end / 8) && isDue(appending: end / 3 * 2))
        }
    }

    /// The operations of a commit are applied together or not at all, even if the last one has an
    /// unknown form.
    @Test(
        arguments: [
            [3, 1, 107, 0], [1, 1, 0xFF, 0], [2, 2, 0xC3, 0x28], [1, 1, 107], [1, 9, 107, 0], [2],
        ] as [[UInt8]]) func aCommitWithAnInvalidOperationIsNotApplied(operation: [UInt8])
    {
        for valid in [[], [1, 1, 97, 0], [1, 1, 97, 0, 2, 1, 98]] as [[UInt8]] {
            let bytes = (valid + operation).withUnsafeBytes { payload in
                var record = RecordWriter(payload: payload)
                _ = record.finish(after: 7)
                return record.withBytes { Array($0) }
            }
            bytes.withUnsafeBytes { #expect(RecordFormat.commit(in: $0, at: 0, after: 7) == nil) }
        }
    }

    /// No reader accepts a record before its last byte is there, even if all missing bytes are
    /// zeros.
    @Test func aRecordIsReadOnlyWithItsLastByte() {
        let payload = (1...10).map { UInt8($0) } + [UInt8](repeating: 0, count: 990)
        let whole = payload.withUnsafeBytes { payload in
            var record = RecordWriter(payload: payload)
            _ = record.finish(after: 7)
            return record.withBytes { Array($0) }
        }
        for end in [20, 512, 1_000, whole.count - 1] {
            let bytes = whole[..<end] + [UInt8](repeating: 0, count: whole.count - end)
            bytes.withUnsafeBytes { #expect(RecordFormat.commit(in: $0, at: 0, after: 7) == nil) }
        }
    }
}
