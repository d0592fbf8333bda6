internal import SettingsFile

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

// The bytes of a value in a settings file: a tag, then the content. Numbers are little-endian,
// counts are LEB128.
//
// | tag | value |
// |---|---|
// | 0, 1 | false, true |
// | 2, 3 | an integer: 8 bytes, as `Int64`; above `Int64.max` as `UInt64` |
// | 4, 5 | a double; a date as the double of its seconds since 2001-01-01 UTC |
// | 6, 7 | a string, data: count, bytes |
// | 8 | an array: count, values |
// | 9 | a dictionary: count, and for each entry the key as count and bytes, then the value |

/// The first bytes of values that code outside the format asks for.
enum ValueTag: UInt8 {
    case integer = 2
    case double = 4
    case string = 6
    case array = 8
    case dictionary = 9
}

extension ByteWriter {
    /// Returns whether the bytes from an offset on are a string.
    func isString(at offset: Int) -> Bool {
        withBytes { offset < $0.count && $0[offset] == ValueTag.string.rawValue }
    }

    /// Returns the value that is written from an offset on.
    func value(from offset: Int) -> PropertyList {
        // Safe: this writer has written a whole value there.
        withBytes { ByteReader.wholeValue(UnsafeRawBufferPointer(rebasing: $0[offset...]))! }
    }

    /// Appends the bytes of a value.
    ///
    /// - Returns: False if the value is nested too deeply. Part of it has then been appended.
    @discardableResult
    mutating func append(_ value: PropertyList, depth: Int = 1) -> Bool {
        switch value {
        case .bool(let value): append(byte: value ? 1 : 0)
        case .integer(let value):
            append(byte: 2)
            append(word: UInt64(bitPattern: value))
        case .unsigned(let value):
            append(byte: value > Int64.max ? 3 : 2)
            append(word: value)
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

extension ByteReader {
    /// Decodes bytes that consist of a single value. Returns `nil` for anything else.
    static func wholeValue(_ bytes: UnsafeRawBufferPointer) -> PropertyList? {
        var reader = ByteReader(bytes)
        let value = reader.value()
        return reader.isAtEnd ? value : nil
    }

    /// Up to this number of entries, a dictionary is searched one entry after the other.
    static let searchLimit = 32

    /// A longer value is decoded from a tree. A search skips everything before an entry, at each
    /// level and for each key, so it may read the bytes thousands of times.
    static let searchableLength = 1_024

    /// Returns whether the bytes are an array or a dictionary that can be decoded as it is: short,
    /// valid, nested no deeper than the limit, and without a large dictionary or one in which two
    /// keys might be equal strings.
    static func isSearchable(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= searchableLength, bytes.first ?? 0 >= ValueTag.array.rawValue else { return false }
        var reader = ByteReader(bytes)
        return reader.skipSearchable() && reader.isAtEnd
    }

    private mutating func skipSearchable(depth: Int = 1) -> Bool {
        let start = self
        guard let tag = byte() else { return false }
        switch tag {
        case 6:
            guard let text = counted().map({ UnsafeRawBufferPointer(rebasing: bytes[$0]) }) else { return false }
            return text.keyBits.isASCII || String(utf8: text) != nil
        case 8:
            guard depth <= PropertyList.depthLimit, let count = count() else { return false }
            for _ in 0..<count { guard skipSearchable(depth: depth + 1) else { return false } }
            return true
        case 9:
            guard depth <= PropertyList.depthLimit, let count = count(), count <= Self.searchLimit else { return false }
            var known: UInt64 = 0
            let first = self
            for index in 0..<count {
                guard let key = counted().map({ UnsafeRawBufferPointer(rebasing: bytes[$0]) }) else { return false }
                let (bits, isASCII) = key.keyBits
                guard isASCII, known & bits != bits || !first.hasKey(key, within: index),
                    skipSearchable(depth: depth + 1)
                else { return false }
                known |= bits
            }
            return true
        default:
            self = start
            return skipValue()
        }
    }

    /// Moves to the value of a key. Returns false if none of the next entries has it.
    ///
    /// - Parameter count: The number of entries. On return, the number from the found one on.
    mutating func skip(to key: UnsafeRawBufferPointer, within count: inout Int) -> Bool {
        while count > 0 {
            guard let name = counted() else { return false }
            if areEqual(UnsafeRawBufferPointer(rebasing: bytes[name]), key) { return true }
            guard skipValue() else { return false }
            count -= 1
        }
        return false
    }

    /// Returns whether one of the next entries has a key.
    func hasKey(_ key: UnsafeRawBufferPointer, within count: Int) -> Bool {
        var (reader, left) = (self, count)
        return reader.skip(to: key, within: &left)
    }

    /// Skips a value. Returns false if there is none.
    mutating func skipValue() -> Bool {
        guard let tag = byte() else { return false }
        switch tag {
        case 0, 1: return true
        case 2...5: return word() != nil
        case 6, 7: return counted() != nil
        case 8, 9:
            guard let count = count() else { return false }
            for _ in 0..<count {
                if tag == 9, counted() == nil { return false }
                guard skipValue() else { return false }
            }
            return true
        default: return false
        }
    }

    /// Skips a value that contains the byte at an offset, or ends before it.
    ///
    /// - Returns: Whether the byte is part of a key.
    mutating func skipsKey(at offset: Int) -> Bool {
        guard let tag = byte() else { return false }
        switch tag {
        case 2...5: _ = word()
        case 6, 7: _ = counted()
        case 8, 9:
            guard let count = count() else { return false }
            for _ in 0..<count where position <= offset {
                if tag == 9 {
                    _ = counted()
                    if position > offset { return true }
                }
                if skipsKey(at: offset) { return true }
            }
        default: break
        }
        return false
    }

    mutating func value(depth: Int = 1) -> PropertyList? {
        guard let tag = byte() else { return nil }
        switch tag {
        case 0, 1: return .bool(tag == 1)
        case 2: return word().map { .integer(Int64(bitPattern: $0)) }
        case 3: return word().flatMap(PropertyList.init(exactly:))
        case 4: return word().map { .double(Double(bitPattern: $0)) }
        case 5: return word().map { .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0))) }
        case 6: return string().map(PropertyList.string)
        case 7:
            return counted().map { .data(Data(bytes[$0])) }
        case 8:
            guard depth <= PropertyList.depthLimit, let count = count() else { return nil }
            var elements: [PropertyList] = []
            // A forged count must not allocate more memory than its elements need.
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
