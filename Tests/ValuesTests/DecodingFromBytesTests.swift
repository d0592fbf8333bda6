import Foundation
import SettingsFile
import TestSupport
import Testing

@testable import TypedDefaults

/// Decoding stored bytes gives the same values and errors as decoding the tree of the bytes.
struct DecodingFromBytesTests {
    private enum Name: String, CodingKey, CaseIterable, Codable, CodingKeyRepresentable {
        case a, b, count, tags, `super`
        case kelvin = "K"
        case composed = "caf\u{E9}"
        case decomposed = "cafe\u{301}"

        /// Equal to "K" as a string, with different bytes.
        static let kelvinSign = "\u{212A}"
    }

    /// Records what a ``Reader`` finds. The reader makes the same choices for the same seed.
    private final class Reading: @unchecked Sendable {
        var generator: SeededGenerator
        private(set) var notes: [String] = []
        static let key = CodingUserInfoKey(rawValue: "reading")!

        init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

        func random(_ range: Range<Int>) -> Int { .random(in: range, using: &generator) }

        func note<Result>(_ body: () throws -> Result) {
            do {
                let result = try body()
                notes.append((result as? Date).map { "\($0.timeIntervalSinceReferenceDate)" } ?? "\(result)")
            } catch {
                notes.append("\(error)")
            }
        }

        /// Records entries in the order of their keys, and no error: which of several faulty
        /// entries is read first depends on the order of a tree.
        func noteUnordered<Key: Comparable, Value>(_ body: () throws -> [Key: Value]) {
            note { (try? body()).map { $0.sorted { $0.key < $1.key } } }
        }
    }

    private struct Reader: Decodable, CustomStringConvertible {
        var description: String { "Reader" }

        init(from decoder: any Decoder) throws {
            let reading = decoder.userInfo[Reading.key] as! Reading
            for _ in 0..<reading.random(1..<3) {
                switch reading.random(0..<8) {
                case 0..<3:
                    try Self.read(decoder.container(keyedBy: Name.self), reading) {
                        Name.allCases.randomElement(using: &$0)
                    }
                case 3, 4:
                    try Self.read(decoder.container(keyedBy: AnyKey.self), reading) { generator in
                        ([Name.kelvinSign] + Name.allCases.map(\.rawValue)).randomElement(using: &generator)
                            .map(AnyKey.init)
                    }
                case 5, 6: try Self.read(decoder.unkeyedContainer(), reading)
                default: try Self.read(decoder.singleValueContainer(), reading)
                }
            }
        }

        private static func read<Key: CodingKey>(
            _ container: KeyedDecodingContainer<Key>, _ reading: Reading, _ pick: (inout SeededGenerator) -> Key?
        ) {
            reading.note { container.allKeys.map(\.stringValue).sorted() }
            reading.note { container.codingPath.map(\.stringValue) }
            for _ in 0..<reading.random(0..<12) {
                let key = pick(&reading.generator)!
                switch reading.random(0..<26) {
                case 0: reading.note { container.contains(key) }
                case 1: reading.note { try container.decodeNil(forKey: key) }
                case 2: reading.note { try container.decode(Bool.self, forKey: key) }
                case 3: reading.note { try container.decode(Int.self, forKey: key) }
                case 4: reading.note { try container.decode(UInt8.self, forKey: key) }
                case 5: reading.note { try container.decode(UInt64.self, forKey: key) }
                case 6: reading.note { try container.decode(Double.self, forKey: key) }
                case 7: reading.note { try container.decode(Float.self, forKey: key) }
                case 8: reading.note { try container.decode(String.self, forKey: key) }
                case 9: reading.note { try container.decode(Data.self, forKey: key) }
                case 10: reading.note { try container.decode(Date.self, forKey: key) }
                case 11: reading.note { try container.decode(URL.self, forKey: key) }
                case 12: reading.note { try container.decode(Decimal.self, forKey: key) }
                case 13: reading.note { try container.decodeIfPresent(Int.self, forKey: key) }
                case 14: reading.note { try container.decodeIfPresent(String?.self, forKey: key) }
                case 15: reading.note { try container.decode(Name.self, forKey: key) }
                case 16: reading.note { try container.decode([Int?].self, forKey: key) }
                case 17: reading.noteUnordered { try container.decode([String: Int].self, forKey: key) }
                case 18:
                    reading.note { try? container.decode([Name: Bool].self, forKey: key).keys.map(\.rawValue).sorted() }
                case 19: reading.note { read(try container.nestedUnkeyedContainer(forKey: key), reading) }
                case 20: reading.note { try Reader(from: container.superDecoder(forKey: key)) }
                case 23:
                    reading.note { read(try container.nestedContainer(keyedBy: Key.self, forKey: key), reading, pick) }
                case 24: reading.note { try container.decodeIfPresent(Bool.self, forKey: key) }
                case 21: reading.note { try Reader(from: container.superDecoder()) }
                case 22: reading.note { try container.decodeIfPresent(Reader.self, forKey: key) }
                default: reading.note { try container.decode(Reader.self, forKey: key) }
                }
            }
        }

