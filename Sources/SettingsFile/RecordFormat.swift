/// The bytes of a settings file: a header, records that are chained by checksums, and zeros.
///
/// | at | bytes | content |
/// |---|---|---|
/// | 0 | 8 | magic |
/// | 8, 12 | 4, 4 | format version; length of the header |
/// | 16 | 8 | salt: random for each file, so that no record of another file fits the chain |
/// | 24 | 8 | base: the end of the records flushed before the file got its name, 0 if unknown |
/// | 32 | 8 | epoch: how often the file was replaced |
/// | 60 | 4 | CRC-32C of the 60 bytes before: the start of the chain |
/// | record + 0 | 4 | length of the payload, never 0 |
/// | record + 4 | 4 | CRC-32C of length, payload and padding, seeded with the one before |
/// | record + 8 | n | the commit's operations, then zeros up to a multiple of 8 |
/// | end | ≥ 8 | zeros |
enum RecordFormat {
    static let magic: [UInt8] = [0xF4, 0x54, 0x44, 0x53, 0x0D, 0x0A, 0x1A, 0x0A]
    static let version: UInt32 = 1
    static let headerLength = 64
    static let step = 64 << 10
    /// The size up to which a flush leaves the file as it is.
    static let keptSize = step
    /// The size up to which a commit leaves the file as it is. It is larger than `keptSize`,
    /// because each compaction waits for the disk and must be rare during many writes.
    static let busySize = 64 * step
    static let sizeLimit = 64 << 20
    static let keyLimit = 4_096
    static let valueLimit = 16 << 20

