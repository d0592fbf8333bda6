import Foundation
import SettingsFile
import TestSupport
import Testing

@testable import TypedDefaults

/// Encoding is right for all sequences of calls that a type can make.
struct ContainerCallsTests {
    /// Encodes a value by an encoder that has bytes of its own.
    private struct ThroughSuperEncoder<Value: Encodable>: Encodable {
        let value: Value
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encode(1, forKey: AnyKey(stringValue: "before"))
            let inner = container.superEncoder(forKey: AnyKey(stringValue: "value"))
            try container.encode(2, forKey: AnyKey(stringValue: "after"))
            try value.encode(to: inner)
        }
    }

    private struct ThroughSingleValue<Value: Encodable>: Encodable {
        let value: Value
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    /// The encoded value for each way to encode it; `nil` if that throws.
    private func forms(of value: some Encodable) -> [PropertyList?] {
        let inSuper = try? PropertyList(encoding: ThroughSuperEncoder(value: value))
        if let inSuper, case .dictionary(let entries) = inSuper { #expect(entries.count == 3) }
        return [
            try? PropertyList(encoding: value),
            (try? PropertyList(encoding: [value])).flatMap { $0.elements?.first },
            (try? PropertyList(encoding: ["a": value]))?.entry(at: ["a"]),
            (try? PropertyList(encoding: [ThroughSingleValue(value: value)])).flatMap { $0.elements?.first },
            inSuper?.entry(at: ["value"]),
        ]
    }

    /// The value as Foundation's encoder writes it, whose format keeps all values of the calls.
    private func foundationForm(of value: some Encodable, _ notes: RandomCalls.Notes) throws -> PropertyList {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        encoder.userInfo = [RandomCalls.Notes.key: notes]
        return try #require(ForeignData(try encoder.encode([value]))?.tree.elements?.first)
    }

    /// `TYPED_DEFAULTS_CALLS=10` compares ten times as many sequences of calls.
    private static let factor =
        ProcessInfo.processInfo.environment["TYPED_DEFAULTS_CALLS"].flatMap(UInt64.init) ?? 1

    @Test func definedCallsHaveTheResultOfFoundationsEncoder() throws {
        var kinds: Set<String> = []
        for seed in 0..<400 * Self.factor {
            let value = RandomCalls(seed: seed, isDefined: true)
            let (notes, expected) = (RandomCalls.Notes(), RandomCalls.Notes())
            expected.leavesOutNil = true
            let form = try PropertyList(encoding: [value], userInfo: [RandomCalls.Notes.key: notes]).elements?.first
            let foundationForm = try foundationForm(of: value, expected)
            #expect(form == foundationForm, "seed \(seed)")
            #expect(notes.counts == expected.counts, "seed \(seed)")
            for other in forms(of: value) { #expect(other == form, "seed \(seed)") }
            kinds.insert(form?.kindName ?? "")
        }
        #expect(kinds.isSuperset(of: ["an array", "a dictionary", "a string", "an integer", "data"]))
    }

    /// Calls in an order that Foundation does not define are refused, or have one result.
    @Test func anyCallsHaveOneResult() {
        var (refused, encoded) = (0, 0)
        for seed in 0..<1_500 * Self.factor {
            let value = RandomCalls(seed: seed, isDefined: false)
            let forms = forms(of: value)
            for form in forms { #expect(form == forms[1], "seed \(seed)") }
            if let form = forms[1] {
                encoded += 1
                #expect(!form.isNested(deeperThan: PropertyList.depthLimit))
            } else {
                refused += 1
            }
        }
        #expect(refused > 100 && encoded > 100)
    }
}

extension PropertyList {
    fileprivate var elements: [PropertyList]? { if case .array(let elements) = self { elements } else { nil } }
}
