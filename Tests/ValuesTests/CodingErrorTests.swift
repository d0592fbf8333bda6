import Foundation
import TestSupport
import Testing
import TypedDefaults

/// Checks the path and text of errors, and that excessive depth is an error and not a crash.
struct CodingErrorTests {
    private struct Row: Codable, Equatable { var values: [String: Inner] }
    private struct Inner: Codable, Equatable {
        var number: Int
        var text: String
    }
    private struct Document: Codable, Equatable { var rows: [Row] }

    private func document(_ inner: PropertyList) -> PropertyList {
        ["rows": [["values": [:]], ["values": ["a": inner]]]]
    }

    private func failure(_ stored: PropertyList) -> (kind: String, path: [String], text: String)? {
        do {
            _ = try stored.decode(Document.self)
        } catch let DecodingError.typeMismatch(type, context) {
            return ("typeMismatch \(type)", context.codingPath.map(\.stringValue), context.debugDescription)
        } catch let DecodingError.keyNotFound(key, context) {
            return ("keyNotFound \(key.stringValue)", context.codingPath.map(\.stringValue), context.debugDescription)
        } catch let DecodingError.valueNotFound(type, context) {
            return ("valueNotFound \(type)", context.codingPath.map(\.stringValue), context.debugDescription)
        } catch let DecodingError.dataCorrupted(context) {
            return ("dataCorrupted", context.codingPath.map(\.stringValue), context.debugDescription)
        } catch {
            return ("\(type(of: error))", [], "")
        }
        return nil
    }

    @Test func errorsSayWhatAndWhere() throws {
        let inner = ["rows", "1", "values", "a"]
        let table: [(PropertyList, String, [String])] = [
            (document(["number": "secret", "text": "b"]), "typeMismatch Int", inner + ["number"]),
            (document(["number": true, "text": "b"]), "typeMismatch Int", inner + ["number"]),
            (document(["number": 1.25, "text": "b"]), "typeMismatch Int", inner + ["number"]),
            (document(["number": 18_446_744_073_709_551_615, "text": "b"]), "dataCorrupted", inner + ["number"]),
            (document(["number": 1, "text": 42]), "typeMismatch String", inner + ["text"]),
            (document(["number": 1]), "keyNotFound text", inner),
            (document(["number": "$null", "text": "b"]), "valueNotFound Int", inner + ["number"]),
            (document("$null"), "valueNotFound Dictionary<String, Any>", inner),
            (document("secret"), "typeMismatch Dictionary<String, Any>", inner),
            (["rows": "secret"], "typeMismatch Array<Any>", ["rows"]),
            (["rows": "$null"], "valueNotFound Array<Any>", ["rows"]),
            (["rows": [5]], "typeMismatch Dictionary<String, Any>", ["rows", "0"]),
            ([:], "keyNotFound rows", []),
            ("secret", "typeMismatch Dictionary<String, Any>", []),
        ]
        for (stored, kind, path) in table {
            let failure = try #require(self.failure(stored))
            #expect(failure.kind == kind)
            #expect(failure.path == path, "\(kind)")
            for value in ["secret", "1.25", "18446744073709551615", "42", "$null"] {
                #expect(!failure.text.contains(value))
            }
        }
        #expect(failure(document(["number": 1, "text": "b"])) == nil)
    }

