import Foundation
import TypedDefaults

/// What JSON text says, numbers as they are written and dictionaries in their order.
///
/// Not by `JSONSerialization`: it makes doubles of integers that are too large, makes one of two keys that differ in their bytes only
/// and of a key that stands there twice, and on Apple platforms reads long numbers as decimal ones.
indirect enum JSON {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSON])
    case object([(key: String, value: JSON)])
}

/// Why JSON text is not what it should be, without a word of what it holds.
struct JSONError: Error, CustomStringConvertible {
    let description: String

    init(_ reason: String, path: [String]) {
        description = path.isEmpty ? reason : "at \(path.joined(separator: ".")): \(reason)"
    }

    init(_ reason: String, at offset: Int) { description = "\(reason) at byte \(offset)" }
}

struct JSONReader {
    private let bytes: [UInt8]
    private var position = 0

    static func read(_ data: Data) throws(JSONError) -> JSON {
        var reader = JSONReader(bytes: Array(data))
        if data.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
        let value = try reader.value(depth: 1)
        guard reader.next == nil else { throw reader.error("something follows its end") }
        return value
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private func error(_ reason: String) -> JSONError { JSONError(reason, at: position) }

    /// The next byte that is no white space; nil at the end.
    private var next: UInt8? {
        mutating get {
            while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
            return position < bytes.count ? bytes[position] : nil
        }
    }

    /// Steps over a character, if it is the next one.
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSON {
        // Tags may double the levels.
        guard depth <= 2 * PropertyList.depthLimit + 2 else { throw error("it is nested too deep") }
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte): return .number(try number())
        default:
            for (word, value) in [("true", JSON.bool(true)), ("false", .bool(false)), ("null", .null)]
            where bytes[position...].starts(with: word.utf8) {
                position += word.utf8.count
                return value
            }
            throw error(next == nil ? "it ends too early" : "there is no value")
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSON {
        position += 1
        var entries: [(key: String, value: JSON)] = []
        if skip("}") { return .object([]) }
        repeat {
            guard next == UInt8(ascii: "\"") else { throw error("a key in quotation marks is missing") }
            let key = try string()
            guard skip(":") else { throw error("“:” is missing") }
            entries.append((key, try value(depth: depth + 1)))
        } while skip(",")
        guard skip("}") else { throw error("“,” or “}” is missing") }
        return .object(entries)
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSON {
        position += 1
        var elements: [JSON] = []
        if skip("]") { return .array([]) }
        repeat { elements.append(try value(depth: depth + 1)) } while skip(",")
        guard skip("]") else { throw error("“,” or “]” is missing") }
        return .array(elements)
    }

    static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    private mutating func number() throws(JSONError) -> String {
        let start = position
        func digits() -> Int {
            let count = bytes[position...].prefix(while: Self.isDigit).count
            position += count
            return count
        }
        func isNext(_ characters: String) -> Bool {
            position < bytes.count && characters.utf8.contains(bytes[position])
        }
        if isNext("-") { position += 1 }
        let isZero = isNext("0")
        let count = digits()
        guard count == 1 || (count > 1 && !isZero) else { throw error("this is no number") }
        if isNext(".") {
            position += 1
            guard digits() > 0 else { throw error("this is no number") }
        }
        if isNext("eE") {
            position += 1
            if isNext("+-") { position += 1 }
            guard digits() > 0 else { throw error("this is no number") }
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func string() throws(JSONError) -> String {
        position += 1
        var content: [UInt8] = []
        while true {
            let rest = bytes[position...]
            let plain = rest.prefix { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") && $0 >= 0x20 }
            content += plain
            position += plain.count
            guard position < bytes.count, bytes[position] >= 0x20 else { throw error("a string does not end") }
            position += 1
            if bytes[position - 1] == UInt8(ascii: "\"") { break }
            content += try escape()
        }
        // Decoding replaces invalid bytes. `String(validating:as:)` needs iOS 18.
        let string = String(decoding: content, as: UTF8.self)
        guard string.utf8.elementsEqual(content) else { throw error("a string is not UTF-8") }
        return string
    }

    private mutating func escape() throws(JSONError) -> [UInt8] {
        guard position < bytes.count else { throw error("a string does not end") }
        position += 1
        switch bytes[position - 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [bytes[position - 1]]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"):
            var units = [try unit()]
            if UTF16.isLeadSurrogate(units[0]), bytes[position...].starts(with: "\\u".utf8) {
                position += 2
                units.append(try unit())
            }
            let text = String(decoding: units, as: UTF16.self)
            guard text.utf16.elementsEqual(units) else { throw error("“\\u” without its other half") }
            return Array(text.utf8)
        default: throw error("there is no such “\\”")
        }
    }

    private mutating func unit() throws(JSONError) -> UInt16 {
        let digits = bytes[position...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ UnicodeScalar($0).properties.isASCIIHexDigit }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw error("“\\u” needs four digits") }
        position += 4
        return unit
    }
}

extension JSON {
    /// The property list that is meant.
    func propertyList(path: [String] = []) throws(JSONError) -> PropertyList {
        switch self {
        case .null: throw JSONError("null, which property lists do not have", path: path)
        case .bool(let value): return .bool(value)
        case .string(let value): return .string(value)
        case .number(let text): return try Self.number(text, path)
        case .array(let elements):
            var values: [PropertyList] = []
            for (index, element) in elements.enumerated() {
                values.append(try element.propertyList(path: path + [String(index)]))
            }
            return .array(values)
        case .object(let entries):
            if entries.count == 1, JSONTag.marks(entries[0].key) { return try Self.tagged(entries[0], path) }
            return try Self.dictionary(entries, path)
        }
    }

    /// The settings of a whole suite, whose keys are told apart by their bytes.
    func settings() throws(JSONError) -> [(key: String, value: PropertyList)] {
        guard case .object(var entries) = self else {
            throw JSONError("it is no dictionary of keys and values", path: [])
        }
        if entries.count == 1, entries[0].key == JSONTag.dictionary.rawValue, case .object(let inner) = entries[0].value
        {
            entries = inner
        } else if entries.count == 1, JSONTag.marks(entries[0].key) {
            throw JSONError("it is no dictionary of keys and values", path: [])
        }
        var seen: Set<[UInt8]> = []
        var settings: [(key: String, value: PropertyList)] = []
        for (key, value) in entries {
            guard seen.insert(Array(key.utf8)).inserted else { throw JSONError("the key occurs twice", path: [key]) }
            settings.append((key, try value.propertyList(path: [key])))
        }
        return settings
    }

    private static func dictionary(_ entries: [(key: String, value: JSON)], _ path: [String]) throws(JSONError)
        -> PropertyList
    {
        var values: [String: PropertyList] = [:]
        for (key, value) in entries {
            guard try values.updateValue(value.propertyList(path: path + [key]), forKey: key) == nil else {
                throw JSONError("the key occurs twice", path: path + [key])
            }
        }
        return .dictionary(values)
    }

    private static func tagged(_ entry: (key: String, value: JSON), _ path: [String]) throws(JSONError) -> PropertyList
    {
        let path = path + [entry.key]
        switch (JSONTag(rawValue: entry.key), entry.value) {
        case (.data, .string(let text)):
            guard let data = Data(base64Encoded: text) else { throw JSONError("this is not base64", path: path) }
            return .data(data)
        case (.double, .string(let name)):
            guard let value = JSONTag.double(named: name) else {
                throw JSONError("there is no such double", path: path)
            }
            return .double(value)
        case (.date, let seconds):
            switch try seconds.propertyList(path: path) {
            case .double(let seconds): return .date(Date(timeIntervalSinceReferenceDate: seconds))
            case .integer(let integer):
                guard let seconds = integer.exactly(as: Int64.self).flatMap(Double.init(exactly:)) else { break }
                return .date(Date(timeIntervalSinceReferenceDate: seconds))
            default: break
            }
            throw JSONError("this is no number of seconds", path: path)
        case (.dictionary, .object(let entries)): return try dictionary(entries, path)
        default:
            throw JSONError("there is no such form; a dictionary of this key is {\"$dictionary\": {…}}", path: path)
        }
    }

    private static func number(_ text: String, _ path: [String]) throws(JSONError) -> PropertyList {
        if text.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || JSONReader.isDigit($0) }) {
            let integer =
                Int64(text).flatMap { PropertyList.Integer(exactly: $0) }
                ?? UInt64(text).flatMap { PropertyList.Integer(exactly: $0) }
            guard let integer else { throw JSONError("an integer beyond 64 bits", path: path) }
            return .integer(integer)
        }
        guard let value = Double(text), value.isFinite else {
            throw JSONError("a number too large for a double", path: path)
        }
        return .double(value)
    }
}