        private static func read(_ container: consuming any UnkeyedDecodingContainer, _ reading: Reading) {
            var container = container
            for _ in 0..<reading.random(0..<10) {
                reading.note { "\(container.currentIndex) of \(container.count ?? -1), \(container.isAtEnd)" }
                switch reading.random(0..<12) {
                case 0: reading.note { try container.decodeNil() }
                case 1: reading.note { try container.decode(Bool.self) }
                case 2: reading.note { try container.decode(Int.self) }
                case 3: reading.note { try container.decode(Double.self) }
                case 4: reading.note { try container.decode(String.self) }
                case 5: reading.note { try container.decode(Decimal.self) }
                case 6: reading.note { try container.decodeIfPresent(String.self) }
                case 7: reading.note { read(try container.nestedUnkeyedContainer(), reading) }
                case 8: reading.note { try Reader(from: container.superDecoder()) }
                case 9: reading.note { try container.decode([Reader].self) }
                case 10:
                    reading.note {
                        let nested = try container.nestedContainer(keyedBy: Name.self)
                        read(nested, reading) { Name.allCases.randomElement(using: &$0) }
                    }
                default: reading.note { try container.decode(Reader.self) }
                }
            }
        }

        private static func read(_ container: any SingleValueDecodingContainer, _ reading: Reading) {
            reading.note { container.decodeNil() }
            reading.note { try container.decode(Int?.self) }
            reading.note { try container.decode(String.self) }
            reading.note { try container.decode(URL.self) }
            reading.note { try container.decode(Date.self) }
            reading.note { try container.decode(Reader.self) }
        }
    }

    /// A tree with the names that the reader asks for.
    private func tree(depth: Int = 4, using generator: inout SeededGenerator) -> PropertyList {
        switch Int.random(in: 0..<(depth > 1 ? 6 : 1), using: &generator) {
        case 0: return .random(depth: 1, using: &generator)
        case 1:
            let count = Int.random(in: 0...4, using: &generator)
            return .array((0..<count).map { _ in tree(depth: depth - 1, using: &generator) })
        default:
            var entries: [String: PropertyList] = [:]
            for name in [Name.kelvinSign] + Name.allCases.map(\.rawValue) where Bool.random(using: &generator) {
                entries[name] = tree(depth: depth - 1, using: &generator)
            }
            if Int.random(in: 0..<8, using: &generator) == 0 {
                for number in 0..<40 { entries["key \(number)"] = .integer(.init(number)) }
            }
            return .dictionary(entries)
        }
    }

    private func bytes(_ tree: PropertyList) -> [UInt8] {
        var writer = ByteWriter(capacity: 64)
        writer.append(tree)
        return writer.withBytes { Array($0) }
    }

    @Test func bytesAndTreesAreReadAlike() throws {
        for seed in 0..<1_000 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let encoded = try PropertyList(encoding: [RandomCalls(seed: seed, isDefined: true)])
            let tree = seed % 4 == 0 ? encoded : tree(using: &generator)
            func read(_ stored: StoredValue) -> [String] {
                let reading = Reading(seed: seed)
                let log = DecodingLog()
                let rules = DecodingRules(
                    leniency: seed % 2 == 0 ? .none : .all, isWholeSetting: seed % 3 == 0,
                    userInfo: [Reading.key: reading])
                if seed % 3 == 0 {
                    reading.note { try StoredValueDecoder.decode(Reader?.self, from: stored, rules, log) }
                } else {
                    reading.note { try StoredValueDecoder.decode(Reader.self, from: stored, rules, log) }
                }
                reading.note { log.unknown.map { "\($0.key) \($0.value.sorted())" }.sorted() }
                return reading.notes
            }
            let (notes, expected) = (read(.bytes(bytes(tree))), read(.tree(tree)))
            #expect(notes == expected, "seed \(seed)")
        }
    }

    /// Reading a value of a settings file creates no tree of it.
    @Test func aFileReturnsTheBytesOfACollection() throws {
        let backend = FileBackend(path: try makeFile().path)
        func isBytes(_ value: PropertyList) throws -> Bool {
            try backend.beginWrite()
            defer { backend.endWrite() }
            try backend.commit([("key", value)])
            let stored = try #require(try backend.storedValue(forKey: "key"))
            #expect(stored.tree == value)
            return if case .bytes = stored { true } else { false }
        }
        #expect(try isBytes(["a": 1, "b": ["x", .string(Samples.composed)], "c": ["d": true]]))
        #expect(try isBytes([1, 2.5, ["a": "b"]]))
        #expect(try isBytes(.nested(PropertyList.depthLimit)))
        // Without a dictionary to search, or with one where a search would be slow or wrong.
        #expect(try !isBytes(5))
        #expect(try !isBytes("text"))
        #expect(try !isBytes(.dictionary(Dictionary(uniqueKeysWithValues: (0..<40).map { ("\($0)", 1) }))))
        #expect(try !isBytes([.dictionary([Samples.composed: 1])]))
        #expect(try !isBytes(.array(Array(repeating: true, count: 1_025))))
    }

    /// Bytes that are not a value, or in which a key occurs twice, are never searched.
    @Test func invalidBytesAreNotSearched() {
        func isSearchable(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes(ByteReader.isSearchable) }
        #expect(isSearchable([9, 2, 1, 97, 0, 1, 98, 0]))
        #expect(!isSearchable([9, 2, 1, 97, 0, 1, 97, 1]))
        #expect(!isSearchable([9, 1, 1, 97, 6, 1, 0xFF]))
        #expect(!isSearchable([8, 0, 0]))
        #expect(!isSearchable([]))
        #expect(!isSearchable(Array(repeating: [8, 1], count: PropertyList.depthLimit).joined() + [8, 0]))
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<3_000 {
            var bytes = bytes(tree(using: &generator))
            if Bool.random(using: &generator) { bytes.removeLast(Int.random(in: 0...bytes.count, using: &generator)) }
            for _ in 0..<Int.random(in: 0...2, using: &generator) where !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            if isSearchable(bytes) { #expect(bytes.withUnsafeBytes(ByteReader.wholeValue) != nil, "\(bytes)") }
        }
    }
}
