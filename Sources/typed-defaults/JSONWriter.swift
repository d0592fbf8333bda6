import Foundation
import TypedDefaults

/// Writes property lists as JSON that reads back the same, bit for bit.
///
/// What JSON has no form for is a dictionary of one key: `{"$data": "base64"}`, `{"$date": seconds}`, `{"$double": "inf"}`. A real
/// dictionary that could be taken for one of these is `{"$dictionary": {…}}`.
struct JSONWriter {
    private(set) var text = ""
    /// Whether each entry has a line of its own.
    let isPretty: Bool
    private var level = 0

    static func text(of value: PropertyList, isPretty: Bool) -> String {
        var writer = JSONWriter(isPretty: isPretty)
        writer.append(value)
        return writer.text
    }

    /// Of a whole suite. Apart from a dictionary, since keys that are equal for Swift's strings may differ in their bytes.
    static func text(ofSettings settings: [(key: String, value: PropertyList)]) -> String {
        var writer = JSONWriter(isPretty: true)
        writer.append(entries: settings)
        return writer.text
    }

    static func text(ofString string: String) -> String {
        var writer = JSONWriter(isPretty: false)
        writer.append(string)
        return writer.text
    }

    private init(isPretty: Bool) { self.isPretty = isPretty }

    private mutating func append(_ value: PropertyList) {
        switch value {
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += value.description
        case .double(let value): append(value)
        case .string(let value): append(value)
        case .data(let value): append(tag: .data) { $0.text += "\"\(value.base64EncodedString())\"" }
        case .date(let value): append(tag: .date) { $0.append(value.timeIntervalSinceReferenceDate) }
        case .array(let elements): append(elements, in: "[", "]") { $0.append($1) }
        case .dictionary(let entries):
            append(entries: entries.map { ($0.key, $0.value) }.sortedByKey())
        }
    }

    private mutating func append(entries: [(key: String, value: PropertyList)]) {
        func append(_ writer: inout JSONWriter) {
            writer.append(entries, in: "{", "}") { writer, entry in
                writer.append(entry.key)
                writer.text += ": "
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
        text += "{\"\(tag.rawValue)\": "
        content(&self)
        text += "}"
    }

    private mutating func append(_ value: Double) {
        // The shortest digits that read back the same, and always with a point or an exponent.
        guard !value.isFinite else {
            text += value.description
            return
        }
        append(tag: .double) { $0.append(JSONTag.name(of: value)) }
    }

    private mutating func append<Element>(
        _ elements: [Element], in opening: String, _ closing: String, _ body: (inout JSONWriter, Element) -> Void
    ) {
        text += opening
        level += 1
        for (index, element) in elements.enumerated() {
            if index > 0 { text += isPretty ? "," : ", " }
            breakLine()
            body(&self, element)
        }
        level -= 1
        if !elements.isEmpty { breakLine() }
        text += closing
    }

    private mutating func breakLine() {
        if isPretty { text += "\n" + String(repeating: "  ", count: level) }
    }

    private mutating func append(_ string: String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\t": text += "\\t"
            // What a terminal would obey rather than show.
            case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}"..."\u{202E}", "\u{2066}"..."\u{2069}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

/// The only key of a dictionary that stands for something else.
enum JSONTag: String {
    case data = "$data"
    case date = "$date"
    case double = "$double"
    case dictionary = "$dictionary"

    /// Whether the key, alone in a dictionary, would be taken for one of these, or for one that a later version knows.
    static func marks(_ key: String) -> Bool { key.utf8.first == UInt8(ascii: "$") }

    /// The name of a double that is no number.
    static func name(of value: Double) -> String {
        if value.isInfinite { return value < 0 ? "-inf" : "inf" }
        return value.bitPattern == Double.nan.bitPattern ? "nan" : "0x" + String(value.bitPattern, radix: 16)
    }

    /// The double of such a name, or of any bits in hexadecimal digits; nil for anything else.
    static func double(named name: String) -> Double? {
        switch name {
        case "inf": .infinity
        case "-inf": -.infinity
        case "nan": .nan
        default: name.hasPrefix("0x") ? UInt64(name.dropFirst(2), radix: 16).map(Double.init(bitPattern:)) : nil
        }
    }
}
