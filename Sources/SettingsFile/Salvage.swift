/// Looks for whole records behind damage.
///
/// A record is chained to the one in front of it by that one's checksum. What is damaged in a record is mostly not its checksum, so the
/// next one can still be told: it is believed if its own checksum continues from what is stored in front of it.
struct Salvage {
    let bytes: UnsafeRawBufferPointer
    /// Where the zeros begin that the bytes end with.
    let used: Int
    /// What the records that were found say last of each key.
    private(set) var found: [ByteString: [UInt8]?] = [:]
    /// How many bytes may still be summed: there are bytes for which all of this would take days.
    private(set) var work = 8 * RecordFormat.sizeLimit
    /// Whether any record was found.
    private var hasRecords = false

    private let isValue: (UnsafeRawBufferPointer) -> Bool

    /// - Parameter isValue: Whether the bytes are a value that this version can read.
    init(bytes: UnsafeRawBufferPointer, used: Int, isValue: @escaping (UnsafeRawBufferPointer) -> Bool) {
        self.bytes = bytes
        self.used = used
        self.isValue = isValue
    }

    private typealias Record = (payload: Range<Int>, end: Int, crc: UInt32)

    /// Collects what is stored behind a place.
    ///
    /// - Parameters:
    ///   - start: Where a record should be; nil if that is not known, for want of a good header.
    ///   - crc: What its checksum should continue from.
    mutating func run(from start: Int?, after crc: UInt32) {
        var crc = crc
        var place = start ?? (record(at: RecordFormat.headerLength, after: crc) == nil ? 0 : RecordFormat.headerLength)
        while place < used, let record = record(at: place, after: crc) ?? nextRecord(from: place, after: crc) {
            note(record.payload)
            (place, crc) = (record.end, record.crc)
        }
    }

    /// The first record that can be believed, from the place of one that cannot.
    private mutating func nextRecord(from bad: Int, after crc: UInt32) -> Record? {
        let stored = Self.word(in: bytes, at: bad + 4)
        if let end = end(at: bad) {
            // Most likely it is the payload that is damaged.
            if let next = record(at: end, after: stored) { return next }
            // Or the checksum; then the next one continues from what it should be, and so proves this one as well.
            let payload = (bad + 8)..<(bad + 8 + (payloadCount(at: bad) ?? 0))
            work -= payload.count
            var mended = RecordWriter(payload: UnsafeRawBufferPointer(rebasing: bytes[payload]))
            if let next = record(at: end, after: mended.finish(after: crc)) {
                note(payload)
                return next
            }
        }
        // Or the length; or more than one record.
        var best: Record?
        var place = bad + 8
        while place < best?.payload.lowerBound ?? used, work > 0 {
            if let next = record(at: place, after: stored) { return next }
            if let end = end(at: place), end < best?.payload.lowerBound ?? used,
                let next = record(at: end, after: Self.word(in: bytes, at: place + 4))
            {
                best = next
            }
            place += 8
        }
        return best
    }

    /// Where a record ends that may begin there; nil if none does that others can follow.
    private func end(at place: Int) -> Int? {
        guard let count = payloadCount(at: place) else { return nil }
        let end = place + RecordFormat.length(ofPayload: count)
        return end < used ? end : nil
    }

    /// The length of the payload that a record at that place would have, or `nil` if there can be none.
    private func payloadCount(at place: Int) -> Int? {
        let stated = Self.word(in: bytes, at: place)
        return stated == 0 ? nil : RecordFormat.payloadCount(stated)
    }

    /// The record that begins there and continues from that checksum.
    private mutating func record(at place: Int, after crc: UInt32) -> Record? {
        guard work > 0, let count = payloadCount(at: place) else { return nil }
        let end = place + RecordFormat.length(ofPayload: count)
        guard end <= bytes.count else { return nil }
        // What does not begin as a commit does need not be summed.
        let beginning = bytes[..<min(place + 8 + count, place + 16 + RecordFormat.keyLimit)]
        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: beginning), at: place + 8)
        guard let operation = reader.byte(), operation == 1 || operation == 2 else { return nil }
        work -= RecordFormat.keyLimit
        guard reader.string() != nil else { return nil }
        work -= count
        guard case .edits(let payload, _, let crc) = RecordFormat.find(in: bytes, at: place, after: crc) else {
            return nil
        }
        return (payload, end, crc)
    }

    private mutating func note(_ payload: Range<Int>) {
        hasRecords = true
        RecordFormat.forEachEdit(in: bytes, payload) { edit in
            let key = ByteString(String(decoding: bytes[edit.key], as: UTF8.self))
            if let place = edit.value {
                // What this version does not know stays where it is.
                let value = UnsafeRawBufferPointer(rebasing: bytes[place])
                if isValue(value) { found[key] = Array(value) }
            } else {
                found[key] = .some(nil)
            }
            return true
        }
    }

    static func word(in bytes: UnsafeRawBufferPointer, at place: Int) -> UInt32 {
        guard place >= 0, bytes.count - place >= 4 else { return 0 }
        return UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
    }
}

