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

    private struct Short: Decodable {
        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            _ = try container.decode(Int.self)
            _ = try container.decode(Int.self)
        }
    }

    @Test func readingPastTheEndSaysWhere() {
        let error = #expect(throws: DecodingError.self) {
            try (["a": [5]] as PropertyList).decode([String: Short].self)
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
    /// A single value that checks the path of its container.
    private struct SinglePath: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            guard container.codingPath.map(\.stringValue) == ["a", "0"] else { throw Refusing.Anything() }
            try container.encode(5)
        }
    }

    @Test func containersOfEachKindKnowTheirPath() throws {
        let stored = try PropertyList(encoding: ["a": [PathsSeen()]])
        #expect(stored == ["a": [["key": [:], "list": []]]])
        #expect(try stored.decode([String: [PathsSeen]].self)["a"]?.first?.seen == PathsSeen.expected)
        #expect(try PropertyList(encoding: ["a": [SinglePath()]]) == ["a": [5]])
    }

    /// Asks for a container under a key that holds a value already.
    private struct Twice: Encodable {
        enum Key: CodingKey { case key }
        var first: Int?
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            if let first { try container.encode(first, forKey: .key) } else { try container.encode([1], forKey: .key) }
            var list = container.nestedUnkeyedContainer(forKey: .key)
            try list.encode(2)
        }
    }

    @Test func aContainerUnderAKeyThatHoldsAnArrayContinuesIt() throws {
        #expect(try PropertyList(encoding: Twice()) == ["key": [1, 2]])
        #expect(throws: (any Error).self) { try PropertyList(encoding: Twice(first: 1)) }
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

    @Test func encodingErrorsSayWhere() {
        // The base of the base is lost in an absolute string, so such a URL does not read back
        // equal.
        let first = URL(string: "https://example.com/a/")!
        let second = URL(string: "b/", relativeTo: first)!
        let third = URL(string: "c", relativeTo: second)!
        let stored = Result { try PropertyList(encoding: ["a": [third]]) }
        switch stored {
        case .success(let stored): #expect((try? stored.decode([String: [URL]].self)) == ["a": [third]])
        case .failure(EncodingError.invalidValue(_, let context)):
            #expect(context.codingPath.map(\.stringValue) == ["a", "0"])
        case .failure(let error): #expect(Bool(false), "\(error)")
        }
    }

    @Test func aStoreNamesTypeKeyAndPathButNoValue() throws {
        let suite = DefaultsSuite.inMemory(["doc": document(["number": "secret", "text": "b"])])
        let store = UserDefault(DefaultKey<Document?>("doc", default: nil), in: suite).store
        let error = #expect(throws: DefaultsError.self) { try store.load() }
        #expect(error?.kind == .unreadable)
        #expect(error?.key == "doc")
        #expect(error?.path == ["rows", "1", "values", "*", "number"])
        #expect(error?.description.contains("secret") == false)
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
    private final class Link: Codable, Sendable {
        let next: Link?
        init(next: Link?) { self.next = next }
    }
    private indirect enum Onion: Codable, Sendable {
        case core
        case layer(Onion)
    }
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
    private static let deepLink = (0..<10_000).reduce(Link(next: nil)) { link, _ in Link(next: link) }
    private static let deepOnion = (0..<10_000).reduce(Onion.core) { onion, _ in .layer(onion) }
    private static let tenThousand = PropertyList.nested(10_000)
    private static let tenThousandDictionaries: PropertyList = {
        var list: PropertyList = [:]
        for _ in 0..<10_000 { list = ["next": list, "children": [list], "layer": ["_0": list]] }
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
        #expect(withSmallStack { Self.encodingThrows(Self.deepLink) })
        #expect(withSmallStack { Self.encodingThrows(Self.deepOnion) })
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
        #expect(withSmallStack { Self.decodingThrows(Self.tenThousandDictionaries, Link.self) })
        #expect(withSmallStack { Self.decodingThrows(Self.tenThousandDictionaries, Onion.self) })
    }

    @Test func aSmallStackHoldsTheDepthLimit() {
        #expect(
            withSmallStack {
                let link = (0..<30).reduce(Link(next: nil)) { link, _ in Link(next: link) }
                let tree = (0..<30).reduce(Tree(children: [])) { tree, _ in Tree(children: [tree]) }
                do {
                    let chain = try PropertyList(encoding: Chain(levels: 64)).decode(Chain.self)
                    _ = try PropertyList(encoding: link).decode(Link.self)
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
    private indirect enum JSON: Codable, Equatable, Sendable {
        case number(Double)
        case string(String)
        case array([JSON?])
        case object([String: JSON])

        /// Nested arrays and objects, alternating.
        init(levels: Int) {
            self = .number(0.5)
            for level in 0..<levels {
                self = level % 2 == 0 ? .array([self, nil]) : .object(["a": self, "b": .string("text")])
            }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(Double.self) {
                self = .number(value)
            } else if let value = try? container.decode(String.self) {
                self = .string(value)
            } else if let value = try? container.decode([JSON?].self) {
                self = .array(value)
            } else {
                self = .object(try container.decode([String: JSON].self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .number(let value): try container.encode(value)
            case .string(let value): try container.encode(value)
            case .array(let value): try container.encode(value)
            case .object(let value): try container.encode(value)
            }
        }
    }

    /// Encodes and decodes itself as its single value, in an endless recursion.
    private struct Endless: Codable, Sendable {
        init() {}
        init(from decoder: any Decoder) throws { self = try decoder.singleValueContainer().decode(Endless.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(self)
        }
    }

    /// Stores the value and reads it back in another suite.
    private static func goesRoundTrip(_ value: JSON) throws -> Bool {
        let (suite, key) = (DefaultsSuite.inMemory(), DefaultKey<JSON?>("json", default: nil))
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
        #expect(withSmallStack(kilobytes: 4096) { (try? Self.goesRoundTrip(JSON(levels: levels))) == true })
    }

    @Test func oneLevelTooManyIsNamed() {
        let error = withSmallStack(kilobytes: 4096) { () -> DefaultsError? in
            do {
                _ = try Self.goesRoundTrip(JSON(levels: 65))
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
