import SettingsFile

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension PropertyList {
    /// Reads a value from JSON text as ``json(isPretty:)`` writes it, or from any other JSON without null.
    ///
    /// - Throws: A ``DefaultsError`` of kind ``DefaultsError/Kind/unreadable`` for text that is no
    ///   JSON, and ``DefaultsError/Kind/refused`` for a value that property lists do not have.
    package init(json: Data) throws(DefaultsError) {
        var reader = JSONReader(json)
        self = try reader.propertyList(of: reader.read())
    }
}

/// A value of JSON text: numbers as they are written, dictionaries in their order.
///
/// `JSONSerialization` makes doubles of large integers and one key of two that differ only in their
/// bytes, and on Apple platforms reads long numbers as decimal ones.
struct JSON {
    enum Content {
        case null
        case bool(Bool)
        case number(String)
        case string(String)
        case array([JSON])
        case object([Entry])
    }
    typealias Entry = (key: String, value: JSON)

    let content: Content
    /// The position of the value in the text.
    let offset: Int
}

struct JSONReader {
    private let bytes: [UInt8]
    private var position = 0
    private var stack = StackWatch()

    init(_ data: Data) { bytes = Array(data) }

    mutating func read() throws(DefaultsError) -> JSON {
        // A byte order mark.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        let value = try value(depth: 1)
        guard next == nil else { throw syntaxError("unexpected text after the end") }
        return value
    }

    private func syntaxError(_ reason: String) -> DefaultsError { error(.unreadable, reason, at: position) }

    private func error(_ kind: DefaultsError.Kind, _ reason: String, at offset: Int) -> DefaultsError {
        let lines = bytes[..<min(offset, bytes.count)].split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let column = String(decoding: lines[lines.count - 1], as: UTF8.self).count + 1
        return DefaultsError(kind, reason: "JSON, line \(lines.count), column \(column): \(reason)")
    }
}

// The text.
extension JSONReader {
    /// The next byte that is not white space; `nil` at the end.
    private var next: UInt8? {
        mutating get {
            while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
            return position < bytes.count ? bytes[position] : nil
        }
    }

