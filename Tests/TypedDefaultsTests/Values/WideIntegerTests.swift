import Foundation
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

struct WideIntegerTests {
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
