/// The bytes of a settings file: a header, records that are chained by their checksums, and written zeros.
///
/// | at | bytes | what |
/// |---|---|---|
/// | 0 | 8 | magic |
/// | 8, 12 | 4, 4 | format version; length of the header |
/// | 16 | 8 | salt: random, new in each file, so that no record of another file fits the chain |
/// | 32 | 8 | epoch: how often the file was replaced |
/// | 60 | 4 | CRC-32C of the 60 bytes before: the start of the chain |
/// | record + 0 | 4 | length of the payload, never 0 |
/// | record + 4 | 4 | CRC-32C, seeded with that of the record before, of length, payload and padding |
/// | record + 8 | n | the commit's operations, then zeros up to a multiple of 8 |
/// | end | ≥ 8 | zeros |
enum RecordFormat {
    static let magic: [UInt8] = [0xF4, 0x54, 0x44, 0x53, 0x0D, 0x0A, 0x1A, 0x0A]
    static let version: UInt32 = 1
    static let headerLength = 64
    static let step = 64 << 10
    static let sizeLimit = 64 << 20
    static let keyLimit = 4_096
    static let valueLimit = 16 << 20

    /// What a record says.
    enum Contents {
        /// Another file is to take the place of this one.
        case seal
        /// Keys, and where in the buffer their values stand; nil removes the key.
        case edits([(key: String, value: Range<Int>?)])
    }

