/// The bytes of a settings file: a header, and records that are chained by checksums.
///
/// | at | bytes | content |
/// |---|---|---|
/// | 0 | 8 | magic |
/// | 8, 12 | 4, 4 | format version; length of the header |
/// | 16 | 8 | salt: random for each file, so that no record of another file fits the chain |
/// | 24 | 8 | zeros |
/// | 32 | 8 | epoch: how often the file was replaced |
/// | 40 | 4 | end of the committed records; its lowest bit says that another file gets the name |
/// | 44 | 4 | tag: random, so that a file that was copied over this one is noticed; never 0 |
/// | 48 | 8 | end of the records that are known to be on the disk |
/// | 60 | 4 | CRC-32C of bytes 0 to 39 and of 20 zeros: the start of the chain |
/// | record + 0 | 4 | length of the payload, never 0 |
/// | record + 4 | 4 | CRC-32C of length, payload and padding, seeded with the one before |
/// | record + 8 | n | the commit's operations, then zeros and a 1 up to a multiple of 8 |
///
/// The last byte of a record is not zero, so that a record whose end is missing is never whole.
/// Zeros may follow the last record, so that the next ones do not change the size of the file.
package enum RecordFormat {
    package static let magic: [UInt8] = [0xF4, 0x54, 0x44, 0x53, 0x0D, 0x0A, 0x1A, 0x0A]
    static let magicWord = magic.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    static let version: UInt32 = 2
    package static let headerLength = 64
    package static let (committedOffset, flushedOffset) = (40, 48)
    /// The size up to which a file is never compacted: by a flush, and by a commit, where each
    /// compaction waits for the disk and must be rare during many writes.
    static let (keptSize, busySize) = (64 << 10, 4 << 20)
    package static let sizeLimit = 64 << 20
    /// By how much a record that makes the values smaller may exceed the limit.
    package static let reserve = 64 << 10
    /// The size of a file is a multiple of this once something was appended, because a flush takes
    /// half as long again if the size has changed.
    static let step = 4 << 10
    package static let keyLimit = 4_096
    package static let valueLimit = 16 << 20

    static func header(epoch: UInt64, end: Int) -> [UInt8] {
        var header = magic
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.littleEndian) { header.append(contentsOf: $0) }
        }
        append(version)
        append(UInt32(headerLength))
        append(UInt64.random(in: 0 ... .max))
        append(0 as UInt64)
        append(epoch)
        header.append(contentsOf: repeatElement(0, count: 20))
        append(header.withUnsafeBytes { CRC32C.checksum(of: $0) })
        let words = (
            CommittedEnd(tag: CommittedEnd.randomTag(), end: end).rawValue.littleEndian, UInt64(end).littleEndian
        )
        withUnsafeBytes(of: words) {
            header.replaceSubrange(committedOffset..<(committedOffset + 16), with: $0)
        }
        return header
    }

    /// Returns the fields of a header. Throws if the header is invalid.
    package static func fields(ofHeader header: ArraySlice<UInt8>) throws(FileFailure) -> (epoch: UInt64, crc: UInt32) {
        guard header.count == headerLength, header.starts(with: magic) else {
            throw FileFailure("it is not a settings file, or its header is damaged; \(repairs)")
        }
        func load<Field: FixedWidthInteger>(_ offset: Int, _ type: Field.Type) -> Field {
            header.withUnsafeBytes { Field(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: type)) }
        }
        let stated = load(8, UInt32.self)
        guard stated == version else {
            throw FileFailure("it was written by \(stated < version ? "an older" : "a newer") version of this library")
        }
        let crc = load(60, UInt32.self)
        guard checksum(ofHeader: header) == crc else {
            throw FileFailure("its header is damaged; \(repairs)")
        }
        return (load(32, UInt64.self), crc)
    }

    private static let repairs = "“typed-defaults repair” copies the file and keeps what can be read"

    package static func checksum(ofHeader header: some Sequence<UInt8>) -> UInt32 {
        var header = Array(header.prefix(60))
        for index in header.indices where index >= committedOffset && index < flushedOffset + 8 { header[index] = 0 }
        return header.withUnsafeBytes { CRC32C.checksum(of: $0) }
    }

    package static func length(ofPayload count: Int) -> Int { 8 + (count + 8) & ~7 }

    /// Returns the payload length that a record states, or `nil` if no file is that long.
    ///
    /// Compares before it converts, because `Int` has 32 bits on some watches and a stored length
    /// may have all 32 bits set.
    package static func payloadCount(_ stored: UInt32) -> Int? {
        UInt64(stored) <= UInt64(sizeLimit) ? Int(exactly: stored) : nil
    }

    /// Returns the checksum of the length, the payload and the padding.
    fileprivate static func checksum(ofRecord bytes: UnsafeRawBufferPointer, after crc: UInt32) -> UInt32 {
        let length = CRC32C.checksum(of: UnsafeRawBufferPointer(rebasing: bytes[0..<4]), seed: crc)
        return CRC32C.checksum(of: UnsafeRawBufferPointer(rebasing: bytes[8...]), seed: length)
    }

    /// A commit in the bytes of a file.
    package struct Commit {
        package let payload: Range<Int>
        package let end: Int
        package let crc: UInt32
    }

    /// Returns the commit at an offset; `nil` if there is none, or if it is incomplete, damaged, or
    /// of an unknown form.
    package static func commit(in bytes: UnsafeRawBufferPointer, at offset: Int, after crc: UInt32) -> Commit? {
        guard bytes.count - offset >= 8 else { return nil }
        let stated = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        let stored = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self))
        guard stated != 0, let count = payloadCount(stated), length(ofPayload: count) <= bytes.count - offset else {
            return nil
        }
        let end = offset + length(ofPayload: count)
        let payload = (offset + 8)..<(offset + 8 + count)
        guard checksum(ofRecord: UnsafeRawBufferPointer(rebasing: bytes[offset..<end]), after: crc) == stored,
            forEachEdit(in: bytes, payload, { key, _, _ in isKey(UnsafeRawBufferPointer(rebasing: bytes[key])) })
        else { return nil }
        return Commit(payload: payload, end: end, crc: stored)
    }

    private static func isKey(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // Most keys are ASCII, and making a string only to check it takes longer than the rest.
        bytes.allSatisfy { $0 < 0x80 } || String(utf8: bytes) != nil
    }

    /// Calls `body` with the ranges of the key and the value of each operation, and its offset,
    /// until it returns false. A removal has no value.
    ///
    /// - Returns: False if `body` returned false, or if the payload has an unknown form.
    @discardableResult
    @inline(__always)
    package static func forEachEdit(
        in bytes: UnsafeRawBufferPointer, _ payload: Range<Int>,
        _ body: (_ key: Range<Int>, _ value: Range<Int>?, _ start: Int) -> Bool
    ) -> Bool {
        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[..<payload.upperBound]), at: payload.lowerBound)
        while !reader.isAtEnd {
            let start = reader.position
            let operation = reader.byte()
            // Enforce the limits of writers here too, because decoding a value takes up to 50 times
            // its length in memory.
            guard operation == 1 || operation == 2, let key = reader.counted(), key.count <= keyLimit else {
                return false
            }
            var value: Range<Int>?
            if operation == 1 {
                value = reader.counted()
                guard let value, value.count <= valueLimit else { return false }
            }
            guard body(key, value, start) else { return false }
        }
        return true
    }

    /// Returns the keys of the operations of a payload.
    static func keys(in bytes: UnsafeRawBufferPointer, _ payload: Range<Int>) -> [String] {
        var keys: [String] = []
        forEachEdit(in: bytes, payload) { key, _, _ in
            keys.append(String(decoding: bytes[key], as: UTF8.self))
            return true
        }
        return keys
    }

    /// Returns whether all bytes are zeros.
    package static func areZeros(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let first = bytes.first else { return true }
        // All are zeros if each is equal to the next one. One call compares them.
        return first == 0
            && areEqual(
                UnsafeRawBufferPointer(rebasing: bytes.dropLast()), UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
    }

    /// Returns a whole file with the given edits.
    package static func file(epoch: UInt64, _ edits: [UInt8]) -> [UInt8] {
        edits.withUnsafeBytes { edits in
            // Several settings share a record, so that the new file is not longer than the one it
            // replaces.
            var starts = [0]
            forEachEdit(in: edits, 0..<edits.count) { _, _, start in
                if start - starts[starts.count - 1] > keptSize { starts.append(start) }
                return true
            }
            let payloads = zip(starts, starts.dropFirst() + [edits.count]).map { $0..<$1 }.filter { !$0.isEmpty }
            // It gets its name only once all of it is on the disk.
            var file = header(epoch: epoch, end: payloads.reduce(headerLength) { $0 + length(ofPayload: $1.count) })
            var crc = file[60..<64].withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)) }
            for payload in payloads {
                var record = RecordWriter(payload: UnsafeRawBufferPointer(rebasing: edits[payload]))
                crc = record.finish(after: crc)
                record.withBytes { file += $0 }
            }
            return file
        }
    }

    /// Returns the approximate length of a record that sets one key.
    static func length(ofKey keyCount: Int, value valueCount: Int) -> Int {
        length(ofPayload: 1 + 2 + keyCount + 2 + valueCount)
    }
}

