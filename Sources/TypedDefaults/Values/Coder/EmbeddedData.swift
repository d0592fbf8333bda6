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

    /// The value in the data; nil if there is none.
    func decode<Value: Decodable>(_ type: Value.Type) -> Value? {
        // Why something is not to be had is of no interest: the native form is the one that was expected.
        switch data.first {
        case UInt8(ascii: "b"):
            let walker = PropertyListDecoder()
            walker.userInfo[.walk] = Walk(steps: data.count)
            guard (try? walker.decode(Walker.self, from: data)) != nil else { return nil }
            return try? PropertyListDecoder().decode(type, from: data)
        case UInt8(ascii: "<"):
            guard isShallowXML else { return nil }
            return try? PropertyListDecoder().decode(type, from: data)
        default:
            let walker = JSONDecoder()
            walker.userInfo[.walk] = Walk(steps: data.count)
            guard (try? walker.decode(Walker.self, from: data)) != nil else { return nil }
            return try? JSONDecoder().decode(type, from: data)
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
            throw DefaultsError(.unreadable, reason: "nested deeper than \(PropertyList.depthLimit) levels")
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
