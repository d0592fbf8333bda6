import SettingsFile

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension PropertyList {
    /// Reads a value from JSON text as ``json(isPretty:)`` writes it, or from any other JSON
    /// without null.
    ///
    /// - Throws: A ``DefaultsError`` of kind ``DefaultsError/Kind/unreadable`` for text that is not
    ///   JSON, and ``DefaultsError/Kind/refused`` for a value that property lists do not have.
    public init(json: Data) throws(DefaultsError) {
        var reader = JSONReader(json)
        let value = try reader.value()
        try reader.end()
        self = try reader.propertyList(value)
    }
}

/// Reads property lists from JSON text.
///
/// `JSONSerialization` turns large integers into doubles, merges two keys that differ only in their
/// bytes, and on Apple platforms reads long numbers as decimal numbers.
struct JSONReader {
    private typealias Entry = (key: String, value: ParsedValue)
    fileprivate struct ParsedValue {
        indirect enum Content {
            case value(PropertyList)
            /// A dictionary whose only key may be a tag, unless the dictionary is the content of a
            /// ``JSONTag/dictionary``.
            case single(key: String, ParsedValue)
        }
        let content: Content
        /// The position in the text.
        let offset: Int
    }

    private let bytes: [UInt8]
    private var position: Int
    private var depth = 0

    init(_ text: Data) {
        bytes = Array(text)
        // A byte order mark is not part of the text.
        position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    /// Reads the entries of a suite, whose keys are compared by their bytes.
    mutating func contents() throws(DefaultsError) -> [ByteString: PropertyList] {
        let (isObject, start) = (next == UInt8(ascii: "{"), position)
        var entries: [Entry] = []
        if isObject { entries = try object() } else { _ = try value() }
        try end()
        if entries.count == 1, JSONTag.marks(entries[0].key) {
            let isDictionary = entries[0].key == JSONTag.dictionary.rawValue
            guard isDictionary, case .dictionary(let inner) = try plain(entries[0].value) else {
                throw noSuite(at: start)
            }
            return Dictionary(uniqueKeysWithValues: inner.map { (ByteString($0.key), $0.value) })
        }
        guard isObject else { throw noSuite(at: start) }
        var values: [ByteString: PropertyList] = [:]
        for (key, value) in entries {
            guard try values.updateValue(propertyList(value), forKey: ByteString(key)) == nil else {
                throw refusal("a key occurs twice", at: value.offset)
            }
        }
        return values
    }

    private func noSuite(at offset: Int) -> DefaultsError {
        refusal("a suite is a dictionary of keys and values", at: offset)
    }

    /// Throws unless the text ends here.
    fileprivate mutating func end() throws(DefaultsError) {
        guard next == nil else { throw syntaxError("unexpected text after the end") }
    }

    fileprivate mutating func value() throws(DefaultsError) -> ParsedValue {
        // Tags may double the levels.
        guard depth < 2 * PropertyList.depthLimit + 2 else { throw syntaxError(PropertyList.tooDeep) }
        depth += 1
        defer { depth -= 1 }
        let (first, start) = (next, position)
        let value: PropertyList
        switch first {
        case UInt8(ascii: "{"):
            let entries = try object()
            if entries.count == 1, JSONTag.marks(entries[0].key) {
                return ParsedValue(content: .single(key: entries[0].key, entries[0].value), offset: start)
            }
            value = try dictionary(entries)
        case UInt8(ascii: "["): value = .array(try array())
        case UInt8(ascii: "\""): value = .string(try string())
        case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte): value = try number()
        case _ where skip("true"): value = true
        case _ where skip("false"): value = false
        case _ where skip("null"): throw refusal("property lists have no null", at: start)
        default: throw syntaxError(first == nil ? "unexpected end" : "a value is missing")
        }
        return ParsedValue(content: .value(value), offset: start)
    }

    private mutating func object() throws(DefaultsError) -> [Entry] {
        position += 1
        var entries: [Entry] = []
        if skip("}") { return [] }
        repeat {
            guard next == UInt8(ascii: "\"") else { throw syntaxError("a key in quotation marks is missing") }
            let key = try string()
            guard skip(":") else { throw syntaxError("“:” is missing") }
            entries.append((key, try value()))
        } while skip(",")
        guard skip("}") else { throw syntaxError("“,” or “}” is missing") }
        return entries
    }

