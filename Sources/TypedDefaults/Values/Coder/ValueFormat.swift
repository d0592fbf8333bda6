package import SettingsFile

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

extension ByteWriter {
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
    package static func wholeValue(_ bytes: UnsafeRawBufferPointer) -> PropertyList? {
        var reader = ByteReader(bytes)
        let value = reader.value()
        return reader.isAtEnd ? value : nil
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
