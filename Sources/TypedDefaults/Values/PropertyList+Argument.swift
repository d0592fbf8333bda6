import SettingsFile

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PropertyList {
    /// Creates the value of a launch argument, as Foundation's argument domain reads it: a property
    /// list in XML or in the old style if the text is one, and otherwise a string without the white
    /// space around it.
    ///
    /// In XML, a `real` and a `date` can have an attribute `bits`, which Foundation ignores: the
    /// bits of the double or of the date's seconds, such as `0x7ff8000000000001`. A number and a
    /// date alone would not keep the bits of a NaN and the fraction of a second.
    init(argument text: String) {
        let scalars = text.unicodeScalars
        let start = scalars.firstIndex { !$0.properties.isWhitespace } ?? scalars.endIndex
        let end = scalars[start...].lastIndex { !$0.properties.isWhitespace }.map(scalars.index(after:)) ?? start
        let trimmed = String(scalars[start..<end])
        var reader = ArgumentReader(trimmed)
        let value = reader.xml() ?? reader.oldStyle()
        self =
            if let value, !value.isNested(deeperThan: Self.depthLimit) { value } else { .string(trimmed) }
    }
}

/// Reads a property list in the text of a launch argument.
///
/// `PropertyListDecoder` is not used because it returns the integer 2 for the real 2.0.
private struct ArgumentReader: TextReader {
    let bytes: [UInt8]
    var position = 0
    private var depth = 0

    /// Why the text is not a property list does not matter: it is a string.
    private struct SyntaxError: Error {}

    init(_ text: String) { bytes = Array(text.utf8) }

    /// Returns a property list in XML; `nil` if the text is none. Like Foundation, ignores what
    /// follows it.
    mutating func xml() -> PropertyList? {
        guard next == UInt8(ascii: "<") else { return nil }
        return try? element()
    }

    /// Returns a property list in the old style; `nil` if the text is none.
    mutating func oldStyle() -> PropertyList? {
        (position, depth) = (0, 0)
        guard let next, "{(\"<".utf8.contains(next), let value = try? oldStyleValue(), self.next == nil else {
            return nil
        }
        return value
    }

    private mutating func require(_ text: String) throws {
        guard skip(text) else { throw SyntaxError() }
    }

    /// Returns the text up to a byte, which is skipped.
    private mutating func text(upTo end: Character) throws -> String {
        guard let index = bytes[position...].firstIndex(of: end.asciiValue!) else { throw SyntaxError() }
        defer { position = index + 1 }
        return String(decoding: bytes[position..<index], as: UTF8.self)
    }

    private mutating func checkDepth() throws {
        // `plist` and `key` add a level that does not count in the end.
        guard depth < PropertyList.depthLimit + 2 else { throw SyntaxError() }
        depth += 1
    }
}

// XML.
extension ArgumentReader {
    private struct Tag {
        let name: String
        let double: Double?
        let isEmpty: Bool
    }

    private mutating func tag() throws -> Tag {
        // The declaration and the document type.
        while skip("<?") || skip("<!") { _ = try text(upTo: ">") }
        try require("<")
        var content = try text(upTo: ">")[...]
        let isEmpty = content.last == "/"
        if isEmpty { content.removeLast() }
        let words = content.split(whereSeparator: \.isWhitespace)
        guard let name = words.first else { throw SyntaxError() }
        let bits = words.first { $0.hasPrefix("bits=\"") }?.dropFirst(6).dropLast()
        return Tag(name: String(name), double: bits.flatMap { Double(named: String($0)) }, isEmpty: isEmpty)
    }

    /// Skips the end of an element if it is next.
    private mutating func skipEnd(of tag: Tag) -> Bool { tag.isEmpty || skip("</\(tag.name)>") }

    private mutating func content(of tag: Tag) throws -> String {
        guard !tag.isEmpty else { return "" }
        // By scalars, because a combining mark after “&” or “;” is part of the same character.
        let parts = try text(upTo: "<").unicodeScalars.split(separator: "&", omittingEmptySubsequences: false)
        position -= 1
        guard skipEnd(of: tag) else { throw SyntaxError() }
        var content = String.UnicodeScalarView(parts[0])
        for part in parts.dropFirst() {
            guard let end = part.firstIndex(of: ";") else { throw SyntaxError() }
            content.append(try Self.scalar(named: String(part[..<end])))
            content += part[part.index(after: end)...]
        }
        return String(content)
    }

