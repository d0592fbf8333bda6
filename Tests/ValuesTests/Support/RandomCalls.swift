import Foundation
import TestSupport

/// A value that makes random calls to an encoder and its containers, the same for each encoder.
///
/// Containers stay open while others are written, keys repeat, and errors are caught.
struct RandomCalls: Encodable {
    let seed: UInt64
    /// The number of values inside one another.
    var depth = 4
    /// Whether Foundation's encoders define the result of each call. Of other calls, some terminate
    /// the process there.
    let isDefined: Bool

    /// What the encoder reports about itself: the counts. Foundation's coding paths lack the keys
    /// after a `superEncoder` of a nested container.
    final class Notes: @unchecked Sendable {
        static let key = CodingUserInfoKey(rawValue: "notes")!
        var counts: [Int] = []
        /// Whether the encoder leaves out an optional of nil, as Foundation's do.
        var leavesOutNil = false
    }

    func encode(to encoder: any Encoder) throws {
        let notes = encoder.userInfo[Notes.key] as? Notes
        var calls = Calls(SeededGenerator(seed: seed), depth: depth, isDefined: isDefined, notes)
        try calls.make(on: encoder)
    }
}

struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { return nil }
}

private struct Calls {
    /// The values under the keys of one dictionary, which may have several containers.
    private final class Entries {
        enum Kind {
            case value, encoder, array
            case dictionary(Entries)
        }
        var kinds: [String: Kind] = [:]
    }
    private enum Open {
        case encoder(any Encoder)
        case keyed(KeyedEncodingContainer<AnyKey>, Entries)
        case unkeyed(any UnkeyedEncodingContainer)
    }
    private var generator: SeededGenerator
    private let depth: Int
    private let isDefined: Bool
    private let notes: RandomCalls.Notes?
    private var open: [Open] = []

    init(_ generator: SeededGenerator, depth: Int, isDefined: Bool, _ notes: RandomCalls.Notes?) {
        (self.generator, self.depth, self.isDefined, self.notes) = (generator, depth, isDefined, notes)
    }

    mutating func make(on encoder: any Encoder) throws {
        try begin(encoder)
        for _ in 0..<random(14) {
            guard !open.isEmpty else { return }
            let index = random(open.count)
            switch open[index] {
            case .encoder(let encoder):
                open.remove(at: index)
                try begin(encoder)
            case .keyed(var container, let entries): try call(&container, entries)
            case .unkeyed(var container):
                try call(&container)
                open[index] = .unkeyed(container)
            }
        }
    }

    private mutating func random(_ end: Int) -> Int { .random(in: 0..<end, using: &generator) }

    private mutating func begin(_ encoder: any Encoder) throws {
        switch random(10) {
        case 0: break
        case 1:
            var container = encoder.singleValueContainer()
            if random(4) == 0 { try container.encodeNil() } else { try container.encode(value()) }
            if !isDefined, random(2) == 0 { try container.encode(value()) }
        case 2, 3, 4:
            open.append(.unkeyed(encoder.unkeyedContainer()))
            if random(4) == 0 { open.append(.unkeyed(encoder.unkeyedContainer())) }
        default:
            let entries = Entries()
            open.append(.keyed(encoder.container(keyedBy: AnyKey.self), entries))
            if random(4) == 0 { open.append(.keyed(encoder.container(keyedBy: AnyKey.self), entries)) }
        }
        if !isDefined, random(8) == 0 { open.append(.encoder(encoder)) }
    }

