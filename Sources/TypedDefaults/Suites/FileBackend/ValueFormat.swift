#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The bytes of values in a settings file: a tag, then what the tag says. Numbers are little-endian, counts are LEB128.
///
/// | tag | value |
/// |---|---|
/// | 0, 1 | false, true |
/// | 2, 3 | an integer: 8 bytes, as `Int64`; above `Int64.max` as `UInt64` |
/// | 4, 5 | a double; a date as the double of its seconds since 2001-01-01 UTC |
/// | 6, 7 | a string, data: count, bytes |
/// | 8 | an array: count, values |
/// | 9 | a dictionary: count, and for each entry the key as count and bytes, then the value |
struct ByteWriter: ~Copyable {
    // An array of its own would ask at each byte whether it is shared, and take twice as long.
    private var room: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(capacity: Int) { room = .allocate(byteCount: capacity, alignment: 8) }

    deinit { room.deallocate() }

    /// Hands out what was written.
    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: room[..<count]))
    }

    /// Makes room behind what was written.
    @inline(__always)
    private mutating func append(_ length: Int) -> UnsafeMutableRawBufferPointer {
        if count + length > room.count { grow(by: length) }
        count += length
        return UnsafeMutableRawBufferPointer(rebasing: room[(count - length)..<count])
    }

    @inline(never)
    private mutating func grow(by length: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(2 * room.count, count + length), alignment: 8)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: room[..<count]))
        room.deallocate()
        room = larger
    }

    mutating func append(zeros length: Int) { append(length).initializeMemory(as: UInt8.self, repeating: 0) }

    mutating func append(byte: UInt8) { append(1)[0] = byte }

    mutating func append(_ other: UnsafeRawBufferPointer) { append(other.count).copyMemory(from: other) }

    mutating func append(word: UInt64) { append(8).storeBytes(of: word.littleEndian, as: UInt64.self) }

    /// Writes a number over what stands at that place.
    mutating func replace(at place: Int, with number: UInt32) {
        UnsafeMutableRawBufferPointer(rebasing: room[place..<(place + 4)])
            .storeBytes(of: number.littleEndian, as: UInt32.self)
    }

    /// The count of the bytes and the bytes.
    mutating func append(counted other: UnsafeRawBufferPointer) {
        append(count: other.count)
        append(other)
    }

    /// How many bytes a count takes together with that many bytes.
    static func length(counted count: Int) -> Int {
        count + max(1, (Int.bitWidth - count.leadingZeroBitCount + 6) / 7)
    }

    mutating func append(count: Int) {
        if count < 0x80 { append(byte: UInt8(count)) } else { insert(count: count, at: self.count) }
    }

    private mutating func insert(count: Int, at place: Int) {
        var (rest, word, length) = (UInt64(count), UInt64(0), 0)
        repeat {
            word |= (rest & 0x7F | (rest > 0x7F ? 0x80 : 0)) << UInt64(8 * length)
            rest >>= 7
            length += 1
        } while rest > 0
        let behind = place..<self.count
        _ = append(length)
        UnsafeMutableRawBufferPointer(rebasing: room[(place + length)...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: room[behind]))
        withUnsafeBytes(of: word.littleEndian) { word in
            UnsafeMutableRawBufferPointer(rebasing: room[place...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: word[..<length]))
        }
    }

    mutating func append(_ string: String) {
        var string = string
        string.withUTF8 { append(counted: UnsafeRawBufferPointer($0)) }
    }

    /// The count of the value's bytes and these; how many they are. Nil if it is nested too deeply, with part of it written.
    mutating func append(counted value: PropertyList) -> Int? {
        let start = count
        guard append(value) else { return nil }
        let count = count - start
        // The count goes in front of what it counts. To find it out beforehand would be to walk through the value twice.
        insert(count: count, at: start)
        return count
    }

    /// - Returns: False if it is nested too deeply, with part of it written.
    @discardableResult
    mutating func append(_ value: PropertyList, depth: Int = 1) -> Bool {
        switch value {
        case .bool(let value): append(byte: value ? 1 : 0)
        case .integer(let value):
            if let signed = value.exactly(as: Int64.self) {
                append(byte: 2)
                append(word: UInt64(bitPattern: signed))
            } else {
                append(byte: 3)
                append(word: value.exactly(as: UInt64.self) ?? 0)
            }
        case .double(let value):
            append(byte: 4)
            append(word: value.bitPattern)
        case .date(let value):
            append(byte: 5)
            append(word: value.timeIntervalSinceReferenceDate.bitPattern)
        case .string(let value):
            append(byte: 6)
            append(value)
        case .data(let value):
            append(byte: 7)
            value.withUnsafeBytes { append(counted: $0) }
        case .array(let elements):
            guard depth <= PropertyList.depthLimit else { return false }
            append(byte: 8)
            append(count: elements.count)
            for element in elements {
                guard append(element, depth: depth + 1) else { return false }
            }
        case .dictionary(let entries):
            guard depth <= PropertyList.depthLimit else { return false }
            append(byte: 9)
            append(count: entries.count)
            for (key, value) in entries {
                append(key)
                guard append(value, depth: depth + 1) else { return false }
            }
        }
        return true
    }
}

