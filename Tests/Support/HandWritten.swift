import Foundation

/// Types that encode themselves by hand in the ways that are common in programs.
package enum HandWritten {
    /// Any JSON. Tries one type after the other.
    package indirect enum JSONValue: Codable, Hashable {
        case null
        case bool(Bool)
        case integer(Int)
        case double(Double)
        case string(String)
        case array([JSONValue])
        case dictionary([String: JSONValue])

        package init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let value = try? container.decode(Bool.self) {
                self = .bool(value)
            } else if let value = try? container.decode(Int.self) {
                self = .integer(value)
            } else if let value = try? container.decode(Double.self) {
                self = .double(value)
            } else if let value = try? container.decode(String.self) {
                self = .string(value)
            } else if let value = try? container.decode([JSONValue].self) {
                self = .array(value)
            } else {
                self = .dictionary(try container.decode([String: JSONValue].self))
            }
        }
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .null: try container.encodeNil()
            case .bool(let value): try container.encode(value)
            case .integer(let value): try container.encode(value)
            case .double(let value): try container.encode(value)
            case .string(let value): try container.encode(value)
            case .array(let value): try container.encode(value)
            case .dictionary(let value): try container.encode(value)
            }
        }
    }

    /// Encodes an optional as its single value, and asks `decodeNil()`.
    package struct Nullable<Value: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
        package var value: Value?
        package init(value: Value?) { self.value = value }
        package init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            value = container.decodeNil() ? nil : try container.decode(Value.self)
        }
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    /// Passes its coder on.
    package struct Delegating<Value: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
        package var value: Value
        package init(value: Value) { self.value = value }
        package init(from decoder: any Decoder) throws { value = try Value(from: decoder) }
        package func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
    }

    /// Asks for a nested container twice under one key, as a superclass and its subclass do.
    package struct Shared: Codable, Hashable, Sendable {
        package var first: Int?
        package var second: String?
        package var third: [Int]
        enum Keys: String, CodingKey { case attributes, list }
        enum First: String, CodingKey { case first }
        enum Second: String, CodingKey { case second }

        package init(first: Int?, second: String?, third: [Int]) {
            (self.first, self.second, self.third) = (first, second, third)
        }
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            var one = container.nestedContainer(keyedBy: First.self, forKey: .attributes)
            try one.encodeIfPresent(first, forKey: .first)
            var other = container.nestedContainer(keyedBy: Second.self, forKey: .attributes)
            try other.encodeIfPresent(second, forKey: .second)
            for number in third {
                var list = container.nestedUnkeyedContainer(forKey: .list)
                try list.encode(number)
            }
        }
        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            first = try container.nestedContainer(keyedBy: First.self, forKey: .attributes)
                .decodeIfPresent(Int.self, forKey: .first)
            second = try container.nestedContainer(keyedBy: Second.self, forKey: .attributes)
                .decodeIfPresent(String.self, forKey: .second)
            third = try container.decodeIfPresent([Int].self, forKey: .list) ?? []
        }
    }

    /// A single value of one of several types, which reads back exactly.
    package enum Mixed: Codable, Hashable, Sendable {
        case number(Int)
        case text(String)
        case double(Double)

        package init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(String.self) {
                // A double is written as a string here, because JSON does not distinguish 2.0 from
                // 2.
                self = value.hasPrefix("d") ? .double(Double(value.dropFirst())!) : .text(String(value.dropFirst()))
            } else {
                self = .number(try container.decode(Int.self))
            }
        }
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .number(let value): try container.encode(value)
            case .text(let value): try container.encode("t\(value)")
            case .double(let value): try container.encode("d\(value)")
            }
        }
    }

    /// Reads the first of its types that fits, which is not always the one that was written.
    package enum Either<First: Codable & Hashable & Sendable, Second: Codable & Hashable & Sendable>: Codable, Hashable,
        Sendable
    {
        case first(First)
        case second(Second)

        package init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(First.self) {
                self = .first(value)
            } else {
                self = .second(try container.decode(Second.self))
            }
        }
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .first(let value): try container.encode(value)
            case .second(let value): try container.encode(value)
            }
        }
    }
}