extension Salvage {
    /// Returns whether the bytes are nothing but one record of which blocks never reached the file.
    ///
    /// One call writes a record. A writer that is killed leaves its beginning, up to the boundary of a
    /// block, and a loss of power leaves some of its blocks. A finished record that is damaged must not
    /// pass for such a one. So the answer is yes only if the length and the checksum are zeros, or if
    /// all bytes from a block boundary to the record's end are. It is no if the checksum is right, or
    /// would be if one bit were different: then the record was finished, and its zeros belong to a
    /// value. A missing block between others looks like a value of zeros, so the answer is no as well.
    ///
    /// - Parameters:
    ///   - bytes: The file from the end of the last good record on.
    ///   - place: The offset of the bytes in the file.
    ///   - crc: The checksum of the last good record.
    static func isTornRecord(_ bytes: UnsafeRawBufferPointer, at place: Int, after crc: UInt32) -> Bool {
        let used = RecordFormat.countBeforeZeros(bytes)
        guard used > 0 else { return true }
        var salvage = Salvage(bytes: bytes, used: used) { _ in true }
        salvage.run(from: 0, after: crc)
        guard !salvage.hasRecords, salvage.work > 0 else { return false }
        let stated = word(in: bytes, at: 0)
        // The block with the beginning is missing. Whole records may follow all the same.
        if stated == 0 { return word(in: bytes, at: 4) == 0 && !salvage.mayHoldRecord }
        // The smallest unit that a disk writes.
        let block = 512
        // The value at the end of a finished record may be a number, whose eight bytes may be zeros.
        guard let count = RecordFormat.payloadCount(stated), (place + used) % block == 0, used < count else {
            return false
        }
        return !isWithinOneBitOfRecord(bytes, used: used, after: crc)
    }

    /// Returns whether a record with the right checksum begins there, or would if at most one bit were different.
    private static func isWithinOneBitOfRecord(
        _ bytes: UnsafeRawBufferPointer, used: Int, after crc: UInt32
    ) -> Bool {
        let (stated, stored) = (word(in: bytes, at: 0), word(in: bytes, at: 4))
        /// The checksum that a record with a payload of that length would have.
        func checksum(ofPayload stated: UInt32) -> UInt32? {
            guard let count = RecordFormat.payloadCount(stated), count > 0, 8 + count >= used,
                RecordFormat.length(ofPayload: count) <= bytes.count
            else { return nil }
            var record = RecordWriter(payload: UnsafeRawBufferPointer(rebasing: bytes[8..<(8 + count)]))
            return record.finish(after: crc)
        }
        // A bit of the length.
        if (0..<32).contains(where: { checksum(ofPayload: stated ^ 1 << $0) == stored }) { return true }
        guard let count = RecordFormat.payloadCount(stated), let right = checksum(ofPayload: stated) else {
            return false
        }
        let difference = right ^ stored
        // No bit, or one of the checksum.
        if difference.nonzeroBitCount <= 1 { return true }
        // A bit of the payload or the padding changes the checksum in a way that depends on nothing but its distance from the end.
        var change = CRC32C.polynomial
        for _ in 0..<(8 * (RecordFormat.length(ofPayload: count) - 8)) {
            if change == difference { return true }
            change = change & 1 == 0 ? change >> 1 : (change >> 1) ^ CRC32C.polynomial
        }
        return false
    }

    /// Whether the bytes of a whole record stand anywhere, whatever its checksum.
    private var mayHoldRecord: Bool {
        stride(from: 0, to: used, by: 8).contains { place in
            guard let count = payloadCount(at: place), place + 8 + count <= bytes.count else { return false }
            return RecordFormat.forEachEdit(in: bytes, (place + 8)..<(place + 8 + count)) { _ in true }
        }
    }
}