    /// Skips a character if it is the next one.
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(DefaultsError) -> JSON {
        // Tags may double the levels.
        guard depth <= 2 * PropertyList.depthLimit + 2 else { throw syntaxError(PropertyList.tooDeep) }
        if stack.isEndNear() { throw syntaxError(PropertyList.tooDeepForStack) }
        let byte = next
        let start = position
        let content: JSON.Content
        switch byte {
        case UInt8(ascii: "{"): content = .object(try object(depth: depth))
        case UInt8(ascii: "["): content = .array(try array(depth: depth))
        case UInt8(ascii: "\""): content = .string(try string())
        case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte): content = .number(try number())
        default: content = try word(byte)
        }
        return JSON(content: content, offset: start)
    }

    private mutating func word(_ first: UInt8?) throws(DefaultsError) -> JSON.Content {
        for (word, value) in [("true", .bool(true)), ("false", .bool(false)), ("null", .null)]
            as [(String, JSON.Content)]
        where bytes[position...].starts(with: word.utf8) {
            position += word.utf8.count
            return value
        }
        throw syntaxError(first == nil ? "unexpected end" : "a value is missing")
    }

    private mutating func object(depth: Int) throws(DefaultsError) -> [JSON.Entry] {
        position += 1
        var entries: [JSON.Entry] = []
        if skip("}") { return [] }
        repeat {
            guard next == UInt8(ascii: "\"") else { throw syntaxError("a key in quotation marks is missing") }
            let key = try string()
            guard skip(":") else { throw syntaxError("“:” is missing") }
            entries.append((key, try value(depth: depth + 1)))
        } while skip(",")
        guard skip("}") else { throw syntaxError("“,” or “}” is missing") }
        return entries
    }

    private mutating func array(depth: Int) throws(DefaultsError) -> [JSON] {
        position += 1
        var elements: [JSON] = []
        if skip("]") { return [] }
        repeat { elements.append(try value(depth: depth + 1)) } while skip(",")
        guard skip("]") else { throw syntaxError("“,” or “]” is missing") }
        return elements
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    private mutating func number() throws(DefaultsError) -> String {
        let start = position
        func isNext(_ characters: String) -> Bool {
            position < bytes.count && characters.utf8.contains(bytes[position])
        }
        func digits() throws(DefaultsError) -> Int {
            let count = bytes[position...].prefix(while: Self.isDigit).count
            position += count
            guard count > 0 else { throw syntaxError("a digit is missing") }
            return count
        }
        if isNext("-") { position += 1 }
        let isZero = isNext("0")
        guard try digits() == 1 || !isZero else { throw syntaxError("a number must not start with 0") }
        if isNext(".") {
            position += 1
            _ = try digits()
        }
        if isNext("eE") {
            position += 1
            if isNext("+-") { position += 1 }
            _ = try digits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func string() throws(DefaultsError) -> String {
        position += 1
        var content: [UInt8] = []
        while true {
            let plain = bytes[position...].prefix { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") && $0 >= 0x20 }
            content += plain
            position += plain.count
            guard position < bytes.count else { throw syntaxError("a string does not end") }
            guard bytes[position] >= 0x20 else { throw syntaxError("a control character in a string must be escaped") }
            position += 1
            if bytes[position - 1] == UInt8(ascii: "\"") { break }
            content += try escape()
        }
        guard let string = content.withUnsafeBytes({ String(utf8: $0) }) else {
            throw syntaxError("a string is not valid UTF-8")
        }
        return string
    }

    private mutating func escape() throws(DefaultsError) -> [UInt8] {
        guard position < bytes.count else { throw syntaxError("a string does not end") }
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
            guard text.utf16.elementsEqual(units) else { throw syntaxError("half of a surrogate pair") }
            return Array(text.utf8)
        default: throw syntaxError("an unknown escape")
        }
    }

    private mutating func unit() throws(DefaultsError) -> UInt16 {
        let digits = bytes[position...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ UnicodeScalar($0).properties.isASCIIHexDigit }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw syntaxError("“\\u” needs four hexadecimal digits") }
        position += 4
        return unit
    }
}

// The property list that the text stands for.
extension JSONReader {
    mutating func propertyList(of json: JSON, level: Int = 0) throws(DefaultsError) -> PropertyList {
        if stack.isEndNear() { throw error(.refused, PropertyList.tooDeepForStack, at: json.offset) }
        switch json.content {
        case .null: throw error(.refused, "property lists have no null", at: json.offset)
        case .bool(let value): return .bool(value)
        case .string(let value): return .string(value)
        case .number(let text): return try number(text, at: json.offset)
        case .array(let elements):
            try checkLevel(level, at: json.offset)
            var values: [PropertyList] = []
            for element in elements { values.append(try propertyList(of: element, level: level + 1)) }
            return .array(values)
        case .object(let entries):
            if entries.count == 1, JSONTag.marks(entries[0].key) { return try tagged(entries[0], level: level) }
            return try dictionary(entries, at: json.offset, level: level)
        }
    }

    /// Returns the entries of a whole suite, whose keys are compared by their bytes.
    mutating func entries(of json: JSON) throws(DefaultsError) -> [ByteString: PropertyList] {
        guard case .object(var entries) = json.content else {
            throw error(.refused, "a suite is a dictionary of keys and values", at: json.offset)
        }
        if entries.count == 1, JSONTag.marks(entries[0].key) {
            guard entries[0].key == JSONTag.dictionary.rawValue, case .object(let inner) = entries[0].value.content
            else { throw error(.refused, "a suite is a dictionary of keys and values", at: json.offset) }
            entries = inner
        }
        var values: [ByteString: PropertyList] = [:]
        for (key, value) in entries {
            guard try values.updateValue(propertyList(of: value), forKey: ByteString(key)) == nil else {
                throw error(.refused, "a key occurs twice", at: value.offset)
            }
        }
        return values
    }

    private func checkLevel(_ level: Int, at offset: Int) throws(DefaultsError) {
        guard level < PropertyList.depthLimit else { throw error(.refused, PropertyList.tooDeep, at: offset) }
    }

    private mutating func dictionary(
        _ entries: [JSON.Entry], at offset: Int, level: Int
    ) throws(DefaultsError) -> PropertyList {
        try checkLevel(level, at: offset)
        var values: [String: PropertyList] = [:]
        for (key, value) in entries {
            guard try values.updateValue(propertyList(of: value, level: level + 1), forKey: key) == nil else {
                throw error(.refused, "a key occurs twice", at: value.offset)
            }
        }
        return .dictionary(values)
    }

    private mutating func tagged(_ entry: JSON.Entry, level: Int) throws(DefaultsError) -> PropertyList {
        let offset = entry.value.offset
        switch (JSONTag(rawValue: entry.key), entry.value.content) {
        case (.data, .string(let text)):
            guard let data = Data(base64Encoded: text) else { throw error(.refused, "invalid base64", at: offset) }
            return .data(data)
        case (.double, .string(let name)):
            guard let value = JSONTag.double(named: name) else {
                throw error(.refused, "a double is “inf”, “-inf”, “nan” or its bits", at: offset)
            }
            return .double(value)
        case (.date, _):
            switch try propertyList(of: entry.value, level: level) {
            case .double(let seconds): return .date(Date(timeIntervalSinceReferenceDate: seconds))
            case .integer(let integer):
                guard let seconds = Double(exactly: integer) else { break }
                return .date(Date(timeIntervalSinceReferenceDate: seconds))
            default: break
            }
            throw error(.refused, "a date is a number of seconds", at: offset)
        case (.dictionary, .object(let entries)): return try dictionary(entries, at: offset, level: level)
        default:
            throw error(
                .refused, "an unknown tag; a dictionary with only this key is written {\"$dictionary\": {…}}",
                at: offset)
        }
    }

    private func number(_ text: String, at offset: Int) throws(DefaultsError) -> PropertyList {
        if text.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || Self.isDigit($0) }) {
            guard let integer = PropertyList.Integer(text) else {
                throw error(.refused, "an integer beyond 64 bits", at: offset)
            }
            return .integer(integer)
        }
        guard let value = Double(text), value.isFinite else {
            throw error(.refused, "a number too large for a double", at: offset)
        }
        return .double(value)
    }
}
