import Foundation
import TestSupport
import Testing
import TypedDefaults

/// A type may change its value when it decodes it.
struct NormalizingTypesTests {
    private typealias Outcome<Value> = Result<Value?, DefaultsError>

    private static func save<Value: Codable & Sendable>(_ value: Value, isJSON: Bool = false) -> Outcome<Value> {
        let suite = DefaultsSuite.inMemory()
        suite.onFailure = { _ in }
        let key = isJSON ? DefaultKey("value", default: value, form: .jsonData) : DefaultKey("value", default: value)
        return save(value, in: UserDefault(key, in: suite).store)
    }

    private static func save<Value: DefaultConvertible>(byHand value: Value) -> Outcome<Value> {
        save(value, in: PersistentStore<Value>(in: .inMemory()))
    }

    private static func save<Value: Sendable>(
        _ value: Value, in store: some DefaultStoreType<Value>
    ) -> Outcome<Value> {
        do {
            try store.save(value)
            return .success(store.get())
        } catch {
            return .failure(error as! DefaultsError)
        }
    }

    private struct Clamping: Codable, Equatable {
        var volume: Int
        var names: [String] = []
        init(volume: Int, names: [String] = []) { (self.volume, self.names) = (volume, names) }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            volume = min(try container.decode(Int.self, forKey: .volume), 10)
            // Sorted, without duplicates, at most three.
            names = Array(Set(try container.decode([String].self, forKey: .names)).sorted().prefix(3))
        }
    }

    @Test(arguments: [false, true]) func getReturnsWhatTheDecodingMakesOfAValue(isJSON: Bool) throws {
        let value = Clamping(volume: 50, names: ["d", "b", "b", "c", "a"])
        let normal = Clamping(volume: 10, names: ["a", "b", "c"])
        #expect(try Self.save(value, isJSON: isJSON).get() == normal)
        #expect(try Self.save([value], isJSON: isJSON).get() == [normal])
        #expect(try Self.save(["key": value], isJSON: isJSON).get() == ["key": normal])
        #expect(try Self.save(normal, isJSON: isJSON).get() == normal)
    }

    @Test func observersReceiveWhatGetReturns() throws {
        let setting = UserDefault(DefaultKey("clamping", default: Clamping(volume: 1)), in: .inMemory())
        let received = Heard { note in setting.observe { note($0.newValue?.volume ?? -1) } }
        setting.value = Clamping(volume: 50)
        received.cancel()
        #expect(setting.value.volume == 10)
        #expect(received.all == [10])
    }

    /// Writes the time of the write.
    private struct Stamped: Codable, Equatable {
        var number: Int
        enum CodingKeys: CodingKey { case number, savedAt }
        init(_ number: Int) { self.number = number }
        init(from decoder: any Decoder) throws {
            number = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .number)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(number, forKey: .number)
            try container.encode(UUID().uuidString, forKey: .savedAt)
        }
    }

    @Test(arguments: [false, true]) func aTimeStampThatEncodeWritesCanBeSaved(isJSON: Bool) throws {
        #expect(try Self.save(Stamped(1), isJSON: isJSON).get() == Stamped(1))
        #expect(try Self.save([Stamped(1), Stamped(2)], isJSON: isJSON).get() == [Stamped(1), Stamped(2)])
        #expect(try Self.save(["a": Stamped(1)], isJSON: isJSON).get() == ["a": Stamped(1)])
    }

    /// Does both in a conversion of its own.
    private struct ByHand: DefaultConvertible, Equatable {
        static let key = "byHand"
        var volume: Float
        init(volume: Float) { self.volume = volume }
        init?(_ object: Any) {
            guard let volume = (object as? [String: Any])?["volume"] as? Double else { return nil }
            self.volume = min(Float(volume), 10)
        }
        func serialize() -> Any { ["volume": volume, "stamp": UUID().uuidString] as [String: Any] }
    }

    @Test func aHandWrittenTypeMayChangeItsValueAndWriteATimeStamp() throws {
        #expect(try Self.save(byHand: ByHand(volume: 50)).get() == ByHand(volume: 10))
    }

    @Test func aTypeThatTriesAFloatFirstKeepsNaNsApart() {
        let setting = UserDefault(
            DefaultKey("value", default: HandWritten.Either<Float, Double>.second(0)), in: .inMemory())
        setting.value = .first(.nan)
        if case .first(let value) = setting.value { #expect(value.isNaN) } else { Issue.record("a Double") }
        setting.value = .second(Double(bitPattern: 0x7FF8_0000_0000_0001))
        if case .first = setting.value { Issue.record("a Float") }
    }
}
