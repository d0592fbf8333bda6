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
    private(set) var hasRecords = false
    /// Returns whether the bytes are a value that this version can read.
    let isValue: (UnsafeRawBufferPointer) -> Bool

    private typealias Record = (payload: Range<Int>, end: Int, crc: UInt32)

    /// Collects the edits of all records from an offset on.
    ///
    /// - Parameters:
    ///   - start: The offset of the first record; `nil` if the header is damaged and the offset is
    ///     unknown.
    ///   - crc: The checksum that the first record continues from.
    mutating func run(from start: Int?, after crc: UInt32) {
        var crc = crc
        var offset = start ?? (record(at: RecordFormat.headerLength, after: crc) == nil ? 0 : RecordFormat.headerLength)
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
        guard case .edits(let payload, _, let crc) = RecordFormat.find(in: bytes, at: offset, after: crc) else {
            return nil
        }
        return (payload, end, crc)
    }

    private mutating func note(_ payload: Range<Int>) {
        hasRecords = true
        RecordFormat.forEachEdit(in: bytes, payload) { edit in
            let key = ByteString(String(decoding: bytes[edit.key], as: UTF8.self))
            if let offset = edit.value {
                // A value that this version cannot read stays in the file.
                let value = UnsafeRawBufferPointer(rebasing: bytes[offset])
                if isValue(value) { found[key] = Array(value) }
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

extension Salvage {
    /// Returns whether the bytes are a single record with blocks that never reached the file.
    ///
    /// One call writes a record. A writer that is killed leaves the start of the record, up to a
    /// block boundary, and a power failure leaves some of its blocks. A complete but damaged record
    /// must not pass for a torn one. The answer is therefore yes only if the length and the
    /// checksum are zeros, or if all bytes from a block boundary to the end of the record are
    /// zeros. The answer is no if the checksum is correct, or would be correct with one bit
    /// changed: then the record was complete, and its zeros belong to a value. A missing block in
    /// the middle looks like a value of zeros, so there the answer is no as well.
    ///
    /// - Parameters:
    ///   - bytes: The file from the end of the last valid record on.
    ///   - offset: The offset of the bytes in the file.
    ///   - crc: The checksum of the last valid record.
    static func isTornRecord(_ bytes: UnsafeRawBufferPointer, at offset: Int, after crc: UInt32) -> Bool {
        let used = RecordFormat.countBeforeZeros(bytes)
        guard used > 0 else { return true }
        var salvage = Salvage(bytes: bytes, used: used) { _ in true }
        salvage.run(from: 0, after: crc)
        guard !salvage.hasRecords, salvage.work > 0 else { return false }
        let stated = word(in: bytes, at: 0)
        // The first block is missing. Whole records may still follow it.
        if stated == 0 { return word(in: bytes, at: 4) == 0 && !salvage.mayHoldRecord }
        // The smallest unit that a disk writes.
        let block = 512
        // A complete record may end with eight zeros, which are the bytes of a number.
        guard let count = RecordFormat.payloadCount(stated), (offset + used) % block == 0, used < count else {
            return false
        }
        return !isWithinOneBitOfRecord(bytes, used: used, after: crc)
    }

    /// Returns whether a record with the correct checksum starts here, or would with one bit
    /// changed.
    private static func isWithinOneBitOfRecord(
        _ bytes: UnsafeRawBufferPointer, used: Int, after crc: UInt32
    ) -> Bool {
        let (stated, stored) = (word(in: bytes, at: 0), word(in: bytes, at: 4))
        /// Returns the checksum of a record whose payload has the given length.
        func checksum(ofPayload stated: UInt32) -> UInt32? {
            guard let count = RecordFormat.payloadCount(stated), count > 0, 8 + count >= used,
                RecordFormat.length(ofPayload: count) <= bytes.count
            else { return nil }
            var record = RecordWriter(payload: UnsafeRawBufferPointer(rebasing: bytes[8..<(8 + count)]))
            return record.finish(after: crc)
        }
        // One bit of the length differs.
        if (0..<32).contains(where: { checksum(ofPayload: stated ^ 1 << $0) == stored }) { return true }
        guard let count = RecordFormat.payloadCount(stated), let right = checksum(ofPayload: stated) else {
            return false
        }
        let difference = right ^ stored
        // No bit differs, or one bit of the checksum.
        if difference.nonzeroBitCount <= 1 { return true }
        // One bit of the payload or padding changes the checksum by a value that depends only on
        // its distance from the end.
        var change = CRC32C.polynomial
        for _ in 0..<(8 * (RecordFormat.length(ofPayload: count) - 8)) {
            if change == difference { return true }
            change = change & 1 == 0 ? change >> 1 : (change >> 1) ^ CRC32C.polynomial
        }
        return false
    }

    /// Whether the bytes contain something with the form of a record, whatever its checksum.
    private var mayHoldRecord: Bool {
        stride(from: 0, to: used, by: 8).contains { offset in
            guard let count = payloadCount(at: offset), offset + 8 + count <= bytes.count else { return false }
            return RecordFormat.forEachEdit(in: bytes, (offset + 8)..<(offset + 8 + count)) { _ in true }
        }
    }
}