    private mutating func array() throws(DefaultsError) -> [PropertyList] {
        position += 1
        var elements: [PropertyList] = []
        if skip("]") { return [] }
        repeat { elements.append(try content(of: value())) } while skip(",")
        guard skip("]") else { throw syntaxError("“,” or “]” is missing") }
        return elements
    }
}

// Dictionaries and tags.
extension JSONReader {
    private func dictionary(_ entries: [Entry]) throws(DefaultsError) -> PropertyList {
        var values: [String: PropertyList] = [:]
        for (key, value) in entries {
            guard try values.updateValue(content(of: value), forKey: key) == nil else {
                throw refusal("a key occurs twice", at: value.offset)
            }
        }
        return .dictionary(values)
    }

    /// Returns a value that is not too deep to be stored.
    fileprivate func propertyList(_ parsed: ParsedValue) throws(DefaultsError) -> PropertyList {
        let value = try content(of: parsed)
        guard !value.isNested(deeperThan: PropertyList.depthLimit) else {
            throw refusal(PropertyList.tooDeep, at: parsed.offset)
        }
        return value
    }

    /// Returns a value that is in a ``JSONTag/dictionary``.
    private func plain(_ parsed: ParsedValue) throws(DefaultsError) -> PropertyList {
        switch parsed.content {
        case .value(let value): return value
        case .single(let key, let inner): return .dictionary([key: try content(of: inner)])
        }
    }

    private func content(of parsed: ParsedValue) throws(DefaultsError) -> PropertyList {
        guard case .single(let key, let inner) = parsed.content else { return try plain(parsed) }
        let isDictionary = key == JSONTag.dictionary.rawValue
        switch (JSONTag(rawValue: key), isDictionary ? try plain(inner) : try content(of: inner)) {
        case (.dictionary, .dictionary(let entries)): return .dictionary(entries)
        case (.data, .string(let text)):
            guard let data = Data(base64Encoded: text) else { throw refusal("invalid base64", at: parsed.offset) }
            return .data(data)
        case (.double, .string(let name)):
            guard let double = Double(named: name) else {
                throw refusal("“$double” must be “inf”, “-inf”, “nan” or the bits of a double", at: parsed.offset)
            }
            return .double(double)
        case (.date, let value):
            guard let seconds = Double(value) else {
                throw refusal("“$date” must be a number of seconds", at: parsed.offset)
            }
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        default:
            throw refusal(
                "an unknown tag; a dictionary with only this key is written {\"$dictionary\": {…}}", at: parsed.offset)
        }
    }
}

extension JSONReader {
    /// The next byte that is not white space; `nil` at the end.
    private var next: UInt8? {
        mutating get {
            while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
            return position < bytes.count ? bytes[position] : nil
        }
    }

    /// Skips a text if it comes next.
    private mutating func skip(_ text: String) -> Bool {
        guard next != nil, bytes[position...].starts(with: text.utf8) else { return false }
        position += text.utf8.count
        return true
    }

    private func syntaxError(_ reason: String) -> DefaultsError { error(.unreadable, reason, at: position) }
    private func refusal(_ reason: String, at offset: Int) -> DefaultsError { error(.refused, reason, at: offset) }

    private func error(_ kind: DefaultsError.Kind, _ reason: String, at offset: Int) -> DefaultsError {
        let lines = bytes[..<min(offset, bytes.count)]
            .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let column = String(decoding: lines[lines.count - 1], as: UTF8.self).count + 1
        return DefaultsError(kind, reason: "JSON, line \(lines.count), column \(column): \(reason)")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    private mutating func number() throws(DefaultsError) -> PropertyList {
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
        let isInteger = !isNext(".eE")
        if isNext(".") {
            position += 1
            _ = try digits()
        }
        if isNext("eE") {
            position += 1
            if isNext("+-") { position += 1 }
            _ = try digits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger {
            guard let value = Int64(text).map(PropertyList.integer) ?? UInt64(text).map(PropertyList.unsigned)
            else { throw refusal("an integer beyond 64 bits", at: start) }
            return value
        }
        guard let value = Double(text), value.isFinite else {
            throw refusal("a number too large for a double", at: start)
        }
        return .double(value)
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
