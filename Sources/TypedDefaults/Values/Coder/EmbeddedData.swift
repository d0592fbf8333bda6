import SettingsFile

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// JSON or a property list inside stored data.
///
/// Foundation's decoders recurse as deep as the data nests, and without end in a binary property
/// list with a cycle, which overflows the stack. The data is therefore walked first, up to
/// ``PropertyList/depthLimit`` levels.
struct EmbeddedData {
    let data: Data
    init(_ data: Data) { self.data = data }

    /// Encodes a tree of ``tree`` as JSON.
    init(json tree: PropertyList) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        data = try encoder.encode(FoundationJSON(tree: tree))
    }

    /// Decodes the value in the data.
    ///
    /// - Returns: `nil` if the data holds neither JSON nor a property list.
    /// - Throws: The error of Foundation's decoder, or of the type's own `init(from:)`.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value? { try format?.decode(type, from: data) }

    /// The tree in the data, for a decoder with ``StoredValueDecoder/Root/readsFoundation``;
    /// `nil` if the data holds neither JSON nor a property list.
    var tree: PropertyList? {
        get throws { try format?.decode(FoundationTree.self, from: data).propertyList }
    }

    private enum Format {
        case json, propertyList

        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
            switch self {
            case .json: try JSONDecoder().decode(type, from: data)
            case .propertyList: try PropertyListDecoder().decode(type, from: data)
            }
        }
    }

    /// The format of the data; `nil` if it is neither or nests too deep.
    private var format: Format? {
        get throws {
            switch data.first {
            case UInt8(ascii: "b"):
                // The depth of the referenced objects is not known yet.
                try Self.checkStack(levels: Self.binaryLevels)
                let walk = Walk(steps: data.count, stackEnd: .current)
                let walker = PropertyListDecoder()
                walker.userInfo[.walk] = walk
                guard (try? walker.decode(Walker.self, from: data)) != nil else { return nil }
                try Self.checkStack(levels: walk.levels)
                return .propertyList
            case UInt8(ascii: "<"):
                guard let levels = levelsOfXML else { return nil }
                try Self.checkStack(levels: levels)
                return .propertyList
            default:
                guard let levels = levelsOfJSON else { return nil }
                try Self.checkStack(levels: levels)
                let walker = JSONDecoder()
                walker.userInfo[.walk] = Walk(steps: data.count)
                return (try? walker.decode(Walker.self, from: data)) == nil ? nil : .json
            }
        }
    }

    /// Enough levels to parse a binary property list and to start the walk, which then checks the
    /// stack.
    private static let binaryLevels = 8
    /// The stack that Foundation's parser and decoder and an `init(from:)` of usual size use for
    /// each level.
    private static let bytesForLevel: UInt = 3 << 10

    /// Throws unless the stack of the thread has room for decoding that many levels.
    private static func checkStack(levels: Int) throws {
        // Few values nest deeper, and finding the end of the main thread's stack is slow.
        guard levels > 4, !StackEnd.current.hasRoom(for: UInt(levels) * bytesForLevel) else { return }
        throw DecodingError.dataCorrupted(
            .init(
                codingPath: [], debugDescription: PropertyList.tooDeepForStack,
                underlyingError: DefaultsError(.unreadable, reason: PropertyList.tooDeepForStack)))
    }

    /// The depth of the brackets; `nil` beyond the limit. Foundation's JSON parser is recursive.
    private var levelsOfJSON: Int? {
        var (levels, deepest) = (0, 0)
        var (isText, isEscaped) = (false, false)
        // In UTF-16, a byte of another character can look like a quotation mark.
        let hasText = !data.contains(0)
        for byte in data {
            if isText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isText = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isText = hasText
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                levels += 1
                deepest = max(deepest, levels)
            case UInt8(ascii: "]"), UInt8(ascii: "}"): levels -= 1
            default: break
            }
        }
        return deepest <= PropertyList.depthLimit ? deepest : nil
    }

    /// The depth of the XML tags; `nil` beyond the limit. The XML parser is recursive itself, so
    /// XML cannot be walked.
    private var levelsOfXML: Int? {
        var (levels, deepest) = (0, 0)
        var rest = data[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[rest.index(after: start)...]
            switch rest.first {
            case UInt8(ascii: "/"): levels -= 1
            case UInt8(ascii: "?"): break
            case UInt8(ascii: "!"):
                // A comment or a CDATA section could hide tags. Encoders write neither.
                guard rest.starts(with: "!DOCTYPE".utf8) else { return nil }
            default:
                guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
                if rest[rest.index(before: end)] != UInt8(ascii: "/") { levels += 1 }
            }
            guard (0...PropertyList.depthLimit).contains(levels) else { return nil }
            deepest = max(deepest, levels)
        }
        return deepest
    }
}