/// Reads what ``ByteWriter`` wrote, and nil from anything else.
struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    private(set) var position: Int

    init(_ bytes: UnsafeRawBufferPointer, at position: Int = 0) {
        self.bytes = bytes
        self.position = position
    }

    var isAtEnd: Bool { position == bytes.count }

    mutating func byte() -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    /// A count of things that take at least a byte each, so that a wrong one cannot ask for more room than there are bytes.
    mutating func count() -> Int? {
        var count: UInt64 = 0
        for shift in stride(from: 0, to: 63, by: 7) {
            guard let byte = byte() else { return nil }
            count |= UInt64(byte & 0x7F) << UInt64(shift)
            if byte & 0x80 == 0 { return count <= UInt64(bytes.count - position) ? Int(count) : nil }
        }
        return nil
    }

    mutating func word() -> UInt64? {
        guard bytes.count - position >= 8 else { return nil }
        defer { position += 8 }
        return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }

    /// A count and so many bytes: where these stand.
    mutating func counted() -> Range<Int>? {
        guard let count = count() else { return nil }
        defer { position += count }
        return position..<(position + count)
    }

    /// The same of bytes that are UTF-8: a string.
    mutating func string() -> String? {
        guard let range = counted() else { return nil }
        return String(utf8: UnsafeRawBufferPointer(rebasing: bytes[range]))
    }

    /// The value that the bytes are, and nothing behind it.
    static func wholeValue(_ bytes: UnsafeRawBufferPointer) -> PropertyList? {
        var reader = ByteReader(bytes)
        let value = reader.value()
        return reader.isAtEnd ? value : nil
    }

    mutating func value(depth: Int = 1) -> PropertyList? {
        guard let tag = byte() else { return nil }
        switch tag {
        case 0, 1: return .bool(tag == 1)
        case 2: return word().flatMap { PropertyList.Integer(exactly: Int64(bitPattern: $0)) }.map(PropertyList.integer)
        case 3: return word().flatMap { PropertyList.Integer(exactly: $0) }.map(PropertyList.integer)
        case 4: return word().map { .double(Double(bitPattern: $0)) }
        case 5: return word().map { .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0))) }
        case 6: return string().map(PropertyList.string)
        case 7:
            return counted().map { .data(Data(bytes[$0])) }
        case 8:
            guard depth <= PropertyList.depthLimit, let count = count() else { return nil }
            var elements: [PropertyList] = []
            // A forged count must not ask for more room than its elements take by and by.
            elements.reserveCapacity(min(count, 1_024))
            for _ in 0..<count {
                guard let element = value(depth: depth + 1) else { return nil }
                elements.append(element)
            }
            return .array(elements)
        case 9:
            guard depth <= PropertyList.depthLimit, let count = count() else { return nil }
            var entries: [String: PropertyList] = Dictionary(minimumCapacity: min(count, 1_024))
            for _ in 0..<count {
                guard let key = string(), let value = value(depth: depth + 1) else { return nil }
                entries[key] = value
            }
            return .dictionary(entries)
        default: return nil
        }
    }
}

extension String {
    /// Creates the string of those bytes, or returns `nil` if they are not valid UTF-8.
    ///
    /// `String(validating:as:)` needs iOS 18 and takes ten times as long.
    init?(utf8 bytes: UnsafeRawBufferPointer) {
        self.init(decoding: bytes, as: UTF8.self)
        // Decoding replaces invalid bytes.
        guard withUTF8({ areEqual(UnsafeRawBufferPointer($0), bytes) }) else { return nil }
    }
}
