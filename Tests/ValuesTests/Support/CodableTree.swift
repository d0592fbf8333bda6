import Foundation
import TestSupport

/// Values that programs encode by hand, combined at random: every kind of container, in any order.
indirect enum CodableTree: Codable, Hashable, Sendable {
    case json(HandWritten.JSONValue)
    case number(HandWritten.Nullable<Int>)
    case text(HandWritten.Nullable<String>)
    case tree(HandWritten.Nullable<CodableTree>)
    case list([CodableTree])
    case optionals([CodableTree?])
    case entries([String: CodableTree])
    case numbered([Int: CodableTree?])
    case properties(tree: CodableTree?, number: HandWritten.Nullable<Int>?, text: String?)
    case nullables([HandWritten.Nullable<String>?])
    case open(Open)
    case shared(HandWritten.Shared)
    case inherited(Inherited)
    case delegated(HandWritten.Delegating<CodableTree?>)
    case layers(HandWritten.Delegating<Int??>)
    case mixed(Set<HandWritten.Mixed>)
    case scalars(Scalars)

    struct Scalars: Codable, Hashable {
        var bool: Bool
        var byte: UInt8
        var large: UInt64
        var double: Double
        var float: Float?
        var text: String
        var data: Data
        var date: Date
        var url: URL?
        var id: UUID
    }

    /// Containers that stay open and are filled late, in a different order, and a super encoder.
    struct Open: Codable, Hashable {
        var isReversed: Bool
        var first: CodableTree
        var second: [CodableTree]
        var third: HandWritten.Nullable<Int>

        enum Keys: String, CodingKey { case isReversed, dictionary, array }
        enum Inner: String, CodingKey { case first, third }

        init(isReversed: Bool, first: CodableTree, second: [CodableTree], third: HandWritten.Nullable<Int>) {
            (self.isReversed, self.first, self.second, self.third) = (isReversed, first, second, third)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            var dictionary = container.nestedContainer(keyedBy: Inner.self, forKey: .dictionary)
            var array = container.nestedUnkeyedContainer(forKey: .array)
            if isReversed { try container.encode(isReversed, forKey: .isReversed) }
            var inArray = array.nestedUnkeyedContainer()
            try array.encodeNil()
            try dictionary.encode(third, forKey: .third)
            for tree in second { try inArray.encode(tree) }
            try array.encode(second.count)
            try second.count.encode(to: array.superEncoder())
            try dictionary.encode(first, forKey: .first)
            if !isReversed { try container.encode(isReversed, forKey: .isReversed) }
        }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            isReversed = try container.decode(Bool.self, forKey: .isReversed)
            let dictionary = try container.nestedContainer(keyedBy: Inner.self, forKey: .dictionary)
            first = try dictionary.decode(CodableTree.self, forKey: .first)
            third = try dictionary.decode(HandWritten.Nullable<Int>.self, forKey: .third)
            var array = try container.nestedUnkeyedContainer(forKey: .array)
            var inArray = try array.nestedUnkeyedContainer()
            second = []
            while !inArray.isAtEnd { second.append(try inArray.decode(CodableTree.self)) }
            guard array.count == 4, try array.decodeNil(), try array.decode(Int.self) == second.count,
                try Int(from: array.superDecoder()) == second.count, array.currentIndex == 4
            else {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "lost elements"))
            }
        }
    }

    /// Super encoders, with and without a key.
    struct Inherited: Codable, Hashable {
        var own: Int?
        var above: CodableTree
        var beside: CodableTree?

        enum Keys: String, CodingKey { case own, beside }

        init(own: Int?, above: CodableTree, beside: CodableTree?) {
            (self.own, self.above, self.beside) = (own, above, beside)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            let above = container.superEncoder()
            try beside.encode(to: container.superEncoder(forKey: .beside))
            try container.encodeIfPresent(own, forKey: .own)
            try self.above.encode(to: above)
        }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            own = try container.decodeIfPresent(Int.self, forKey: .own)
            above = try CodableTree(from: container.superDecoder())
            beside = try CodableTree?(from: container.superDecoder(forKey: .beside))
        }
    }
}

extension CodableTree {
    private static let strings = ["", "a", "$null", "$$null", "5", "true", "1.5", "null", "NaN", "caf\u{E9}"]
    private static let doubles: [Double] = [0, 1, 2, -1, 0.5, 0.1, 1.5e300, -7]

    static func random(depth: Int = 4, using generator: inout SeededGenerator) -> CodableTree {
        func string() -> String { strings.randomElement(using: &generator)! }
        func bool() -> Bool { .random(using: &generator) }
        func double() -> Double { doubles.randomElement(using: &generator)! }
        func tree() -> CodableTree { random(depth: depth - 1, using: &generator) }
        func few<Value>(_ make: () -> Value) -> [Value] {
            (0..<Int.random(in: 0...3, using: &generator)).map { _ in make() }
        }
        func number() -> Int { .random(in: -1...3, using: &generator) }
        func optional<Value>(_ value: Value) -> Value? { Int.random(in: 0..<3, using: &generator) == 0 ? nil : value }
        func json(_ depth: Int) -> HandWritten.JSONValue {
            switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &generator) {
            case 0: .null
            case 1: .bool(bool())
            case 2: .integer(number())
            case 3: .double([0.5, 0.1, -7.25].randomElement(using: &generator)!)
            case 4: .string(string())
            case 5: .array(few { json(depth - 1) })
            default: .dictionary(Dictionary(few { (string(), json(depth - 1)) }) { $1 })
            }
        }
        switch Int.random(in: 0..<(depth > 1 ? 200 : 70), using: &generator) {
        case 0..<20: return .json(json(2))
        case 20..<30: return .number(.init(value: optional(number())))
        case 30..<40: return .text(.init(value: optional(string())))
        case 40..<45: return .nullables(few { optional(.init(value: optional(string()))) })
        case 45: return .layers(.init(value: [nil, .some(nil), 5].randomElement(using: &generator)!))
        case 46..<52:
            return .shared(.init(first: optional(number()), second: optional(string()), third: few(number)))
        case 52..<60:
            return .mixed(
                Set(few { [.number(number()), .text(string()), .double(double())].randomElement(using: &generator)! }))
        case 60..<70:
            return .scalars(
                Scalars(
                    bool: bool(), byte: .random(in: 0...1, using: &generator),
                    large: .random(in: 0 ... .max, using: &generator), double: double(),
                    float: optional(Float(double())), text: string(), data: Data(string().utf8),
                    date: Date(timeIntervalSinceReferenceDate: double()), url: optional(URL(string: "https://a.b/c")!),
                    id: UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!))
        case 70..<80: return .tree(.init(value: optional(tree())))
        case 80..<95: return .list(few(tree))
        case 95..<110: return .optionals(few { optional(tree()) })
        case 110..<125: return .entries(Dictionary(few { (string(), tree()) }) { $1 })
        case 125..<135: return .numbered(Dictionary(few { (number(), optional(tree())) }) { $1 })
        case 135..<155:
            // Rarely, a nil that even JSON does not distinguish from a missing property.
            let inner = Int.random(in: 0..<100, using: &generator) == 0 ? nil : number()
            return .properties(
                tree: optional(tree()), number: optional(.init(value: inner)), text: optional(string()))
        case 155..<170:
            return .open(
                Open(isReversed: bool(), first: tree(), second: few(tree), third: .init(value: optional(number()))))
        case 170..<185: return .inherited(Inherited(own: optional(number()), above: tree(), beside: optional(tree())))
        default: return .delegated(.init(value: optional(tree())))
        }
    }
}
