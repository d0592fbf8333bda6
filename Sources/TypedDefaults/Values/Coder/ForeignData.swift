import SettingsFile

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// JSON or a property list that other code stored as data.
///
/// Foundation's decoders recurse as deep as the data is nested, and endlessly in a binary property
/// list with a cycle. A tree of limited depth is therefore created first.
package struct ForeignData {
    private enum Format { case json, propertyList }
    private let data: Data
    private let format: Format
    /// The content of the data, to be read with ``DecodingRules/isForeign``. A number with more
    /// digits than a double holds becomes `PropertyList.digits`.
    let tree: PropertyList

    /// Returns `nil` if the data holds neither JSON nor a property list, is nested too deeply, or
    /// uses an array so often that it would unfold into more elements than it has bytes.
    package init?(_ data: Data) {
        self.data = data
        let steps = Steps(data.count)
        format = data.starts(with: "bplist".utf8) || data.first == UInt8(ascii: "<") ? .propertyList : .json
        if data.first == UInt8(ascii: "<"), Self.isTooDeep(xml: data) { return nil }
        guard let tree = try? Self.decode(ForeignTree.self, from: data, format, steps).tree else { return nil }
        self.tree = tree
    }

    /// Decodes the value with Foundation, which keeps all digits of a number.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Self.decode(type, from: data, format, nil) }

    private static func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data, _ format: Format, _ steps: Steps?
    ) throws -> Value {
        switch format {
        case .json:
            let decoder = JSONDecoder()
            decoder.userInfo[.steps] = steps
            return try decoder.decode(type, from: data)
        case .propertyList:
            let decoder = PropertyListDecoder()
            decoder.userInfo[.steps] = steps
            return try decoder.decode(type, from: data)
        }
    }

    /// Returns the property list that a text represents in XML, with or without the `plist` tag, or
    /// in the old style; `nil` if it is not a property list.
    static func propertyList(in text: String) -> PropertyList? {
        guard let first = text.utf8.first, "<({\"".utf8.contains(first) else { return nil }
        func tree<Value: Decodable>(_ type: Value.Type, _ text: String) -> Value? {
            try? decode(type, from: Data(text.utf8), .propertyList, nil)
        }
        guard first == UInt8(ascii: "<") else { return tree(ForeignTree.self, text)?.tree }
        let isDocument = ["<?", "<!", "<plist"].contains(where: text.hasPrefix)
        let xml = isDocument ? text : "<plist>\(text)</plist>"
        if !isTooDeep(xml: Data(xml.utf8)), let value = tree(ForeignTree.self, xml) { return value.tree }
        // Data in the old style also begins with “<”.
        return tree([Data].self, "(\(text))").flatMap { $0.count == 1 ? .data($0[0]) : nil }
    }

    /// Whether XML tags are nested too deeply for a property list. The XML parser itself is
    /// recursive.
    ///
    /// A comment, a CDATA section or an instruction inside the document could hide tags; encoders
    /// write none.
    private static func isTooDeep(xml: Data) -> Bool {
        if xml.contains("<!-".utf8) || xml.contains("<![".utf8) || xml.dropFirst().contains("<?".utf8) { return true }
        var (depth, previous, isInTag) = (0, UInt8(0), false)
        for byte in xml {
            switch (previous, byte) {
            // For the parser, a tag ends here even in quotation marks.
            case (_, UInt8(ascii: ">")) where isInTag:
                isInTag = false
                if previous == UInt8(ascii: "/") { depth -= 1 }
            case (UInt8(ascii: "<"), UInt8(ascii: "/")) where !isInTag: depth = max(depth - 1, 0)
            case (UInt8(ascii: "<"), UInt8(ascii: "!")), (UInt8(ascii: "<"), UInt8(ascii: "?")): break
            case (UInt8(ascii: "<"), _) where !isInTag: (depth, isInTag) = (depth + 1, true)
            default: break
            }
            // The tags around the arrays and dictionaries, and inside them.
            if depth > PropertyList.depthLimit + 2 { return true }
            previous = byte
        }
        return false
    }
}

/// The steps that are left: as many as there are bytes, because shared containers can be visited
/// many more times.
private final class Steps: Sendable {
    private let left: Locked<Int>
    init(_ count: Int) { left = Locked(count) }
    func take() -> Bool {
        left.withLock { left in
            left -= 1
            return left >= 0
        }
    }
}

extension CodingUserInfoKey {
    fileprivate static let steps = CodingUserInfoKey(rawValue: "TypedDefaults.steps")!
}

/// Any tree that Foundation's decoders decode.
private struct ForeignTree: Decodable {
    let tree: PropertyList

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }

    init(from decoder: any Decoder) throws {
        let steps = decoder.userInfo[.steps] as? Steps
        guard decoder.codingPath.count <= PropertyList.depthLimit, steps?.take() != false else {
            throw DefaultsError(.unreadable, reason: PropertyList.tooDeep)
        }
        if let container = try? decoder.container(keyedBy: Key.self) {
            var entries: [String: PropertyList] = [:]
            for key in container.allKeys {
                entries[key.stringValue] = try container.decode(ForeignTree.self, forKey: key).tree
            }
            tree = .dictionary(entries)
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [PropertyList] = []
            while !container.isAtEnd { elements.append(try container.decode(ForeignTree.self).tree) }
            tree = .array(elements)
        } else if let scalar = Self.scalar(in: try decoder.singleValueContainer()) {
            tree = scalar
        } else {
            // A text that is not a value is a string as a whole.
            guard steps != nil else {
                throw DefaultsError(.unreadable, reason: "the data contains a value that cannot be stored")
            }
            tree = .array([.data(Data())])
        }
    }

    /// Returns `nil` for a value that no type holds, such as a number of a thousand digits.
    private static func scalar(in container: any SingleValueDecodingContainer) -> PropertyList? {
        if container.decodeNil() { return .nilMarker }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        if let value = try? container.decode(String.self) { return .string(value).escapedFromNil }
        let double = try? container.decode(Double.self)
        if double == nil, let value = try? container.decode(Date.self) { return .date(value) }
        if double == nil, let value = try? container.decode(Data.self) { return .data(value) }
        if let double, !double.isFinite || double == 0 && double.sign == .minus { return .double(double) }
        if let value = try? container.decode(Int64.self) { return .integer(value) }
        if let value = try? container.decode(UInt64.self) { return .unsigned(value) }
        let decimal = try? container.decode(Decimal.self)
        if let double, decimal == nil || Double(decimal!.description) != double || Decimal(.double(double)) == decimal {
            return .double(double)
        }
        return decimal.map { .array([.data(Data($0.description.utf8))]) }
    }
}

extension PropertyList {
    /// The tree without the marks of a ``ForeignData``; `nil` if it contains a nil.
    var withoutMarks: PropertyList? {
        if isNilMarker { return nil }
        if digits != nil, let number = Double(foreign: self) { return .double(number) }
        switch self {
        case .array(let elements):
            let parts = elements.compactMap(\.withoutMarks)
            return parts.count == elements.count ? .array(parts) : nil
        case .dictionary(let entries):
            let parts = entries.compactMapValues(\.withoutMarks)
            return parts.count == entries.count ? .dictionary(parts) : nil
        default: return unescapedFromNil
        }
    }

    /// The digits of a JSON number that no other case can hold. They are stored as data in an
    /// array, a form that nothing else in JSON has, so that no string is read as a number.
    var digits: String? {
        guard case .array(let elements) = self, elements.count == 1, case .data(let digits) = elements[0] else {
            return nil
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
