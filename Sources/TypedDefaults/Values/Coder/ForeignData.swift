import SettingsFile

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// JSON or a property list that other code stored as data.
///
/// Foundation's decoders recurse as deep as the data nests, and without end in a binary property
/// list with a cycle. A tree of limited depth is therefore made first.
struct ForeignData {
    private enum Format { case json, propertyList }
    private let data: Data
    private let format: Format
    /// What the data holds, to be read by ``DecodingRules/isForeign``. A number of more digits than
    /// a double has is `PropertyList.digits`.
    let tree: PropertyList

    /// Returns `nil` if the data holds neither JSON nor a property list, or nests too deep.
    init?(_ data: Data) {
        self.data = data
        let steps = Steps(data.count)
        format = data.starts(with: "bplist".utf8) || data.first == UInt8(ascii: "<") ? .propertyList : .json
        if data.first == UInt8(ascii: "<"), Self.depth(ofXML: data) > PropertyList.depthLimit + 1 { return nil }
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

    /// The depth of XML tags. The parser of XML is recursive itself. A comment or a CDATA section
    /// could hide tags; encoders write neither.
    private static func depth(ofXML data: Data) -> Int {
        if data.contains("<!-".utf8) || data.contains("<![".utf8) { return .max }
        var (depth, deepest, previous) = (0, 0, UInt8(0))
        for byte in data {
            switch (previous, byte) {
            case (UInt8(ascii: "<"), UInt8(ascii: "/")), (UInt8(ascii: "/"), UInt8(ascii: ">")): depth -= 1
            case (UInt8(ascii: "<"), UInt8(ascii: "!")), (UInt8(ascii: "<"), UInt8(ascii: "?")): break
            case (UInt8(ascii: "<"), _): depth += 1
            default: break
            }
            (deepest, previous) = (max(deepest, depth), byte)
        }
        return deepest
    }
}

/// As many steps as there are bytes, because shared containers can be visited many more times.
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
        guard decoder.codingPath.count <= PropertyList.depthLimit,
            (decoder.userInfo[.steps] as? Steps)?.take() != false
        else { throw DefaultsError(.unreadable, reason: PropertyList.tooDeep) }
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
        } else {
            tree = Self.scalar(in: try decoder.singleValueContainer())
        }
    }

    private static func scalar(in container: any SingleValueDecodingContainer) -> PropertyList {
        if container.decodeNil() { return .nilMarker }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        if let value = try? container.decode(String.self) { return .string(value).escapedFromNil }
        let double = try? container.decode(Double.self)
        if double == nil, let value = try? container.decode(Date.self) { return .date(value) }
        if double == nil, let value = try? container.decode(Data.self) { return .data(value) }
        if let double, !double.isFinite || double == 0 && double.sign == .minus { return .double(double) }
        if let value = try? container.decode(Int64.self) { return .integer(.init(exactly: value)!) }
        if let value = try? container.decode(UInt64.self) { return .integer(.init(exactly: value)!) }
        let decimal = try? container.decode(Decimal.self)
        if let double, decimal == nil || Double(decimal!.description) != double || Decimal(.double(double)) == decimal {
            return .double(double)
        }
        // Empty for a number that no type holds.
        return .array([.data(Data((decimal?.description ?? "").utf8))])
    }
}

extension PropertyList {
    /// The digits of a number in JSON that no other case holds. They are data in an array, which
    /// nothing else in JSON is, so that no string is read as a number.
    var digits: String? {
        guard case .array(let elements) = self, elements.count == 1, case .data(let digits) = elements[0] else {
            return nil
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