    private mutating func value() -> any Encodable {
        switch random(depth > 1 ? 18 : 12) {
        case 0: return random(2) == 0
        case 1: return [0, -1, 5, .max, .min][random(5)]
        case 2: return [0.5, 0.1, -2.25, 1e300, .infinity][random(5)]
        case 3: return ["", "a", "caf\u{E9}", isDefined ? "b" : "$null"][random(4)]
        case 4: return UInt8(random(256))
        case 5: return UInt64.max - UInt64(random(3))
        case 6: return Data([0, 1])
        case 7: return Date(timeIntervalSinceReferenceDate: Double(random(9)) / 2)
        case 8: return Array(0..<random(3))
        case 9: return ["x": random(5)]
        case 10: return Int?.none
        case 11: return Optional(["a": nil, "b": 5] as [String: Int?])
        default: return RandomCalls(seed: generator.next(), depth: depth - 1, isDefined: isDefined)
        }
    }

    private mutating func name() -> String {
        let names = ["a", "b", "count", "super key", "a long name of a property", "\u{1F468}", "caf\u{E9}"]
        return isDefined || random(8) > 0 ? names[random(names.count)] : "cafe\u{301}"
    }

    private mutating func call(_ container: inout KeyedEncodingContainer<AnyKey>, _ entries: Entries) throws {
        let name = name()
        let (key, known) = (AnyKey(stringValue: name), entries.kinds[name])
        if case .encoder? = known, isDefined { return }
        switch random(14) {
        case 0: try container.encodeNil(forKey: key)
        case 1:
            try? container.encode(Failing(value: value()), forKey: key)
            return
        case 2:
            // Enough keys that they are no longer compared one by one, the last one twice.
            for index in [Int](0..<random(40)) + [0] {
                try container.encode(index, forKey: AnyKey(stringValue: "key \(index)"))
            }
            return
        case 3, 4:
            var inner = Entries()
            if isDefined, let known {
                guard case .dictionary(let former) = known else { return }
                inner = former
            }
            open.append(.keyed(container.nestedContainer(keyedBy: AnyKey.self, forKey: key), inner))
            entries.kinds[name] = .dictionary(inner)
            return
        case 5, 6:
            if isDefined, let known { guard case .array = known else { return } }
            open.append(.unkeyed(container.nestedUnkeyedContainer(forKey: key)))
            entries.kinds[name] = .array
            return
        case 7:
            guard known == nil || !isDefined else { return }
            open.append(.encoder(container.superEncoder(forKey: key)))
            entries.kinds[name] = .encoder
            return
        case 8:
            guard entries.kinds["super"] == nil || !isDefined else { return }
            open.append(.encoder(container.superEncoder()))
            entries.kinds["super"] = .encoder
            return
        case 9:
            let number = random(2) == 0 ? nil : 7
            if number == nil, notes?.leavesOutNil == true {
                try container.encodeNil(forKey: key)
            } else {
                try container.encodeIfPresent(number, forKey: key)
            }
        default: try container.encode(value(), forKey: key)
        }
        entries.kinds[name] = .value
    }

    private mutating func call(_ container: inout any UnkeyedEncodingContainer) throws {
        notes?.counts.append(container.count)
        switch random(12) {
        case 0: try container.encodeNil()
        case 1: try? container.encode(Failing(value: value()))
        case 2:
            // Some counts need a second byte.
            for index in 0..<random(4) * random(60) { try container.encode(index) }
        case 3, 4: open.append(.keyed(container.nestedContainer(keyedBy: AnyKey.self), Entries()))
        case 5, 6: open.append(.unkeyed(container.nestedUnkeyedContainer()))
        case 7:
            let encoder = container.superEncoder()
            // Foundation's container inserts its contents when it is released, so their order is
            // the same only then.
            if isDefined {
                try RandomCalls(seed: generator.next(), depth: 1, isDefined: true).encode(to: encoder)
            } else {
                open.append(.encoder(encoder))
            }
        default: try container.encode(value())
        }
    }
}

/// A value that writes something before it throws.
private struct Failing: Encodable {
    private struct Failure: Error {}
    let value: any Encodable

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        var nested = container.nestedUnkeyedContainer(forKey: AnyKey(stringValue: "nested"))
        try container.encode(value, forKey: AnyKey(stringValue: "value"))
        try nested.encode(5)
        throw Failure()
    }
}