/// A record under construction, in one buffer.
package struct RecordWriter: ~Copyable {
    private var writer = ByteWriter(capacity: 256)

    // Reserve the length and the checksum.
    package init() { writer.append(word: 0) }

    /// Creates a record with the given payload.
    package init(payload: UnsafeRawBufferPointer) {
        self.init()
        writer.append(payload)
    }

    /// The range of the payload. Set by `finish(after:)`.
    private(set) var payload = 8..<8
    /// The length of the record once it is finished.
    var length: Int { payload.isEmpty ? RecordFormat.length(ofPayload: writer.count - 8) : writer.count }

    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try writer.withBytes(body)
    }

    /// Appends an edit that stores bytes unchanged.
    package mutating func append(_ key: String, raw value: ArraySlice<UInt8>) {
        writer.append(byte: 1)
        writer.append(key)
        value.withUnsafeBytes { writer.append(counted: $0) }
    }

    package mutating func append(removalOf key: String) {
        writer.append(byte: 2)
        writer.append(key)
    }

    /// Appends a key with a value that `body` writes.
    ///
    /// - Returns: The length of the value in bytes, or `nil` if `body` returns false.
    package mutating func append(_ key: String, _ body: (inout ByteWriter) -> Bool) -> Int? {
        writer.append(byte: 1)
        writer.append(key)
        let start = writer.count
        guard body(&writer) else { return nil }
        let count = writer.count - start
        // Insert the count afterwards. Computing it first would take a second pass over the value.
        writer.insert(count: count, at: start)
        return count
    }

    /// Fills in the length, the padding and the checksum, and returns the checksum.
    package mutating func finish(after crc: UInt32) -> UInt32 {
        payload = 8..<writer.count
        writer.append(zeros: RecordFormat.length(ofPayload: payload.count) - writer.count - 1)
        writer.append(byte: 1)
        writer.replace(at: 0, with: UInt32(payload.count))
        let crc = writer.withBytes { RecordFormat.checksum(ofRecord: $0, after: crc) }
        writer.replace(at: 4, with: crc)
        return crc
    }
}