/// The limit of a walk: as many steps as there are bytes, because shared containers can be visited
/// many more times.
private final class Walk: Sendable {
    private let left: Locked<(steps: Int, levels: Int)>
    private let stackEnd: StackEnd?

    /// - Parameter stackEnd: The end of the stack to check at each step; `nil` to skip this check.
    init(steps: Int, stackEnd: StackEnd? = nil) {
        left = Locked((steps, 0))
        self.stackEnd = stackEnd
    }

    /// The deepest level that the walk has reached.
    var levels: Int { left.withLock { $0.levels } }

    func takeStep(depth: Int) throws(DefaultsError) {
        let isAllowed = left.withLock { left in
            left.steps -= 1
            left.levels = max(left.levels, depth)
            return left.steps >= 0
        }
        guard isAllowed, depth <= PropertyList.depthLimit, stackEnd?.isNear != true else {
            throw DefaultsError(.unreadable, reason: PropertyList.tooDeep)
        }
    }
}

extension CodingUserInfoKey {
    fileprivate static let walk = CodingUserInfoKey(rawValue: "TypedDefaults.walk")!
}

/// Visits all values of a decoder and keeps none.
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

/// Any tree that Foundation's decoders decode.
private indirect enum FoundationTree: Decodable {
    /// A number that fits no type.
    case unreadable
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
            self = Self.number(container)
        }
    }

    /// Returns the number in the type that keeps the most digits, because a `Decimal` has more of
    /// them than a `Double`.
    private static func number(_ container: any SingleValueDecodingContainer) -> FoundationTree {
        let double = try? container.decode(Double.self)
        if let double, double == 0, double.sign == .minus { return .double(double) }
        if let value = try? container.decode(Int64.self) { return .integer(value) }
        if let value = try? container.decode(UInt64.self) { return .unsigned(value) }
        if let double, !double.isFinite { return .double(double) }
        if let value = try? container.decode(Decimal.self), double == nil || Double(value.description) == double {
            return .decimal(value)
        }
        return (try? container.decode(Double.self)).map(FoundationTree.double) ?? .unreadable
    }

    /// The same tree; `nil` if it has an integer that a property list cannot hold.
    var propertyList: PropertyList? {
        switch self {
        case .unreadable: return .digits("")
        case .null: return .nilMarker
        case .bool(let value): return .bool(value)
        case .integer(let value): return PropertyList.Integer(exactly: value).map(PropertyList.integer)
        case .unsigned(let value): return PropertyList.Integer(exactly: value).map(PropertyList.integer)
        case .decimal(let value):
            if let double = Double(value.description), Decimal(.double(double)) == value { return .double(double) }
            return .digits(value.description)
        case .double(let value): return .double(value)
        case .string(let value): return PropertyList.string(value).escapedFromNil
        case .date(let value): return .date(value)
        case .data(let value): return .data(value)
        case .array(let elements):
            let trees = elements.compactMap(\.propertyList)
            return trees.count == elements.count ? .array(trees) : nil
        case .dictionary(let entries):
            let values = entries.compactMapValues(\.propertyList)
            return values.count == entries.count ? .dictionary(values) : nil
        }
    }
}

extension PropertyList {
    private static let digitsKey = "\0digits"

    /// A number with more digits than a double has. It cannot be mistaken for text in the data.
    fileprivate static func digits(_ text: String) -> PropertyList { .dictionary([digitsKey: .string(text)]) }

    /// The same tree with the text in place of each ``digits(_:)``.
    var withDigitsAsText: PropertyList {
        if let digits { return .string(digits) }
        switch self {
        case .array(let elements): return .array(elements.map(\.withDigitsAsText))
        case .dictionary(let entries): return .dictionary(entries.mapValues(\.withDigitsAsText))
        default: return self
        }
    }

    /// The text of ``digits(_:)``.
    var digits: String? {
        guard case .dictionary(let entries) = self, entries.count == 1,
            case .string(let text)? = entries[Self.digitsKey]
        else { return nil }
        return text
    }
}

/// Encodes a tree that was decoded from JSON.
private struct FoundationJSON: Encodable {
    let tree: PropertyList

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch tree {
        case let tree where tree.isNilMarker: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value):
            if let value = Int64(exactly: value) {
                try container.encode(value)
            } else if let value = UInt64(exactly: value) {
                try container.encode(value)
            }
        case .double(let value): try container.encode(value)
        case .string:
            if case .string(let text) = tree.unescapedFromNil { try container.encode(text) }
        case .array(let elements): try container.encode(elements.map(FoundationJSON.init))
        case .dictionary(let entries):
            if let number = tree.digits.flatMap({ Decimal(argument: $0) }) {
                try container.encode(number)
            } else {
                try container.encode(entries.mapValues(FoundationJSON.init))
            }
        case .date, .data: throw DefaultsError(.refused, reason: "JSON has no dates and no data")
        }
    }
}
