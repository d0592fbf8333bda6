import Foundation
import TestSupport
import Testing
import TypedDefaults

/// Values read back as they were stored. Foundation's coders determine what to expect: a value that
/// survives `JSONEncoder` and `PropertyListEncoder` must read back.
struct FoundationOracleTests {
    private enum Outcome: Equatable { case same, refused, changed }

    /// The result of storing the value and reading it back.
    private static func outcome<Value: Codable & Hashable & Sendable>(of value: Value) -> Outcome {
        let suite = DefaultsSuite.inMemory()
        suite.onFailure = { _ in }
        let store = UserDefault(DefaultKey<Value?>("value", default: nil), in: suite).store
        do {
            try store.save(value)
        } catch {
            return (error as? DefaultsError)?.kind == .refused ? .refused : .changed
        }
        return (try? store.load()) == .some(value) ? .same : .changed
    }

    private static func isGivenBackByFoundation<Value: Codable & Hashable>(_ value: Value) -> Bool {
        let json = try? JSONDecoder().decode([Value].self, from: JSONEncoder().encode([value]))
        let list = try? PropertyListDecoder().decode([Value].self, from: PropertyListEncoder().encode([value]))
        return json == [value] && list == [value]
    }

    /// The number of random trees to compare. `TYPED_DEFAULTS_TREES=100000` compares all of them.
    private static let count = ProcessInfo.processInfo.environment["TYPED_DEFAULTS_TREES"].flatMap(UInt64.init) ?? 3000

    @Test func randomTreesComeBackOrAreRefused() {
        var (same, refused, changed, wrong) = (0, 0, 0, 0)
        for seed in 0..<Self.count {
            var generator = SeededGenerator(seed: seed)
            let tree = CodableTree.random(using: &generator)
            switch Self.outcome(of: tree) {
            case .same: same += 1
            case .refused where !Self.isGivenBackByFoundation(tree): refused += 1
            case .changed where !Self.isGivenBackByFoundation(tree): changed += 1
            default:
                wrong += 1
                if wrong <= 3 { Issue.record("seed \(seed): \(tree)") }
            }
        }
        print("trees: \(Self.count), the same: \(same), refused: \(refused), changed: \(changed), wrong: \(wrong)")
        #expect(wrong == 0)
        // The trees contain some values that do not survive JSON either.
        #expect(same > 0 && changed > 0)
    }

    @Test func zeroAndOneOfAnUntypedTreeStayNumbers() {
        typealias Value = HandWritten.JSONValue
        let values: [Value] = [
            .string("first"), .integer(0), .integer(1), .integer(2), .bool(false), .bool(true), .double(0), .double(1),
            .double(2), .double(0.5), .string("1"), .string("$null"), .null, .array([.integer(1), .bool(true), .null]),
            .dictionary(["count": .integer(1), "zero": .integer(0), "none": .null]),
        ]
        for value in values {
            #expect(Self.outcome(of: value) == .same, "\(value)")
            #expect(Self.outcome(of: [value]) == .same, "\(value)")
            #expect(Self.outcome(of: ["a": value]) == .same, "\(value)")
            #expect(Self.outcome(of: [value, nil]) == .same, "\(value)")
        }
    }
}

/// Equal sets and dictionaries are stored the same.
struct UnorderedValueTests {
    private typealias Mixed = HandWritten.Mixed
    private static let elements: [Mixed] =
        (0..<8).flatMap { [.number($0), .text("\($0)"), .double(Double($0) + 0.5)] }

    @Test func equalSetsOfMixedKindsAreStoredTheSame() throws {
        var generator = SeededGenerator(seed: 1)
        let stored = try PropertyList(encoding: Set(Self.elements))
        for _ in 0..<300 {
            // Another capacity leads to another order in memory.
            var set = Set<Mixed>(minimumCapacity: .random(in: 0...400, using: &generator))
            for element in Self.elements.shuffled(using: &generator) { set.insert(element) }
            #expect(try PropertyList(encoding: set) == stored)
            let dictionary = Dictionary(uniqueKeysWithValues: set.map { ($0, 1) })
            let other = Dictionary(uniqueKeysWithValues: Self.elements.map { ($0, 1) })
            #expect(try PropertyList(encoding: dictionary) == PropertyList(encoding: other))
        }
    }
}
