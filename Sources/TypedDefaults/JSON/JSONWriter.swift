#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension PropertyList {
    /// Returns the value as JSON text that reads back the same, bit for bit.
    ///
    /// - Parameter isPretty: Whether each entry has a line of its own.
    public func json(isPretty: Bool = false) -> Data {
        var writer = JSONWriter(isPretty: isPretty)
        writer.append(self)
        return Data(writer.bytes)
    }

    package var jsonText: String { String(decoding: json(), as: UTF8.self) }
}

/// Writes property lists as JSON. The keys of dictionaries are sorted by their UTF-8 bytes.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    let isPretty: Bool
    private var level = 0

    init(isPretty: Bool) { self.isPretty = isPretty }

    fileprivate mutating func append(_ value: PropertyList) {
        switch value {
        case .bool(let value): append(text: value ? "true" : "false")
        case .integer(let value): append(text: value.description)
        case .unsigned(let value): append(text: value.description)
        case .double(let value): append(value)
        case .string(let value): append(value)
        case .data(let value): append(tag: .data) { $0.append(text: "\"\(value.base64EncodedString())\"") }
        case .date(let value): append(tag: .date) { $0.append(value.timeIntervalSinceReferenceDate) }
        case .array(let elements): append(elements, in: "[", "]") { $0.append($1) }
        case .dictionary(let entries): append(entries: entries.sortedByBytes())
        }
    }

    /// Appends a dictionary. Two keys may be equal as strings and differ in their bytes.
    mutating func append(entries: [(key: String, value: PropertyList)]) {
        func append(_ writer: inout JSONWriter) {
            writer.append(entries, in: "{", "}") { writer, entry in
                writer.append(entry.key)
                writer.append(text: ": ")
                writer.append(entry.value)
            }
        }
        if entries.count == 1, JSONTag.marks(entries[0].key) {
            self.append(tag: .dictionary, append)
        } else {
            append(&self)
        }
    }

    private mutating func append(tag: JSONTag, _ content: (inout JSONWriter) -> Void) {
        append(text: "{\"\(tag.rawValue)\": ")
        content(&self)
        append(text: "}")
    }

    private mutating func append(_ value: Double) {
        // A description has the shortest digits that read back the same, and always a point or an
        // exponent.
        guard !value.isFinite else { return append(text: value.description) }
        append(tag: .double) { $0.append(value.name) }
    }

    private mutating func append<Element>(
        _ elements: [Element], in opening: String, _ closing: String, _ body: (inout JSONWriter, Element) -> Void
    ) {
        append(text: opening)
        level += 1
        for (index, element) in elements.enumerated() {
            if index > 0 { append(text: isPretty ? "," : ", ") }
            breakLine()
            body(&self, element)
        }
        level -= 1
        if !elements.isEmpty { breakLine() }
        append(text: closing)
    }

    private mutating func breakLine() {
        if isPretty { append(text: "\n" + String(repeating: "  ", count: level)) }
    }

    private mutating func append(text: String) { bytes += text.utf8 }

    private mutating func append(_ string: String) {
        append(text: "\"")
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"", "\\": append(text: "\\\(scalar)")
            case "\n": append(text: "\\n")
            case "\t": append(text: "\\t")
            // Characters that a terminal would interpret instead of displaying.
            case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}"..."\u{202E}", "\u{2066}"..."\u{2069}":
                let digits = String(scalar.value, radix: 16)
                append(text: "\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
            default: bytes += UTF8.encode(scalar)!
            }
        }
        append(text: "\"")
    }
}

/// The only key of a dictionary that represents a value for which JSON has no form.
enum JSONTag: String {
    case data = "$data"
    case date = "$date"
    case double = "$double"
    case dictionary = "$dictionary"

    /// Returns whether a dictionary with only this key would be read as one of these tags, or as
    /// one that a later version adds.
    static func marks(_ key: String) -> Bool { key.utf8.first == UInt8(ascii: "$") }
}

// The names of doubles for which JSON has no form.
extension Double {
    /// The name of a double that is infinite or not a number.
    var name: String {
        if isInfinite { return self < 0 ? "-inf" : "inf" }
        return bitPattern == Double.nan.bitPattern ? "nan" : "0x" + String(bitPattern, radix: 16)
    }

    /// Creates the double of such a name, or of any bits in hexadecimal digits; `nil` for anything
    /// else.
    init?(named name: String) {
        switch name {
        case "inf": self = .infinity
        case "-inf": self = -.infinity
        case "nan": self = .nan
        default:
            // Refuse a sign, which `UInt64` accepts.
            guard name.hasPrefix("0x"), name.dropFirst(2).first?.isHexDigit == true,
                let bits = UInt64(name.dropFirst(2), radix: 16)
            else { return nil }
            self.init(bitPattern: bits)
        }
    }
}
