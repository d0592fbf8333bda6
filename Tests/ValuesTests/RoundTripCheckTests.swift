import Foundation
import TestSupport
import Testing
import TypedDefaults

/// A value that would read back as another one is refused, independent of earlier saves.
struct RoundTripCheckTests {
    private enum Outcome: Equatable { case same, refused, changed }

    private static func outcome<Value: Codable & Equatable & Sendable>(of value: Value) -> Outcome {
        let suite = DefaultsSuite.inMemory()
        suite.onFailure = { _ in }
        let store = UserDefault(DefaultKey<Value?>("value", default: nil), in: suite).store
        do { try store.save(value) } catch { return .refused }
        return (try? store.load()) == .some(value) ? .same : .changed
    }

    private enum Payload<First: Codable & Equatable & Sendable>: Equatable, Sendable {
        case first(First)
        case text(String)
    }

    /// Writes its payload under one key, between two properties of the same types.
    private struct Cell<First: Codable & Equatable & Sendable>: Codable, Equatable {
        let before: First
        let payload: Payload<First>
        enum CodingKeys: CodingKey { case before, payload, after }

        init(_ payload: Payload<First>, before: First) { (self.payload, self.before) = (payload, before) }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            before = try container.decode(First.self, forKey: .before)
            _ = try container.decode(String.self, forKey: .after)
            if let first = try? container.decode(First.self, forKey: .payload) {
                payload = .first(first)
            } else {
                payload = .text(try container.decode(String.self, forKey: .payload))
            }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(before, forKey: .before)
            switch payload {
            case .first(let value): try container.encode(value, forKey: .payload)
            case .text(let value): try container.encode(value, forKey: .payload)
            }
            try container.encode("after", forKey: .after)
        }
    }

    /// Writes its payload into a container of its own.
    private struct Nested<First: Codable & Equatable & Sendable>: Codable, Equatable {
        let payload: Payload<First>
        enum CodingKeys: CodingKey { case nested, payload }

        init(_ payload: Payload<First>) { self.payload = payload }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
                .nestedContainer(keyedBy: CodingKeys.self, forKey: .nested)
            if let first = try? container.decode(First.self, forKey: .payload) {
                payload = .first(first)
            } else {
                payload = .text(try container.decode(String.self, forKey: .payload))
            }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            var nested = container.nestedContainer(keyedBy: CodingKeys.self, forKey: .nested)
            switch payload {
            case .first(let value): try nested.encode(value, forKey: .payload)
            case .text(let value): try nested.encode(value, forKey: .payload)
            }
        }
    }

    /// Writes its payloads into one array.
    private struct Row<First: Codable & Equatable & Sendable>: Codable, Equatable {
        let payloads: [Payload<First>]

        init(_ payloads: [Payload<First>]) { self.payloads = payloads }
        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            var payloads: [Payload<First>] = []
            while !container.isAtEnd {
                if let first = try? container.decode(First.self) {
                    payloads.append(.first(first))
                } else {
                    payloads.append(.text(try container.decode(String.self)))
                }
            }
            self.payloads = payloads
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            for payload in payloads {
                switch payload {
                case .first(let value): try container.encode(value)
                case .text(let value): try container.encode(value)
                }
            }
        }
    }

    private func expectRefusal<First: Codable & Equatable & Sendable>(
        of text: String, after first: First, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        func expect<Value: Codable & Equatable & Sendable>(_ safe: Value, _ ambiguous: Value) {
            for _ in 0..<2 {
                #expect(Self.outcome(of: safe) == .same, sourceLocation: sourceLocation)
                #expect(Self.outcome(of: ambiguous) == .refused, sourceLocation: sourceLocation)
                #expect(Self.outcome(of: [ambiguous]) == .refused, sourceLocation: sourceLocation)
            }
        }
        expect(Cell(.first(first), before: first), Cell(.text(text), before: first))
        expect(Nested(.first(first)), Nested(.text(text)))
        expect(Row([.first(first)]), Row([.text(text)]))
        expect(Row([.first(first), .first(first)]), Row([.first(first), .text(text)]))
        #expect(Self.outcome(of: Cell<First>(.text("*"), before: first)) == .same, sourceLocation: sourceLocation)
    }

    @Test func textThatReadsAsANumberIsRefusedAfterTheNumberWasSaved() {
        expectRefusal(of: "12", after: Decimal(12))
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            expectRefusal(of: "12", after: Int128(12))
            expectRefusal(of: "12", after: UInt128(12))
        }
    }

    private struct Words: Codable, Equatable {
        var payload: Payload<URL>
        enum CodingKeys: CodingKey { case payload }

        init(_ payload: Payload<URL>) { self.payload = payload }
        /// Checks the text itself, so no read fails before one succeeds.
        init(from decoder: any Decoder) throws {
            let text = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .payload)
            payload = if text.hasPrefix("http"), let url = URL(string: text) { .first(url) } else { .text(text) }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            switch payload {
            case .first(let value): try container.encode(value, forKey: .payload)
            case .text(let value): try container.encode(value, forKey: .payload)
            }
        }
    }

    @Test func aTypeThatWritesTwoTypesInOnePlaceIsCheckedAtEachSave() {
        let link = Words(.first(URL(string: "http://example.com")!))
        for _ in 0..<2 {
            #expect(Self.outcome(of: link) == .same)
            #expect(Self.outcome(of: Words(.text("example"))) == .same)
            #expect(Self.outcome(of: Words(.text("http://example.com"))) == .refused)
        }
    }

    private class Animal: Codable, Equatable, @unchecked Sendable {
        let name: String
        init(name: String) { self.name = name }
        func isEqual(to other: Animal) -> Bool { type(of: self) == type(of: other) && name == other.name }
        static func == (one: Animal, other: Animal) -> Bool { one.isEqual(to: other) }
    }

    private final class Cow: Animal, @unchecked Sendable {
        let milk: Int
        enum CodingKeys: CodingKey { case milk }
        init(milk: Int) {
            self.milk = milk
            super.init(name: "cow")
        }
        required init(from decoder: any Decoder) throws {
            milk = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .milk)
            try super.init(from: decoder)
        }
        override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(milk, forKey: .milk)
        }
        override func isEqual(to other: Animal) -> Bool {
            super.isEqual(to: other) && milk == (other as? Cow)?.milk
        }
    }

    @Test func aSubclassIsRefusedWhereItsSuperclassIsRead() {
        for _ in 0..<2 {
            #expect(Self.outcome(of: Animal(name: "a")) == .same)
            #expect(Self.outcome(of: Cow(milk: 1) as Animal) == .refused)
            #expect(Self.outcome(of: Cow(milk: 1)) == .same)
        }
    }

    /// Tries the string only where a number is a mismatch.
    private enum StringOrInt: Codable, Equatable {
        case text(String)
        case number(Int)
        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            do {
                self = .number(try container.decode(Int.self))
            } catch DecodingError.typeMismatch {
                self = .text(try container.decode(String.self))
            }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let value): try container.encode(value)
            case .number(let value): try container.encode(value)
            }
        }
    }

    @Test(arguments: ["$null", "$$null", "null"]) func textThatLooksLikeNilIsNotAMissingValue(text: String) {
        #expect(Self.outcome(of: StringOrInt.text(text)) == .same)
        #expect(Self.outcome(of: [StringOrInt.text(text), .number(1)]) == .same)
        #expect(Self.outcome(of: ["a": StringOrInt.text(text)]) == .same)
    }

    /// Reads its number as a type that it never gets.
    private struct ByHand: DefaultConvertible, Equatable {
        static let key = "by-hand"
        var share: Float?
        init(_ share: Float?) { self.share = share }
        init?(_ object: Any) { share = (object as? [String: Any])?["share"] as? Float }
        func serialize() -> Any { share.map { ["share": $0] } ?? [:] }
    }

    @Test func aHandWrittenConversionIsCheckedInEachShape() throws {
        let suite = DefaultsSuite.inMemory()
        let stores = [PersistentStore<ByHand>(in: suite), PersistentStore<ByHand>(in: suite)]
        for store in stores {
            try store.save(ByHand(nil))
            let error = #expect(throws: DefaultsError.self) { try store.save(ByHand(0.5)) }
            #expect(error?.kind == .refused)
            #expect(try store.load() == ByHand(nil))
        }
    }

    /// Writes a number that it reads as 0.
    private struct HalfByHand: DefaultConvertible, Equatable {
        static let key = "half-by-hand"
        var first: Int
        var second: Int
        init(_ first: Int, _ second: Int) { (self.first, self.second) = (first, second) }
        init?(_ object: Any) {
            guard let first = (object as? [String: Any])?["first"] as? Int else { return nil }
            self.init(first, 0)
        }
        func serialize() -> Any { ["first": first, "second": second] }
    }

    @Test func anEntryThatIsNotReadByHandIsRefusedAfterItsConstantWasSaved() throws {
        let store = PersistentStore<HalfByHand>(in: .inMemory())
        try store.save(HalfByHand(1, 0))
        try store.save(HalfByHand(2, 0))
        let error = #expect(throws: DefaultsError.self) { try store.save(HalfByHand(2, 5)) }
        #expect(error?.kind == .refused)
        #expect(error?.path == ["second"])
        #expect(try store.load() == HalfByHand(2, 0))
    }

    /// Reads all that it writes, with 0 for a missing number.
    private struct WholeByHand: DefaultConvertible, Equatable {
        static let key = "whole-by-hand"
        static let decoded = Guarded(0)
        var first: Int
        var second: Int
        init(_ first: Int, _ second: Int) { (self.first, self.second) = (first, second) }
        init?(_ object: Any) {
            Self.decoded.withLock { $0 += 1 }
            guard let entries = object as? [String: Any] else { return nil }
            self.init(entries["first"] as? Int ?? 0, entries["second"] as? Int ?? 0)
        }
        func serialize() -> Any { ["first": first, "second": second] }
    }

    @Test func aHandWrittenConversionIsTrustedOnceAllItsEntriesWereRead() throws {
        let store = PersistentStore<WholeByHand>(in: .inMemory())
        for value in [WholeByHand(0, 0), WholeByHand(1, 0), WholeByHand(0, 1)] {
            try store.save(value)
            #expect(store.get() == value)
        }
        let decoded = WholeByHand.decoded.withLock { $0 }
        for number in 0..<10 { try store.save(WholeByHand(number, 0)) }
        #expect(WholeByHand.decoded.withLock { $0 } == decoded)
    }

    private struct Config: Codable, Equatable {
        static let decoded = Guarded(0)
        var name: String?
        var count: Int?
        var sizes: [String: Double] = [:]
        var pairs: [Shape: Int] = [:]
        enum Shape: Codable, Hashable {
            case circle(Int)
            case square
        }

        init(name: String?, count: Int?, sizes: [String: Double], pairs: [Shape: Int]) {
            (self.name, self.count, self.sizes, self.pairs) = (name, count, sizes, pairs)
        }
        init(from decoder: any Decoder) throws {
            Self.decoded.withLock { $0 += 1 }
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decodeIfPresent(String.self, forKey: .name)
            count = try container.decodeIfPresent(Int.self, forKey: .count)
            sizes = try container.decode([String: Double].self, forKey: .sizes)
            pairs = try container.decode([Shape: Int].self, forKey: .pairs)
        }
    }

    @Test func eachFormOfATypeIsReadBackOnlyOnce() {
        let store = UserDefault(DefaultKey<Config?>("value", default: nil), in: .inMemory()).store
        func save(_ number: Int) {
            let sizes = Dictionary(uniqueKeysWithValues: (0..<number % 7).map { ("\($0)", Double($0)) })
            let pairs: [Config.Shape: Int] = number % 3 == 0 ? [.circle(number): 1, .square: 2] : [.square: number]
            store.set(
                Config(
                    name: number % 2 == 0 ? nil : "a", count: number % 5 == 0 ? nil : number, sizes: sizes,
                    pairs: pairs))
        }
        for number in 0..<210 { save(number) }
        let decoded = Config.decoded.withLock { $0 }
        for number in 0..<210 { save(number) }
        #expect(Config.decoded.withLock { $0 } == decoded)
    }

    /// Writes a second text under some conditions, and never reads it.
    private struct Titled: Codable, Equatable {
        var name: String
        var title: String?
        init(_ name: String, title: String?) { (self.name, self.title) = (name, title) }
        init(from decoder: any Decoder) throws {
            name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
        }
    }

    @Test func aPropertyThatIsNotReadIsRefusedAfterOthersOfItsTypeWereSaved() {
        #expect(Self.outcome(of: Titled("a", title: nil)) == .same)
        #expect(Self.outcome(of: Titled("a", title: "b")) == .refused)
        #expect(Self.outcome(of: [[Titled("a", title: nil)]]) == .same)
        #expect(Self.outcome(of: [[Titled("a", title: "b")]]) == .refused)
    }

    /// Writes the side of a square under a name that it does not read.
    private enum Drawing: Codable, Equatable {
        case circle(Int)
        case square(Int)
        enum CodingKeys: CodingKey { case radius, side, length }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            if let radius = try container.decodeIfPresent(Int.self, forKey: .radius) {
                self = .circle(radius)
            } else {
                self = .square(try container.decode(Int.self, forKey: .length))
            }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            switch self {
            case .circle(let radius): try container.encode(radius, forKey: .radius)
            case .square(let side): try container.encode(side, forKey: .side)
            }
        }
    }

    @Test func aCaseThatCannotBeReadIsRefusedAfterAnotherCaseWasSaved() {
        #expect(Self.outcome(of: Drawing.circle(1)) == .same)
        #expect(Self.outcome(of: Drawing.square(1)) == .refused)
    }

    /// Writes its parts into containers of their own, and never reads the second one.
    private struct Parts: Codable, Equatable {
        var first: Int?
        var second: Int?
        enum CodingKeys: CodingKey { case first, second, value }

        init(first: Int?, second: Int?) { (self.first, self.second) = (first, second) }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            guard container.contains(.first) else { return }
            first = try container.nestedContainer(keyedBy: CodingKeys.self, forKey: .first)
                .decode(Int.self, forKey: .value)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            for (key, part) in [(CodingKeys.first, first), (.second, second)] {
                guard let part else { continue }
                var nested = container.nestedContainer(keyedBy: CodingKeys.self, forKey: key)
                try nested.encode(part, forKey: .value)
            }
        }
    }

    @Test func aContainerThatIsNotReadIsRefusedAfterAnotherOneWasSaved() {
        #expect(Self.outcome(of: Parts(first: 1, second: nil)) == .same)
        #expect(Self.outcome(of: Parts(first: nil, second: 2)) == .refused)
        #expect(Self.outcome(of: Parts(first: 1, second: 2)) == .refused)
    }

    /// Writes a property that it does not read, and reads as 0.
    private struct Half: Codable, Equatable {
        var first: Int
        var second: Int
        init(_ first: Int, _ second: Int) { (self.first, self.second) = (first, second) }
        init(from decoder: any Decoder) throws {
            first = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .first)
            second = 0
        }
    }
    private struct Holder: Codable, Equatable { var half: Half }

    @Test func aPropertyThatIsNotReadIsRefusedAfterItsConstantWasSaved() {
        #expect(Self.outcome(of: [Half(1, 0)]) == .same)
        #expect(Self.outcome(of: [Half(2, 0), Half(1, 5)]) == .refused)
        #expect(Self.outcome(of: Holder(half: Half(1, 0))) == .same)
        #expect(Self.outcome(of: Holder(half: Half(1, 5))) == .refused)
        #expect(Self.outcome(of: Half(1, 5)) == .refused)
        #expect(Self.outcome(of: Half(1, 0)) == .same)
    }

    private struct Sparse: Codable, Equatable {
        static let decoded = Guarded(0)
        var numbers: [Int?]
        enum CodingKeys: CodingKey, CaseIterable { case a, b, c, d, e, f, g, h }

        /// Has the numbers whose bits are set.
        init(_ bits: Int) { numbers = (0..<8).map { bits & (1 << $0) != 0 ? $0 : nil } }
        init(from decoder: any Decoder) throws {
            Self.decoded.withLock { $0 += 1 }
            let container = try decoder.container(keyedBy: CodingKeys.self)
            numbers = try CodingKeys.allCases.map { try container.decodeIfPresent(Int.self, forKey: $0) }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            for (key, number) in zip(CodingKeys.allCases, numbers) {
                try container.encodeIfPresent(number, forKey: key)
            }
        }
    }

    @Test func eachCombinationOfOptionalPropertiesIsReadBackOnlyOnce() throws {
        let store = UserDefault(DefaultKey<Sparse?>("value", default: nil), in: .inMemory()).store
        for bits in 0..<256 { try store.save(Sparse(bits)) }
        let decoded = Sparse.decoded.withLock { $0 }
        for bits in 0..<256 { try store.save(Sparse(bits)) }
        #expect(Sparse.decoded.withLock { $0 } == decoded)
    }
}
