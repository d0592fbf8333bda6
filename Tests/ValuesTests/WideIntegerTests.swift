import Foundation
import TestSupport
import Testing
import TypedDefaults

/// `Int128` and `UInt128`, which no property list holds as numbers.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private struct Wide: Codable, Hashable, Sendable {
    var signed: Int128
    var unsigned: UInt128?
    var list: [Int128] = []
    var entries: [String: UInt128?] = [:]
    var nested: HandWritten.Nullable<Int128> = .init(value: nil)
}

/// Writes wide integers into containers of each kind by hand.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private struct WidePair: Codable, Equatable {
    var signed: Int128
    var unsigned: UInt128

    init(signed: Int128, unsigned: UInt128) { (self.signed, self.unsigned) = (signed, unsigned) }
    init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        signed = try list.decode(Int128.self)
        unsigned = try list.decode(UInt128.self)
    }
    func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        try list.encode(signed)
        try list.encode(unsigned)
    }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private enum WideEither: Codable, Equatable {
    case signed(Int128)
    case unsigned(UInt128)

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Int128.self) {
            self = .signed(value)
        } else {
            self = .unsigned(try container.decode(UInt128.self))
        }
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .signed(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        }
    }
}

struct WideIntegerTests {
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func containersWrittenByHandHoldWideIntegersAsDigits() throws {
        let pair = WidePair(signed: .min, unsigned: .max)
        let stored = try PropertyList(encoding: pair)
        #expect(stored == .array([.string("\(Int128.min)"), .string("\(UInt128.max)")]))
        #expect(try stored.decode(WidePair.self) == pair)
        #expect(throws: DecodingError.self) { try PropertyList.array(["1", "-1"]).decode(WidePair.self) }
        for value in [WideEither.signed(-1), .signed(.max), .unsigned(.max)] {
            let stored = try PropertyList(encoding: value)
            #expect(try stored.decode(WideEither.self) == value)
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func wideIntegersAreStoredAsDigits() throws {
        let values: [Wide] = [
            Wide(signed: 0),
            Wide(signed: .max, unsigned: .max, list: [.min, -1, 0, 5], entries: ["a": .max, "b": nil]),
            Wide(signed: .min, unsigned: 0, nested: .init(value: .min)),
        ]
        for value in values {
            let stored = try PropertyList(encoding: value)
            #expect(try stored.decode(Wide.self) == value)
            #expect(try JSONDecoder().decode(Wide.self, from: JSONEncoder().encode(value)) == value)
            let setting = UserDefault(DefaultKey("wide", default: Wide(signed: 1)), in: .inMemory())
            setting.value = value
            #expect(setting.value == value)
            let json = UserDefault(DefaultKey("wide", default: Wide(signed: 1), form: .jsonData), in: .inMemory())
            json.value = value
            #expect(json.value == value)
        }
        #expect(try PropertyList(encoding: Int128.min) == .string("\(Int128.min)"))
        #expect(try PropertyList(encoding: [UInt128(5)]) == ["5"])
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func wideIntegersAreAValueOfTheirOwn() {
        let suite = DefaultsSuite.inMemory(["number": 5, "double": 2.0, "padded": "007", "text": "x"])
        #expect(suite[DefaultKey("number", default: Int128(0))] == 5)
        #expect(suite[DefaultKey("double", default: UInt128(0))] == 2)
        let failures = Failures(of: suite)
        suite[DefaultKey<PropertyList?>("other")] = true
        suite[DefaultKey<PropertyList?>("negative")] = -5
        suite[DefaultKey<PropertyList?>("fraction")] = 2.5
        for name in ["other", "negative", "fraction"] {
            #expect(throws: DefaultsError.self, "\(name)") {
                try UserDefault(DefaultKey(name, default: UInt128(1)), in: suite).store.load()
            }
        }
        #expect(suite[DefaultKey("padded", default: Int128(1))] == 1)
        #expect(suite[DefaultKey("text", default: Int128(1))] == 1)
        #expect(failures.kinds == [.unreadable, .unreadable])
        suite[DefaultKey("new", default: Int128(0))] = .max
        #expect(suite[DefaultKey("new", default: Int128(0))] == .max)
        suite[DefaultKey<UInt128?>("optional")] = .max
        #expect(suite[DefaultKey<UInt128?>("optional")] == .max)
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func aTypeThatTriesAWideIntegerFirstKeepsNumbersApart() {
        let key = DefaultKey("value", default: HandWritten.Either<Int128, Int>.second(0))
        let setting = UserDefault(key, in: .inMemory())
        for value in [HandWritten.Either<Int128, Int>.first(5), .second(5), .first(.max)] {
            setting.value = value
            #expect(setting.value == value)
        }
    }
}