    static func header(salt: UInt64, epoch: UInt64, base: Int = 0) -> [UInt8] {
        var header = magic
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.littleEndian) { header.append(contentsOf: $0) }
        }
        append(version)
        append(UInt32(headerLength))
        append(salt)
        append(UInt64(base))
        append(epoch)
        header.append(contentsOf: repeatElement(0, count: 20))
        append(header.withUnsafeBytes { CRC32C.checksum(of: $0) })
        return header
    }

    static func length(ofPayload count: Int) -> Int { 8 + (count + 7) & ~7 }

    /// Returns the payload length that a record states, or `nil` if no file is that long.
    ///
    /// Compares before it converts, because `Int` has 32 bits on some watches and a stored length
    /// may have all 32 bits set.
    static func payloadCount(_ stored: UInt32) -> Int? {
        UInt64(stored) <= UInt64(sizeLimit) ? Int(stored) : nil
    }

    /// Returns the checksum of the length, the payload and the padding.
    fileprivate static func checksum(ofRecord bytes: UnsafeRawBufferPointer, after crc: UInt32) -> UInt32 {
        let length = CRC32C.checksum(of: UnsafeRawBufferPointer(rebasing: bytes[0..<4]), seed: crc)
        return CRC32C.checksum(of: UnsafeRawBufferPointer(rebasing: bytes[8...]), seed: length)
    }

    /// The content at one offset of a file.
    enum Found {
        /// Zeros: nothing has been written here yet.
        case nothing
        /// A commit: the range of its payload, the length of its record, and its checksum.
        case edits(Range<Int>, length: Int, crc: UInt32)
        /// A seal: another file replaces this one.
        case seal
        /// A record that the bytes end in, with its whole length.
        case cut(length: Int)
        /// Not a record: incomplete, damaged, or of an unknown form.
        case bad
    }

    static func find(in bytes: UnsafeRawBufferPointer, at offset: Int, after crc: UInt32) -> Found {
        let found = frame(in: bytes, at: offset, after: crc)
        if case .edits(let payload, _, _) = found, !areValid(in: bytes, payload) { return .bad }
        return found
    }

    /// Returns whether a payload consists of operations whose keys are text.
    static func areValid(in bytes: UnsafeRawBufferPointer, _ payload: Range<Int>) -> Bool {
        forEachEdit(in: bytes, payload) { edit in
            let key = edit.key(in: bytes)
            return KeyHasher.shared.hash(key).isASCII || String(utf8: key) != nil
        }
    }

    /// Does the same as ``find(in:at:after:)``, but does not check the operations of a commit.
    @inline(__always)
    static func frame(in bytes: UnsafeRawBufferPointer, at offset: Int, after crc: UInt32) -> Found {
        guard bytes.count - offset >= 8 else { return .cut(length: 8) }
        let stated = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        let stored = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self))
        guard stated != 0 else { return stored == 0 ? .nothing : .bad }
        guard let count = payloadCount(stated) else { return .bad }
        let length = length(ofPayload: count)
        guard length <= sizeLimit else { return .bad }
        guard length <= bytes.count - offset else { return .cut(length: length) }
        let record = UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)])
        guard checksum(ofRecord: record, after: crc) == stored else { return .bad }
        if count == 1, record[8] == seal { return .seal }
        return .edits((offset + 8)..<(offset + 8 + count), length: length, crc: stored)
    }

    /// Returns the checksum of the last commit, or `nil` if the bytes are anything but whole
    /// commits.
    static func checksum(ofCommits bytes: UnsafeRawBufferPointer, after crc: UInt32) -> UInt32? {
        var (offset, crc) = (0, crc)
        while offset < bytes.count {
            guard case .edits(_, let length, let next) = find(in: bytes, at: offset, after: crc) else { return nil }
            (offset, crc) = (offset + length, next)
        }
        return crc
    }

    /// Calls `body` with each operation of a payload until it returns false.
    ///
    /// - Returns: False if `body` returned false, or if the payload has an unknown form.
    @discardableResult @inline(__always)
    static func forEachEdit(
        in bytes: UnsafeRawBufferPointer, _ payload: Range<Int>, _ body: (RecordEdit) -> Bool
    ) -> Bool {
        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[..<payload.upperBound]), at: payload.lowerBound)
        while !reader.isAtEnd {
            guard let edit = nextEdit(&reader), body(edit) else { return false }
        }
        return true
    }

    /// Reads an operation. Returns `nil` if it has an unknown form.
    @inline(__always)
    static func nextEdit(_ reader: inout ByteReader) -> RecordEdit? {
        let operation = reader.byte()
        // Enforce the limits of writers here too, because decoding a value takes up to 50 times its
        // length in memory.
        guard operation == 1 || operation == 2, let key = reader.counted(), key.count <= keyLimit else { return nil }
        guard operation == 1 else { return RecordEdit(key: key, value: nil) }
        guard let value = reader.counted(), value.count <= valueLimit else { return nil }
        return RecordEdit(key: key, value: value)
    }

    static let seal: UInt8 = 3

    /// Returns a whole file that holds the current settings of another file, with zeros after its
    /// last record.
    static func file(epoch: UInt64, settings index: borrowing FileIndex, of bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var file = header(salt: .random(in: 0 ... .max), epoch: epoch, base: length(ofFileHolding: index))
        var crc = file[60..<64].withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)) }
        var record = RecordWriter()
        func finish() {
            guard !record.isEmpty else { return }
            crc = record.finish(after: crc)
            record.withBytes { file += $0 }
            record = RecordWriter()
        }
        index.visit { key, value in
            record.append(key, UnsafeRawBufferPointer(rebasing: bytes[value]))
            // Several settings share a record, so that the new file is not longer than the one it
            // replaces.
            if record.length > step { finish() }
        }
        finish()
        return file + [UInt8](repeating: 0, count: size(for: file.count + 8) - file.count)
    }

    /// Returns the length of ``file(epoch:settings:of:)`` without the zeros after the last record.
    static func length(ofFileHolding index: borrowing FileIndex) -> Int {
        var (total, payload) = (headerLength, 0)
        func finish() {
            guard payload > 0 else { return }
            total += length(ofPayload: payload)
            payload = 0
        }
        index.visit { key, value in
            payload += 1 + ByteWriter.length(counted: key.count) + ByteWriter.length(counted: value.count)
            if length(ofPayload: payload) > step { finish() }
        }
        finish()
        return total
    }

    /// Returns the number of bytes before the zeros at the end.
    static func countBeforeZeros(_ bytes: UnsafeRawBufferPointer) -> Int {
        var count = bytes.count
        while count >= 8, bytes.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self) == 0 { count -= 8 }
        while count > 0, bytes[count - 1] == 0 { count -= 1 }
        return count
    }

    /// Returns the size of a file that holds `length` bytes. It doubles from one page to one step,
    /// and then grows by steps.
    static func size(for length: Int) -> Int {
        guard length < step else { return (length + step - 1) / step * step }
        var size = File.pageSize
        while size < length { size *= 2 }
        return size
    }

    /// Returns the size to which a file is extended for a record that ends at an offset. Adding a
    /// step after each large record would take as long as writing the record.
    static func size(forRecordOf length: Int, endingAt end: Int) -> Int {
        length > step ? (end + 8 + File.pageSize - 1) / File.pageSize * File.pageSize : size(for: end + 8)
    }

    /// Returns the approximate length of a record that sets one key.
    static func length(ofKey keyCount: Int, value valueCount: Int) -> Int {
        length(ofPayload: 1 + 2 + keyCount + 2 + valueCount)
    }

    /// Returns the fields of a header. Throws if the header is invalid.
    static func fields(ofHeader header: [UInt8]) throws(FileFailure) -> (base: UInt64, epoch: UInt64, crc: UInt32) {
        guard header.count == headerLength, header.starts(with: magic) else {
            throw FileFailure("it is not a settings file")
        }
        func load<Field: FixedWidthInteger>(_ offset: Int, _ type: Field.Type) -> Field {
            header.withUnsafeBytes { Field(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: type)) }
        }
        guard load(8, UInt32.self) <= version else {
            throw FileFailure("it was written by a newer version of this library")
        }
        let crc = load(60, UInt32.self)
        guard header[..<60].withUnsafeBytes({ CRC32C.checksum(of: $0) }) == crc else {
            throw FileFailure("its header is damaged")
        }
        return (load(24, UInt64.self), load(32, UInt64.self), crc)
    }
}

/// One operation of a commit: the ranges of its key and its value in the bytes. Without a value, it
/// removes the key.
struct RecordEdit {
    let key: Range<Int>
    let value: Range<Int>?

    func key(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: bytes.baseAddress! + key.lowerBound, count: key.count)
    }
}

/// A record under construction, in one buffer.
package struct RecordWriter: ~Copyable {
    private var writer = ByteWriter(capacity: 256)

    // Reserve the length and the checksum.
    package init() { writer.append(word: 0) }

    /// Creates a record with the given payload.
    init(payload: UnsafeRawBufferPointer) {
        self.init()
        writer.append(payload)
    }

    var isEmpty: Bool { writer.count == 8 }
    /// The length of the payload without padding. Set by `finish(after:)`.
    private(set) var payloadCount = 0
    /// The length of the finished record.
    var length: Int { RecordFormat.length(ofPayload: writer.count - 8) }

    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try writer.withBytes(body)
    }

    mutating func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        writer.append(byte: 1)
        writer.append(counted: key)
        writer.append(counted: value)
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
    mutating func finish(after crc: UInt32) -> UInt32 {
        payloadCount = writer.count - 8
        writer.append(zeros: length - writer.count)
        writer.replace(at: 0, with: UInt32(payloadCount))
        let crc = writer.withBytes { RecordFormat.checksum(ofRecord: $0, after: crc) }
        writer.replace(at: 4, with: crc)
        return crc
    }
}
