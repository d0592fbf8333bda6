import Foundation
import TestSupport
import Testing

@testable import SettingsFile
@testable import SettingsFileInspection
@testable import TypedDefaults

/// Tests files with valid checksums and with numbers that no writer of this library would choose.
/// None may crash the process.
struct RecordFormatTests: SettingsFileTests {
    /// Creates a file of the given records.
    private func makeFile(epoch: UInt64 = 1, at file: URL, _ payloads: [[UInt8]], rest: [UInt8] = []) throws {
        var bytes = RecordFormat.header(epoch: epoch, end: RecordFormat.headerLength)
        var crc = bytes[60..<64].withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)) }
        for payload in payloads {
            payload.withUnsafeBytes { payload in
                var record = RecordWriter(payload: payload)
                crc = record.finish(after: crc)
                record.withBytes { bytes += $0 }
            }
        }
        bytes += rest
        // All of it is committed, and nothing is flushed.
        let committed = CommittedEnd(tag: 1, end: (bytes.count + 7) & ~7).rawValue
        withUnsafeBytes(of: (committed.littleEndian, 0 as UInt64)) {
            bytes.replaceSubrange(RecordFormat.committedOffset..<(RecordFormat.flushedOffset + 8), with: $0)
        }
        bytes += [UInt8](repeating: 0, count: RecordFormat.step - bytes.count % RecordFormat.step)
        try Data(bytes).write(to: file)
        chmod(file.path, 0o600)
    }

    /// Returns the payload that stores a value under a key.
    private func payload(_ key: String, _ value: PropertyList) -> [UInt8] {
        var record = RecordWriter()
        _ = record.append(key) { $0.append(value) }
        // Skip the length and the checksum.
        return record.withBytes { Array($0.dropFirst(8)) }
    }

    @Test func compactionFollowsTheLargestEpoch() throws {
        try withFile { file in
            try makeFile(epoch: .max, at: file, [payload("number", 7)])
            let suite = open(file)
            #expect(suite[number] == 7)
            fill(suite, 60_000..<60_000 + 2 * RecordFormat.busySize / 60_000)
            #expect(suite[number] == 7)
            #expect(open(file)[number] == 7)
            let epoch = try #require(FileInspection(file: URL(filePath: file.path)).epoch)
            #expect(epoch < 100)
        }
    }

    /// Lengths that do not fit into an `Int` of 32 bits, or overflow it when the header of the
    /// record is added.
    static let lengths: [UInt32] = [
        67_108_856, 67_108_857, 67_108_865, 0x7FFF_FFF0, 0x7FFF_FFF8, 0x7FFF_FFF9, 0x7FFF_FFFF, 0x8000_0000,
        0x8000_0001, 0xFFFF_FFF8, 0xFFFF_FFFF,
    ]

    @Test(arguments: lengths)
    func aRecordOfAnInvalidLengthIsDamage(length: UInt32) throws {
        try withFile { file in
            let stated = withUnsafeBytes(of: length.littleEndian) { Array($0) }
            var rest = stated + [1, 2, 3, 4] + [UInt8](repeating: 0xA5, count: 24)
            // Repeat the length at an offset where a search after the damage finds it.
            rest += stated + [5, 6, 7, 8] + [UInt8](repeating: 0xA5, count: 24)
            try makeFile(at: file, [payload("number", 7)], rest: rest)
            let inspection = try FileInspection(file: URL(filePath: file.path))
            #expect(inspection.keys == ["number"])
            #expect(inspection.problems.count == 1)
            let suite = open(file)
            #expect(suite[number] == 7)
            try UserDefault(number, in: suite).store.save(8)
            #expect(open(file)[number] == 8)
            #expect(try FileInspection(file: URL(filePath: file.path)).problems == [])
        }
    }

    /// Readers enforce the limits of writers, because decoding such a value would need many times
    /// its length in memory.
    @Test func valuesBeyondTheLimitAreNotRead() throws {
        try withFile { file in
            let long = PropertyList.string(String(repeating: "x", count: RecordFormat.valueLimit + 1))
            try makeFile(at: file, [payload("number", 7), payload("long", long)])
            let backend = FileBackend(path: file.path)
            #expect(try backend.value(forKey: "number") == 7)
            #expect(try backend.value(forKey: "long") == nil)
            #expect(try backend.keys() == ["number"])
        }
    }

    /// A process may list keys for a long time and never ask for changes.
    @Test func theListOfExternalChangesIsBounded() throws {
        try withFile { file in
            let (reader, writer) = (FileBackend(path: file.path), FileBackend(path: file.path))
            func commit(_ number: Int) throws {
                try writer.write([("key", .integer(.init(number)))])
            }
            try commit(0)
            _ = try reader.keys()
            let first = try #require(reader.generation)
            for number in 1...10 {
                try commit(number)
                _ = try reader.keys()
            }
            #expect(try reader.changes(since: first).keys == Array(repeating: "key", count: 10))
            let second = try #require(reader.generation)
            for number in 1...5_000 {
                try commit(number)
                _ = try reader.keys()
            }
            let changes = try reader.changes(since: second)
            #expect(changes.keys == nil)
            #expect(try reader.changes(since: changes.generation).keys == [])
        }
    }
}