    @Test func readingPastTheEndSaysWhere() {
        let error = #expect(throws: DecodingError.self) {
            try (["a": [5]] as PropertyList).decode([String: Range<Int>].self)
        }
        guard case .valueNotFound(let type, let context)? = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect("\(type)" == "Int")
        #expect(context.codingPath.map(\.stringValue) == ["a", "1"])
        #expect(context.codingPath.last?.intValue == 1)
    }

    /// Collects the coding paths of its coders, in containers of each kind.
    private struct PathsSeen: Codable {
        static let expected = ["list: a 0", "single: a 0", "keyed: a 0", "nested: a 0 key", "nested list: a 0 list"]
        enum Key: String, CodingKey { case key, list }
        var seen: [String] = []

        init() {}
        init(from decoder: any Decoder) throws {
            func note(_ name: String, _ path: [any CodingKey]) {
                seen.append(([name + ":"] + path.map(\.stringValue)).joined(separator: " "))
            }
            note("list", decoder.codingPath)
            note("single", try decoder.singleValueContainer().codingPath)
            let container = try decoder.container(keyedBy: Key.self)
            note("keyed", container.codingPath)
            note("nested", try container.nestedContainer(keyedBy: Key.self, forKey: .key).codingPath)
            note("nested list", try container.nestedUnkeyedContainer(forKey: .list).codingPath)
        }
        func encode(to encoder: any Encoder) throws {
            func check(_ path: [any CodingKey], _ expected: [String]) throws {
                guard path.map(\.stringValue) == expected else { throw Refusing.Anything() }
            }
            try check(encoder.codingPath, ["a", "0"])
            var container = encoder.container(keyedBy: Key.self)
            try check(container.codingPath, ["a", "0"])
            let nested = container.nestedContainer(keyedBy: Key.self, forKey: .key)
            try check(nested.codingPath, ["a", "0", "key"])
            try check(container.nestedUnkeyedContainer(forKey: .list).codingPath, ["a", "0", "list"])
        }
    }

    @Test func containersOfEachKindKnowTheirPath() throws {
        let stored = try PropertyList(encoding: ["a": [PathsSeen()]])
        #expect(stored == ["a": [["key": [:], "list": []]]])
        #expect(try stored.decode([String: [PathsSeen]].self)["a"]?.first?.seen == PathsSeen.expected)
    }

    private struct Refusing: Encodable {
        struct Anything: Error {}
        var error: any Error
        func encode(to encoder: any Encoder) throws { throw error }
    }

    @Test func errorsOfATypePassThrough() {
        #expect(throws: Refusing.Anything.self) {
            try PropertyList(encoding: ["a": [Refusing(error: Refusing.Anything())]])
        }
    }

    /// Keys that are equal as strings, but not byte by byte.
    private struct TwoForms: Codable {
        var isNested: Bool
        init(isNested: Bool) { self.isNested = isNested }
        init(from decoder: any Decoder) throws { throw CancellationError() }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: AnyKey.self)
            for key in ["\u{E9}", "e\u{301}"].map(AnyKey.init(stringValue:)) {
                if isNested {
                    var nested = container.nestedUnkeyedContainer(forKey: key)
                    try nested.encode(1)
                } else {
                    try container.encode(1, forKey: key)
                }
            }
        }
    }

    @Test(arguments: [false, true]) func keysThatDifferOnlyInTheirBytesAreRefused(isNested: Bool) {
        let value = TwoForms(isNested: isNested)
        #expect(throws: EncodingError.self) { try PropertyList(encoding: value) }
        let error = #expect(throws: DefaultsError.self) {
            try UserDefault(DefaultKey("value", default: value), in: .inMemory()).store.save(value)
        }
        #expect(error?.kind == .refused)
        #expect(error?.reason.contains("Unicode") == true)
    }
}

extension CodingErrorTests {
    /// Nested arrays around a number.
    private struct Chain: Codable {
        var levels: Int
        init(levels: Int) { self.levels = levels }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            if levels == 1 { try container.encode(5) } else { try container.encode(Chain(levels: levels - 1)) }
        }
        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            levels = (try? container.decode(Int.self)) != nil ? 1 : try container.decode(Chain.self).levels + 1
        }
    }
    private struct Tree: Codable { var children: [Tree] }
    /// Recursion through containers that cannot throw.
    private struct Opening: Codable {
        enum Way: String, Codable { case array, dictionary, superEncoder, superEncoderForKey }
        var levels: Int
        var way: Way
        enum Keys: String, CodingKey { case next, levels }
        init(levels: Int, way: Way) {
            self.levels = levels
            self.way = way
        }
        init(from decoder: any Decoder) throws { throw CancellationError() }
        func encode(to encoder: any Encoder) throws {
            switch way {
            case .array:
                var container = encoder.unkeyedContainer()
                for _ in 0..<levels { container = container.nestedUnkeyedContainer() }
            case .dictionary:
                var container = encoder.container(keyedBy: Keys.self)
                for _ in 0..<levels { container = container.nestedContainer(keyedBy: Keys.self, forKey: .next) }
            case .superEncoder:
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode(levels, forKey: .levels)
                if levels > 0 { try Opening(levels: levels - 1, way: way).encode(to: container.superEncoder()) }
            case .superEncoderForKey:
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode(levels, forKey: .levels)
                if levels > 0 {
                    try Opening(levels: levels - 1, way: way).encode(to: container.superEncoder(forKey: .next))
                }
            }
        }
    }

    // Never released, because releasing ten thousand levels also recurses. That is not tested here.
    private static let deepTree = (0..<10_000).reduce(Tree(children: [])) { tree, _ in Tree(children: [tree]) }
    private static let tenThousand = PropertyList.nested(10_000)
    private static let tenThousandDictionaries: PropertyList = {
        var list: PropertyList = [:]
        for _ in 0..<10_000 { list = ["children": [list]] }
        return list
    }()

    @Test(arguments: [1, 63, 64]) func theDepthLimitIsCoded(levels: Int) throws {
        let stored = try PropertyList(encoding: Chain(levels: levels))
        #expect(stored == .nested(levels, around: 5))
        #expect(try stored.decode(Chain.self).levels == levels)
        #expect(try PropertyList(stored.object) == stored)
    }

    @Test(arguments: [65, 66, 1000]) func deeperThanTheLimitIsNotCoded(levels: Int) throws {
        let error = #expect(throws: EncodingError.self) { try PropertyList(encoding: Chain(levels: levels)) }
        guard case .invalidValue(_, let context)? = error else { return }
        #expect(context.codingPath.count == 64)
        let decoding = Result { try PropertyList.nested(levels, around: 5).decode(Chain.self) }
        guard case .failure(DecodingError.dataCorrupted(let context)) = decoding else {
            return #expect(Bool(false), "no error of depth")
        }
        #expect(context.codingPath.count == 64)
    }

    private static func encodingThrows(_ value: some Encodable) -> Bool {
        do {
            _ = try PropertyList(encoding: value)
            return false
        } catch {
            return error is EncodingError
        }
    }

    private static func decodingThrows<Value: Decodable>(_ stored: PropertyList, _ type: Value.Type) -> Bool {
        do {
            _ = try stored.decode(type)
            return false
        } catch {
            return error is DecodingError
        }
    }

    @Test func encodingTooDeepOnASmallStackIsAnError() {
        #expect(withSmallStack { Self.encodingThrows(Self.deepTree) })
        #expect(withSmallStack { Self.encodingThrows(Chain(levels: 10_000)) })
    }

    @Test(arguments: [Opening.Way.array, .dictionary, .superEncoder, .superEncoderForKey])
    private func openContainersTooDeepAreAnError(way: Opening.Way) {
        #expect(withSmallStack { Self.encodingThrows(Opening(levels: 64, way: way)) })
        #expect(withSmallStack { Self.encodingThrows(Opening(levels: 10_000, way: way)) })
        #expect(throws: Never.self) { try PropertyList(encoding: Opening(levels: 63, way: way)) }
    }

    @Test func decodingTooDeepOnASmallStackIsAnError() {
        #expect(withSmallStack { Self.decodingThrows(Self.tenThousand, Chain.self) })
        #expect(withSmallStack { Self.decodingThrows(Self.tenThousandDictionaries, Tree.self) })
    }

    @Test func aSmallStackHoldsTheDepthLimit() {
        #expect(
            withSmallStack {
                let tree = (0..<30).reduce(Tree(children: [])) { tree, _ in Tree(children: [tree]) }
                do {
                    let chain = try PropertyList(encoding: Chain(levels: 64)).decode(Chain.self)
                    _ = try PropertyList(encoding: tree).decode(Tree.self)
                    return chain.levels == 64
                } catch {
                    return false
                }
            })
    }
}

