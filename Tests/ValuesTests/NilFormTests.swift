import Foundation
import TestSupport
import Testing
import TypedDefaults

/// `nil` where it cannot be left out, and the strings that could be mistaken for it.
struct NilFormTests {
    private static let strings = [
        "$null", "$$null", "$$$null", "$$$$null", "$nullx", "x$null", "null", "$", "$$", "$Null", "",
    ]
    private static let optionals: [String?] = [nil] + strings
    private static let twice: [String??] = [.none] + optionals.map { .some($0) }
    private static let thrice: [String???] = [.none] + twice.map { .some($0) }

    /// Each value reads back, in each position, and no two are stored the same.
    private func expectDistinct<Value: Codable & Hashable & Sendable>(
        _ values: [Value], whenDelegated: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try expectDistinctThere(values, "as a whole", sourceLocation)
        try expectDistinctThere(values.map { [$0] }, "in an array", sourceLocation)
        try expectDistinctThere(values.map { [0: $0] }, "in a dictionary", sourceLocation)
        try expectDistinctThere(values.map(Property.init), "as a property", sourceLocation)
        try expectDistinctThere(values.map(Wrapper.init), "in a wrapper", sourceLocation)
        try expectDistinctThere(values.map { Wrapper(value: Wrapper(value: $0)) }, "in two wrappers", sourceLocation)
        try expectDistinctThere([nil] + values.map { Wrapper(value: $0) }, "in an optional wrapper", sourceLocation)
        try expectDistinctThere(
            [[nil] + values.map { Wrapper(value: $0) }], "in an array of optional wrappers", sourceLocation)
        try expectDistinctThere(values.map(Payload.some) + [.none], "as a payload", sourceLocation)
        if whenDelegated {
            try expectDistinctThere(values.map(HandWritten.Delegating.init), "by another's encode", sourceLocation)
        }
    }

    private func expectDistinctThere<Value: Codable & Hashable & Sendable>(
        _ values: [Value], _ place: Comment, _ sourceLocation: SourceLocation
    ) throws {
        var forms: [PropertyList: Value] = [:]
        for value in values {
            let stored = try PropertyList(encoding: value)
            let read = try? stored.decode(Value.self)
            #expect(read == value, place, sourceLocation: sourceLocation)
            let other = forms.updateValue(value, forKey: stored)
            #expect(other == nil, "two values with the form \(stored) \(place)", sourceLocation: sourceLocation)
        }
    }

    private struct Property<Value: Codable & Hashable & Sendable>: Codable, Hashable { var value: Value }
    private enum Payload<Value: Codable & Hashable & Sendable>: Codable, Hashable {
        case none
        case some(Value)
    }
    private struct Wrapper<Value: Codable & Hashable & Sendable>: Codable, Hashable {
        var value: Value
        init(value: Value) { self.value = value }
        init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Value.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }
    private enum Raw: String, Codable, CaseIterable, CodingKeyRepresentable {
        case null = "$null"
        case escaped = "$$null"
        case longer = "$nullx"
        case plain = "null"
    }
    private struct Optionals: Codable, Hashable {
        var string: String?
        var raw: Raw?
        var number: Int?
    }

    @Test func valuesAndNilAreDistinct() throws {
        try expectDistinct(Self.strings)
        try expectDistinct(Self.optionals)
        try expectDistinct([nil, 0, 1])
        try expectDistinct(Raw.allCases)
        try expectDistinct([nil] + Raw.allCases.map(Optional.some))
        try expectDistinct([nil, [], [nil], ["$null"], ["$$null"]] as [[String?]?])
    }

    /// A type that passes its encoder on to an optional of an optional loses a layer, as in JSON. A
    /// store refuses such a value: see `FoundationOracleTests`.
    @Test func optionalsOfOptionalsAreDistinct() throws {
        try expectDistinct(Self.twice, whenDelegated: false)
        try expectDistinct(Self.thrice, whenDelegated: false)
        try expectDistinct([.none, .some(nil), 0, 1] as [Int??], whenDelegated: false)
    }

    @Test func optionalPropertiesAreDistinct() throws {
        var values: [Optionals] = []
        for string in Self.optionals {
            for raw in [nil] + Raw.allCases {
                values.append(Optionals(string: string, raw: raw, number: raw == nil ? 1 : nil))
            }
        }
        try expectDistinct(values)
    }

    /// Written by hand, because the compiler encodes a property of optional type only if it is
    /// present.
    private struct Layers: Codable, Hashable {
        var two: String??
        var three: Int???
        var array: [Int]??
    }

    @Test func optionalsOfOptionalPropertiesAreDistinct() throws {
        var values = Self.twice.map { Layers(two: $0, three: 1, array: []) }
        values += [.none, .some(.none), .some(.some(.none)), 0].map { Layers(two: "a", three: $0, array: [1]) }
        values += [.none, .some(.none), .some(.some([]))].map { Layers(two: "b", three: 2, array: $0) }
        try expectDistinct(values)
    }

    @Test func theFormIsThatOfFoundation() throws {
        #expect(try PropertyList(encoding: ["a", nil]) == ["a", "$null"])
        #expect(try PropertyList(encoding: ["a": nil as Int?]) == ["a": "$null"])
        #expect(try PropertyList(encoding: ["$null", "$$null"]) == ["$$null", "$$$null"])
        // Foundation leaves out a property that is nil.
        #expect(try PropertyList(encoding: Property<Int?>(value: nil)) == ["value": "$null"])
        #expect(try PropertyList(encoding: [nil, "$nullx"] as [String?]) == ["$null", "$nullx"])
        let data = try PropertyListEncoder().encode([1, nil])
        #expect(try PropertyListSerialization.propertyList(from: data, format: nil) as? [AnyHashable] == [1, "$null"])
    }

    @Test func keysAreNotEscaped() throws {
        #expect(try PropertyList(encoding: ["$null": 1]) == ["$null": 1])
        #expect(try PropertyList(encoding: [Raw.null: 1]).decode([Raw: Int].self) == [.null: 1])
    }
}
