import SettingsFile

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// JSON or a property list inside stored data.
///
/// Foundation's decoders follow what is stored as deep as it goes, in a binary property list round a circle for ever, and end in
/// a stack overflow. So the data is walked first, as deep as ``PropertyList/depthLimit`` and no further.
struct EmbeddedData {
    private let data: Data
    init(_ data: Data) { self.data = data }

    /// Decodes the value in the data.
    ///
    /// - Parameter fallback: The value that properties are taken from that are missing in the data.
    /// - Returns: `nil` if the data holds neither JSON nor a property list.
    /// - Throws: The error of Foundation's decoder, or of the type's own `init(from:)`.
    func decode<Value: Codable>(_ type: Value.Type, fallback: () -> Value? = { nil }) throws -> Value? {
        guard let format else { return nil }
        return try decodeFilling(data) { data in
            try format.decode(type, from: data)
        } fill: { data, path in
            guard let value = fallback(), let other = try? format.tree(of: value),
                let filled = try? format.decode(FoundationTree.self, from: data).filled(path, from: other)
            else { return nil }
            return try? format.encode(filled)
        }
    }

    private enum Format {
        case json, propertyList

        // JSON has no numbers that are not finite. A default may, and its other properties count all the same.
        private static let (infinity, nan) = ("TypedDefaults.infinity", "TypedDefaults.nan")
        private static let negativeInfinity = "TypedDefaults.-infinity"

        private var jsonDecoder: JSONDecoder {
            let decoder = JSONDecoder()
            decoder.nonConformingFloatDecodingStrategy = .convertFromString(
                positiveInfinity: Self.infinity, negativeInfinity: Self.negativeInfinity, nan: Self.nan)
            return decoder
        }

        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
            switch self {
            case .json: try jsonDecoder.decode(type, from: data)
            case .propertyList: try PropertyListDecoder().decode(type, from: data)
            }
        }

        func encode(_ value: some Encodable) throws -> Data {
            switch self {
            case .json:
                let encoder = JSONEncoder()
                encoder.nonConformingFloatEncodingStrategy = .convertToString(
                    positiveInfinity: Self.infinity, negativeInfinity: Self.negativeInfinity, nan: Self.nan)
                return try encoder.encode(value)
            case .propertyList: return try PropertyListEncoder().encode(value)
            }
        }

        /// The tree of a value that is not stored.
        func tree(of value: some Encodable) throws -> FoundationTree {
            let data = try encode(value)
            guard case .json = self else { return try decode(FoundationTree.self, from: data) }
            let decoder = jsonDecoder
            // JSON 5 has a NaN, as which `JSONEncoder` writes that of `Decimal`.
            decoder.allowsJSON5 = true
            return try decoder.decode(FoundationTree.self, from: data)
        }
    }

    /// The format of the data; `nil` if it is neither, or nested too deep.
    private var format: Format? {
        switch data.first {
        case UInt8(ascii: "b"):
            let walker = PropertyListDecoder()
            walker.userInfo[.walk] = Walk(steps: data.count)
            return (try? walker.decode(Walker.self, from: data)) == nil ? nil : .propertyList
        case UInt8(ascii: "<"): return isShallowXML ? .propertyList : nil
        default:
            let walker = JSONDecoder()
            walker.userInfo[.walk] = Walk(steps: data.count)
            return (try? walker.decode(Walker.self, from: data)) == nil ? nil : .json
        }
    }

    /// Whether the data is XML of few levels, as far as its tags tell. The parser of XML is recursive itself, so it cannot be walked.
    private var isShallowXML: Bool {
        var levels = 0
        var rest = data[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[rest.index(after: start)...]
            switch rest.first {
            case UInt8(ascii: "/"): levels -= 1
            case UInt8(ascii: "?"): break
            case UInt8(ascii: "!"):
                // A comment or a section of text could hide tags. Encoders write neither.
                guard rest.starts(with: "!DOCTYPE".utf8) else { return false }
            default:
                guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
                if rest[rest.index(before: end)] != UInt8(ascii: "/") { levels += 1 }
            }
            guard (0...PropertyList.depthLimit).contains(levels) else { return false }
        }
        return true
    }
}

/// How far a walk may still go: no further than there are bytes, since containers that are shared can be many more.
private final class Walk: Sendable {
    private let steps: Locked<Int>
    init(steps: Int) { self.steps = Locked(steps) }

    func takeStep(depth: Int) throws(DefaultsError) {
        let isAllowed = steps.withLock { steps in
            steps -= 1
            return steps >= 0
        }
        guard isAllowed, depth <= PropertyList.depthLimit else {
            throw DefaultsError(.unreadable, reason: PropertyList.tooDeep)
        }
    }
}

extension CodingUserInfoKey {
    fileprivate static let walk = CodingUserInfoKey(rawValue: "TypedDefaults.walk")!
}

/// Visits all that a decoder has to give, and keeps nothing.
private struct Walker: Decodable {
    struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }

    init(from decoder: any Decoder) throws {
        try (decoder.userInfo[.walk] as? Walk)?.takeStep(depth: decoder.codingPath.count)
        if let container = try? decoder.container(keyedBy: Key.self) {
            for key in container.allKeys where try !container.decodeNil(forKey: key) {
                _ = try container.decode(Walker.self, forKey: key)
            }
        } else if var container = try? decoder.unkeyedContainer() {
            while !container.isAtEnd {
                if try !container.decodeNil() { _ = try container.decode(Walker.self) }
            }
        }
    }
}

/// Whatever Foundation's coders decode, to put a missing property into it.
private indirect enum FoundationTree: Codable, FillableTree {
    case null
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case decimal(Decimal)
    case double(Double)
    case string(String)
    case date(Date)
    case data(Data)
    case array([FoundationTree])
    case dictionary([String: FoundationTree])

    init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: Walker.Key.self) {
            var entries: [String: FoundationTree] = [:]
            for key in container.allKeys {
                entries[key.stringValue] = try container.decode(FoundationTree.self, forKey: key)
            }
            self = .dictionary(entries)
            return
        }
        if var container = try? decoder.unkeyedContainer() {
            var elements: [FoundationTree] = []
            while !container.isAtEnd { elements.append(try container.decode(FoundationTree.self)) }
            self = .array(elements)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Date.self), (try? container.decode(Double.self)) == nil {
            self = .date(value)
        } else if let value = try? container.decode(Data.self) {
            self = .data(value)
        } else {
            self = try Self.number(container)
        }
    }

    /// The number in the form that keeps most of it: 0.1 of a `Decimal` has more digits than a `Double`.
    private static func number(_ container: any SingleValueDecodingContainer) throws -> FoundationTree {
        let double = try? container.decode(Double.self)
        if let double, double == 0, double.sign == .minus { return .double(double) }
        if let value = try? container.decode(Int64.self) { return .integer(value) }
        if let value = try? container.decode(UInt64.self) { return .unsigned(value) }
        if let double, !double.isFinite { return .double(double) }
        if let value = try? container.decode(Decimal.self), double == nil || Double(value.description) == double {
            return .decimal(value)
        }
        return .double(try container.decode(Double.self))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .decimal(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .dictionary(let value): try container.encode(value)
        }
    }

    var entries: [String: FoundationTree]? { if case .dictionary(let entries) = self { entries } else { nil } }
}