/// Values that are written in the form of another value, without adding a level.
extension CodingErrorTests {
    /// Encodes and decodes itself as its single value, in an endless recursion.
    private struct Endless: Codable, Sendable {
        init() {}
        init(from decoder: any Decoder) throws { self = try decoder.singleValueContainer().decode(Endless.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(self)
        }
    }

    /// Nested arrays and objects, alternating.
    private static func json(levels: Int) -> HandWritten.JSONValue {
        (0..<levels).reduce(.double(0.5)) { json, level in
            level % 2 == 0 ? .array([json, .null]) : .dictionary(["a": json, "b": .string("text")])
        }
    }

    /// Stores the value and reads it back in another suite.
    private static func goesRoundTrip(_ value: HandWritten.JSONValue) throws -> Bool {
        let (suite, key) = (DefaultsSuite.inMemory(), DefaultKey<HandWritten.JSONValue?>("json", default: nil))
        try UserDefault(key, in: suite).store.save(value)
        let stored = try #require(suite[DefaultKey<PropertyList?>("json")])
        return try UserDefault(key, in: .inMemory(["json": stored])).store.load() == value
    }

    /// The reason of the error that `body` throws.
    private static func reason(_ body: () throws -> Void) -> String? {
        do { try body() } catch { return (error as? DefaultsError)?.reason }
        return nil
    }

    // In a debug build the coder takes up to 4 KB of stack for each value.
    @Test(arguments: [32, 60, 64]) func aValueInTheFormOfAnotherOneAddsNoLevel(levels: Int) {
        #expect(withSmallStack(kilobytes: 4096) { (try? Self.goesRoundTrip(Self.json(levels: levels))) == true })
    }

    @Test func oneLevelTooManyIsNamed() {
        let error = withSmallStack(kilobytes: 4096) { () -> DefaultsError? in
            do {
                _ = try Self.goesRoundTrip(Self.json(levels: 65))
                return nil
            } catch {
                return error as? DefaultsError
            }
        }
        #expect(error?.kind == .refused)
        #expect(error?.reason == "nested deeper than 64 levels")
        #expect(error?.path.count == 64)
    }

    @Test func aValueInItselfIsAnError() {
        let reasons = withSmallStack(kilobytes: 4096) { () -> [String?] in
            let suite = DefaultsSuite.inMemory(["stored": [1]])
            return [
                Self.reason {
                    try UserDefault(DefaultKey("new", default: Endless()), in: suite).store.save(Endless())
                },
                Self.reason { _ = try UserDefault(DefaultKey<Endless?>("stored"), in: suite).store.load() },
            ]
        }
        for reason in reasons { #expect(reason == "more than 192 values, one inside another") }
    }
}
