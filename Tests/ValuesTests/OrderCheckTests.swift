import Foundation
import Testing
import TypedDefaults

/// Values that are written in the order in memory, and keys that differ only in their bytes.
struct OrderCheckTests {
    private static func save<Value: Codable & Sendable>(
        _ value: Value, isJSON: Bool = false
    ) -> Result<Value?, any Error> {
        let suite = DefaultsSuite.inMemory()
        suite.onFailure = { _ in }
        let key = isJSON ? DefaultKey("value", default: value, form: .jsonData) : DefaultKey("value", default: value)
        let store = UserDefault(key, in: suite).store
        return Result {
            try store.save(value)
            return try store.load()
        }
    }

    /// Writes its set as an array, in the order in memory.
    private struct Tags: Codable {
        var names: Set<Int>
        enum CodingKeys: CodingKey { case names }
        init(_ names: Set<Int>) { self.names = names }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            names = Set(try container.decode([Int].self, forKey: .names))
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(Array(names), forKey: .names)
        }
    }

    @Test(arguments: [2, 3, 100]) func aSetThatIsWrittenAsAnArrayIsSaved(count: Int) throws {
        let names = Set(0..<count)
        #expect(try Self.save(Tags(names)).get()?.names == names)
        #expect(try Self.save(Tags(names), isJSON: true).get()?.names == names)
    }

    /// A keyed container whose keys are equal as strings, but not byte by byte.
    private struct TwoForms<Key: CodingKey>: Codable {
        var values: [Int]
        var isNested = false
        static var names: [String] { ["\u{E9}", "e\u{301}"] }
        init(_ values: [Int], isNested: Bool = false) { (self.values, self.isNested) = (values, isNested) }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            values = try Self.names.map { try container.decode(Int.self, forKey: Key(stringValue: $0)!) }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            for (name, value) in zip(Self.names, values) {
                if isNested {
                    var nested = container.nestedUnkeyedContainer(forKey: Key(stringValue: name)!)
                    try nested.encode(value)
                } else {
                    try container.encode(value, forKey: Key(stringValue: name)!)
                }
            }
        }
    }
    @Test func keysThatDifferOnlyInTheirBytesAreRefused() throws {
        for isNested in [false, true] {
            let value = TwoForms<AnyKey>([1, 2], isNested: isNested)
            let error = #expect(throws: DefaultsError.self) { try Self.save(value).get() }
            #expect(error?.kind == .refused)
            #expect(error?.reason.contains("Unicode") == true)
            #expect(throws: EncodingError.self) { try PropertyList(encoding: value) }
        }
    }
}
