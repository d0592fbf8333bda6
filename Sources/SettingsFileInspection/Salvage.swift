import SettingsFile
import TypedDefaults

/// Searches for whole records after damage.
///
/// Each record is chained to the one before it by a checksum. Damage to a record usually spares its
/// checksum, so the next record can still be verified: it is accepted if its own checksum continues
/// from the one stored before it.
struct Salvage {
    let bytes: UnsafeRawBufferPointer
    /// The offset at which the zeros at the end of the bytes begin.
    let used: Int
    /// The last edit of each key in the records found.
    private(set) var found: [ByteString: [UInt8]?] = [:]
    /// The number of bytes that may still be summed. Without a limit, some inputs would take days.
    private(set) var work = 8 * RecordFormat.sizeLimit

    private typealias Record = RecordFormat.Commit

    /// Collects the edits of all records from an offset on.
    ///
    /// - Parameters:
    ///   - start: The offset of the first record; `nil` if the header is damaged and the offset is
    ///     unknown.
    ///   - crcs: The checksums from which the first record may continue.
    mutating func run(from start: Int?, after crcs: [UInt32]) {
        let proven = crcs.first { record(at: RecordFormat.headerLength, after: $0) != nil }
        var (offset, crc) = (start ?? (proven == nil ? 0 : RecordFormat.headerLength), proven ?? crcs[0])
        while offset < used, let record = record(at: offset, after: crc) ?? nextRecord(from: offset, after: crc) {
            note(record.payload)
            (offset, crc) = (record.end, record.crc)
        }
    }

    /// Returns the first record that can be verified after an invalid one.
    ///
    /// - Parameter bad: The offset of the invalid record.
    private mutating func nextRecord(from bad: Int, after crc: UInt32) -> Record? {
        let stored = Self.word(in: bytes, at: bad + 4)
        if let end = end(at: bad) {
            // Most likely the payload is damaged.
            if let next = record(at: end, after: stored) { return next }
            // Or the checksum is. Then the next record continues from the correct checksum, which
            // also proves this record.
            let payload = (bad + 8)..<(bad + 8 + (payloadCount(at: bad) ?? 0))
            work -= payload.count
            var repaired = RecordWriter(payload: UnsafeRawBufferPointer(rebasing: bytes[payload]))
            if let next = record(at: end, after: repaired.finish(after: crc)) {
                note(payload)
                return next
            }
        }
        // Or the length is, or more than one record.
        var best: Record?
        var offset = bad + 8
        while offset < best?.payload.lowerBound ?? used, work > 0 {
            if let next = record(at: offset, after: stored) { return next }
            if let end = end(at: offset), end < best?.payload.lowerBound ?? used,
                let next = record(at: end, after: Self.word(in: bytes, at: offset + 4))
            {
                best = next
            }
            offset += 8
        }
        return best
    }

    /// Returns the end of the record that may start at an offset, or `nil` if no record can follow
    /// it.
    private func end(at offset: Int) -> Int? {
        guard let count = payloadCount(at: offset) else { return nil }
        let end = offset + RecordFormat.length(ofPayload: count)
        return end < used ? end : nil
    }

    /// Returns the length of the payload of a record at an offset, or `nil` if no record can start
    /// there.
    private func payloadCount(at offset: Int) -> Int? {
        let stated = Self.word(in: bytes, at: offset)
        return stated == 0 ? nil : RecordFormat.payloadCount(stated)
    }

    /// Returns the record that starts at an offset and continues from the given checksum.
    private mutating func record(at offset: Int, after crc: UInt32) -> Record? {
        guard work > 0, let count = payloadCount(at: offset) else { return nil }
        let end = offset + RecordFormat.length(ofPayload: count)
        guard end <= bytes.count else { return nil }
        // Skip the checksum of anything that does not begin like a commit.
        let beginning = bytes[..<min(offset + 8 + count, offset + 16 + RecordFormat.keyLimit)]
        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: beginning), at: offset + 8)
        guard let operation = reader.byte(), operation == 1 || operation == 2 else { return nil }
        work -= RecordFormat.keyLimit
        guard reader.string() != nil else { return nil }
        work -= count
        return RecordFormat.commit(in: bytes, at: offset, after: crc)
    }

    private mutating func note(_ payload: Range<Int>) {
        RecordFormat.forEachEdit(in: bytes, payload) { key, value, _ in
            let key = ByteString(String(decoding: bytes[key], as: UTF8.self))
            if let offset = value {
                // A value that this version cannot read stays in the file.
                let value = UnsafeRawBufferPointer(rebasing: bytes[offset])
                if ByteReader.wholeValue(value) != nil { found[key] = Array(value) }
            } else {
                found[key] = .some(nil)
            }
            return true
        }
    }

    static func word(in bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt32 {
        guard offset >= 0, bytes.count - offset >= 4 else { return 0 }
        return UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}
