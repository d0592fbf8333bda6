#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PropertyList: Codable {
    /// Reads any value. In a setting, it is the stored one. Other decoders do not tell all kinds
    /// apart: JSON has neither data nor dates, and 2.0 may be read as the integer 2.
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? TreeDecoder {
            self = try decoder.tree()
            return
        }
        let container = try decoder.singleValueContainer()
        func first<each Value: Decodable>(_ forms: repeat (each Value) -> PropertyList) -> PropertyList? {
            for (type, form) in repeat ((each Value).self, each forms) {
                if let found = try? form(container.decode(type)) { return found }
            }
            return nil
        }
        // A chain of `??` would take the compiler almost a second.
        let found = first(
            PropertyList.bool, PropertyList.integer, PropertyList.unsigned, PropertyList.double, PropertyList.string,
            PropertyList.data, PropertyList.date, PropertyList.array, PropertyList.dictionary)
        guard let found else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a property list cannot hold this value")
        }
        self = found
    }

    /// Writes the value. In a setting, it is stored as it is, except that a string such as `$null`
    /// gets another `$` before it. Other encoders write data and dates in their own form.
    public func encode(to encoder: any Encoder) throws {
        if let encoder = encoder as? TreeEncoder { return encoder.encode(tree: self) }
        var container = encoder.singleValueContainer()
        switch self {
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .array(let elements): try container.encode(elements)
        case .dictionary(let entries): try container.encode(entries)
        }
    }
}