    static func header(salt: UInt64, epoch: UInt64) -> [UInt8] {
        var header = magic
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.littleEndian) { header.append(contentsOf: $0) }
        }
        append(version)
        append(UInt32(headerLength))
        append(salt)
        append(UInt64(0))
        append(epoch)
        header.append(contentsOf: repeatElement(0, count: 20))
        append(header.withUnsafeBytes { CRC32C.checksum(of: $0) })
        return header
    }

    /// A record of those operations, and the checksum that the next one continues from.
    static func record(_ payload: [UInt8], after crc: UInt32) -> (bytes: [UInt8], crc: UInt32) {
        var bytes = [UInt8](repeating: 0, count: 8)
        bytes.reserveCapacity(length(ofPayload: payload.count))
        bytes.append(contentsOf: payload)
        bytes.append(contentsOf: repeatElement(0, count: length(ofPayload: payload.count) - bytes.count))
        let crc = bytes.withUnsafeMutableBytes { buffer in
            buffer.storeBytes(of: UInt32(payload.count).littleEndian, as: UInt32.self)
            let crc = checksum(ofRecord: UnsafeRawBufferPointer(buffer), after: crc)
            buffer.storeBytes(of: crc.littleEndian, toByteOffset: 4, as: UInt32.self)
            return crc
        }
        return (bytes, crc)
    }

    static func length(ofPayload count: Int) -> Int { 8 + (count + 7) & ~7 }

    /// Of the length and what follows the checksum itself.
    private static func checksum(ofRecord bytes: UnsafeRawBufferPointer, after crc: UInt32) -> UInt32 {
        let length = CRC32C.checksum(of: UnsafeRawBufferPointer(rebasing: bytes[0..<4]), seed: crc)
        return CRC32C.checksum(of: UnsafeRawBufferPointer(rebasing: bytes[8...]), seed: length)
    }

    /// What stands at one place of a file.
    enum Found {
        /// Zeros: nothing was written here yet.
        case nothing
        /// A whole record: where its payload is, its length and its checksum.
        case record(payload: Range<Int>, length: Int, crc: UInt32)
        /// The bytes end before the record does, which takes so many.
        case cut(length: Int)
        /// Not a record: half written, or damaged.
        case bad
    }

    static func find(in bytes: UnsafeRawBufferPointer, at offset: Int, after crc: UInt32) -> Found {
        guard bytes.count - offset >= 8 else { return .cut(length: 8) }
        let count = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        let stored = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self))
        guard count != 0 else { return stored == 0 ? .nothing : .bad }
        let length = length(ofPayload: count)
        guard length <= sizeLimit else { return .bad }
        guard length <= bytes.count - offset else { return .cut(length: length) }
        let record = UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)])
        guard checksum(ofRecord: record, after: crc) == stored else { return .bad }
        return .record(payload: (offset + 8)..<(offset + 8 + count), length: length, crc: stored)
    }

    /// What the payload of a record says; nil if it is of no known form.
    static func contents(of bytes: UnsafeRawBufferPointer, payload: Range<Int>) -> Contents? {
        if payload.count == seal.count, bytes[payload.lowerBound] == seal[0] { return .seal }
        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[..<payload.upperBound]), at: payload.lowerBound)
        var edits: [(key: String, value: Range<Int>?)] = []
        while !reader.isAtEnd {
            let operation = reader.byte()
            guard operation == 1 || operation == 2, let key = reader.string() else { return nil }
            if operation == 1 {
                guard let count = reader.count(), reader.bytes(count) != nil else { return nil }
                edits.append((key, (reader.position - count)..<reader.position))
            } else {
                edits.append((key, nil))
            }
        }
        return .edits(edits)
    }

    /// The payload of a commit, and where in it each value stands.
    static func payload(_ edits: [FileEdit]) -> (bytes: [UInt8], values: [Range<Int>?]) {
        var writer = ByteWriter()
        var values: [Range<Int>?] = []
        for edit in edits {
            guard let value = edit.value else {
                writer.append(byte: 2)
                writer.append(edit.key)
                values.append(nil)
                continue
            }
            writer.append(byte: 1)
            writer.append(edit.key)
            writer.append(count: value.count)
            writer.append(contentsOf: value)
            values.append((writer.bytes.count - value.count)..<writer.bytes.count)
        }
        return (writer.bytes, values)
    }

    static let seal: [UInt8] = [3]

    /// A whole file that holds those settings and nothing else, with the zeros behind its last record.
    static func file(epoch: UInt64, _ settings: [FileEdit]) -> [UInt8] {
        var bytes = header(salt: .random(in: 0 ... .max), epoch: epoch)
        var crc = bytes[60..<64].withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)) }
        // Several settings share a record, so that a file is not longer than the one that it replaces.
        var rest = settings[...]
        while !rest.isEmpty {
            var count = 0
            let part = rest.prefix { setting in
                count += length(ofSetting: setting.key, valueCount: setting.value?.count ?? 0)
                return count <= step
            }
            let edits = part.isEmpty ? rest.prefix(1) : part
            rest = rest[edits.endIndex...]
            let record = record(payload(Array(edits)).bytes, after: crc)
            bytes += record.bytes
            crc = record.crc
        }
        return bytes + [UInt8](repeating: 0, count: size(for: bytes.count + 8) - bytes.count)
    }

    /// How many bytes there are in front of the zeros that the bytes end with.
    static func countBeforeZeros(_ bytes: UnsafeRawBufferPointer) -> Int {
        var count = bytes.count
        while count >= 8, bytes.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self) == 0 { count -= 8 }
        while count > 0, bytes[count - 1] == 0 { count -= 1 }
        return count
    }

    /// How far a file reaches that holds so many bytes.
    static func size(for length: Int) -> Int { (length + step - 1) / step * step }

    /// About how long the record of a commit of just that setting is.
    static func length(ofSetting key: String, valueCount: Int) -> Int {
        length(ofPayload: 1 + 2 + key.utf8.count + 2 + valueCount)
    }

    /// What a header says.
    static func fields(ofHeader header: [UInt8]) throws(FileFailure) -> (epoch: UInt64, crc: UInt32) {
        guard header.count == headerLength, header.starts(with: magic) else {
            throw FileFailure("it is no settings file")
        }
        func load<Field: FixedWidthInteger>(_ offset: Int, _ type: Field.Type) -> Field {
            header.withUnsafeBytes { Field(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: type)) }
        }
        guard load(8, UInt32.self) <= version else { throw FileFailure("it was written by a newer version") }
        let crc = load(60, UInt32.self)
        guard header[..<60].withUnsafeBytes({ CRC32C.checksum(of: $0) }) == crc else {
            throw FileFailure("its header is damaged")
        }
        return (load(32, UInt64.self), crc)
    }
}