    private static func scalar(named entity: String) throws -> UnicodeScalar {
        switch entity {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default:
            let isHexadecimal = entity.hasPrefix("#x")
            guard entity.hasPrefix("#"),
                let number = UInt32(entity.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10),
                let scalar = UnicodeScalar(number)
            else { throw SyntaxError() }
            return scalar
        }
    }

    private mutating func element() throws -> PropertyList {
        try checkDepth()
        defer { depth -= 1 }
        let tag = try tag()
        switch tag.name {
        case "plist": return try element()
        case "array":
            var elements: [PropertyList] = []
            while !skipEnd(of: tag) { elements.append(try element()) }
            return .array(elements)
        case "dict":
            var entries: [String: PropertyList] = [:]
            while !skipEnd(of: tag) {
                let key = try self.tag()
                guard key.name == "key" else { throw SyntaxError() }
                entries[try content(of: key)] = try element()
            }
            return .dictionary(entries)
        default:
            guard let value = Self.value(of: tag, try content(of: tag)) else { throw SyntaxError() }
            return value
        }
    }

    private static func value(of tag: Tag, _ text: String) -> PropertyList? {
        switch tag.name {
        case "string": return .string(text)
        case "true": return true
        case "false": return false
        case "integer":
            let integer = Int64(text).flatMap(PropertyList.Integer.init(exactly:))
            return (integer ?? UInt64(text).flatMap(PropertyList.Integer.init(exactly:))).map(PropertyList.integer)
        case "real":
            guard let double = tag.double ?? Double(text) else { return nil }
            return .double(double)
        case "data": return Data(base64Encoded: text, options: .ignoreUnknownCharacters).map(PropertyList.data)
        case "date": return date(of: tag, text).map(PropertyList.date)
        default: return nil
        }
    }

    private static func date(of tag: Tag, _ text: String) -> Date? {
        if let seconds = tag.double { return Date(timeIntervalSinceReferenceDate: seconds) }
        return try? Date(text, strategy: .iso8601)
    }
}

// The old style.
extension ArgumentReader {
    private mutating func oldStyleValue() throws -> PropertyList {
        try checkDepth()
        defer { depth -= 1 }
        if skip("(") {
            var elements: [PropertyList] = []
            while !skip(")") {
                elements.append(try oldStyleValue())
                guard skip(",") || next == UInt8(ascii: ")") else { throw SyntaxError() }
            }
            return .array(elements)
        }
        if skip("{") {
            var entries: [String: PropertyList] = [:]
            while !skip("}") {
                let key = try oldStyleString()
                entries[key] = skip("=") ? try oldStyleValue() : .string(key)
                try require(";")
            }
            return .dictionary(entries)
        }
        if skip("<") {
            let digits = try text(upTo: ">").filter { !$0.isWhitespace }
            let bytes = stride(from: 0, to: digits.utf8.count, by: 2).map { digits.dropFirst($0).prefix(2) }
            let data = bytes.compactMap { UInt8($0, radix: 16) }
            guard digits.utf8.count == 2 * data.count else { throw SyntaxError() }
            return .data(Data(data))
        }
        return .string(try oldStyleString())
    }

    private mutating func oldStyleString() throws -> String {
        guard let quote = next, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            let plain = bytes[position...].prefix {
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 || UInt8(ascii: "-")...UInt8(ascii: ":") ~= $0
                    || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "$")
            }
            guard !plain.isEmpty else { throw SyntaxError() }
            position += plain.count
            return String(decoding: plain, as: UTF8.self)
        }
        position += 1
        var content: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == quote { return String(decoding: content, as: UTF8.self) }
            content += byte == UInt8(ascii: "\\") ? try oldStyleEscape() : [byte]
        }
        throw SyntaxError()
    }

    private mutating func oldStyleEscape() throws -> [UInt8] {
        guard position < bytes.count else { throw SyntaxError() }
        position += 1
        switch bytes[position - 1] {
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "U"):
            let digits = bytes[position...].prefix(4)
            position += digits.count
            guard let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16),
                let scalar = UnicodeScalar(unit)
            else { throw SyntaxError() }
            return Array(String(Character(scalar)).utf8)
        case let byte: return [byte]
        }
    }
}
