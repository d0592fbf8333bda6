import Foundation
import TestSupport
import Testing

@testable import TypedDefaults

/// Law 7: no stored value appears in a log, a description or an error.
@Suite(.ownThreads) struct SecrecyTests {
    static let secret = "S3CR3T"

    /// A type whose own errors quote their input.
    struct Talkative: DefaultConvertible, Codable {
        static let key = "talkative"
        enum Level: String, Codable { case low }
        struct Refusal: Error { let value: String }
        var text: String
        init(text: String) { self.text = text }
        init(from decoder: any Decoder) throws {
            text = try decoder.singleValueContainer().decode(String.self)
            if text.hasSuffix("!") {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "bad value \(text)"))
            }
            throw Refusal(value: text)
        }
        func encode(to encoder: any Encoder) throws {
            if text.hasSuffix("?") {
                throw EncodingError.invalidValue(text, .init(codingPath: [], debugDescription: "bad value \(text)"))
            }
            throw Refusal(value: text)
        }
    }

    struct Unstorable: DefaultConvertible {
        static let key = "unstorable"
        init() {}
        init?(_ object: Any) { return nil }
        func serialize() -> Any { ["link": URL(string: "https://\(secret)")!] }
    }

    /// Calls every path that fails, with values that contain the secret. Errors go to the handlers
    /// and into the list.
    static func provokeFailures(handler: (@Sendable (DefaultsError) -> Void)? = nil) -> [any Error] {
        var errors: [any Error] = []
        func trying(_ body: () throws -> Void) {
            do {
                try body()
                Issue.record("nothing failed")
            } catch {
                errors.append(error)
            }
        }
        let stored: [PropertyList] = [
            .string(secret), .string(secret + "!"), [.string(secret)], ["text": .string(secret)],
            .data(Data(secret.utf8)),
            .data(Data("\"\(secret)\"".utf8)),
        ]
        for value in stored {
            let suite = DefaultsSuite.inMemory(["k": value])
            if let handler { suite.onFailure = handler }
            func check<Value: Codable & Sendable>(_ type: Value.Type) {
                let store = UserDefault(DefaultKey<Value?>("k", default: nil), in: suite).store
                trying { _ = try store.load() }
                trying { try store.updateStored { _ in } }
                _ = store.get()
            }
            check(Int.self)
            check(Talkative.self)
            check(Talkative.Level.self)
            check([Int].self)
            check([String: Bool].self)
            trying { _ = try value.decode(Int.self) }
        }
        let backend = SpyBackend(["CameraConfig": .string(secret)])
        let suite = DefaultsSuite(backend: backend)
        if let handler { suite.onFailure = handler }
        for text in [secret, secret + "?"] {
            trying { try PersistentStore<Talkative>(in: suite).save(Talkative(text: text)) }
            PersistentStore<Talkative>(in: suite).set(Talkative(text: text))
        }
        trying { try PersistentStore<Unstorable>(in: suite).save(Unstorable()) }
        trying { _ = try PropertyList(["a": [URL(string: "https://\(secret)")!]]) }
        PersistentStore<CameraConfig>(in: suite).set(CameraConfig())
        backend.fail(with: DefaultsError(.unavailable, reason: "locked"))
        trying { try PersistentStore<CameraConfig>(in: suite).save(CameraConfig(size: .large)) }
        return errors
    }

    @Test func errorsHoldNoValues() {
        let received = Guarded<[DefaultsError]>([])
        let errors = Self.provokeFailures { error in received.withLock { $0.append(error) } }
        let all = errors + received.withLock { $0 }
        #expect(errors.count > 70 && received.withLock { $0.count } > 20)
        for error in all {
            var dumped = ""
            dump(error, to: &dumped)
            for text in ["\(error)", String(reflecting: error), dumped, error.localizedDescription] {
                #expect(!text.contains(Self.secret), "\(type(of: error))")
            }
        }
    }

    private struct Settings {
        @UserDefault var text: String
        init(_ suite: DefaultsSuite) { _text = UserDefault("token", default: "", in: suite) }
    }

    // On Apple platforms it is the system's log.
    #if !canImport(Darwin) && !canImport(AppleFoundation)
        @Test func standardErrorGetsOneLineForEachSuiteAndKindAndNoValue() async throws {
            let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
                _ = SecrecyTests.provokeFailures()
                let suite = DefaultsSuite.inMemory(["a": "S3CR3T", "b": "S3CR3T"])
                for _ in 0..<3 {
                    _ = suite[DefaultKey("a", default: 0)]
                    _ = suite[DefaultKey("b", default: 0)]
                }
            }
            let text = String(decoding: result.standardErrorContent, as: UTF8.self)
            #expect(!text.contains(Self.secret))
            let lines = text.split(separator: "\n").filter { $0.hasPrefix("TypedDefaults") }
            // Six suites with one unreadable value, one with several failures of two kinds, and one
            // with two unreadable values.
            #expect(lines.filter { $0.contains("unreadable “") }.count == 8)
            #expect(lines.filter { $0.contains("refused “") }.count == 1)
        }
    #endif
}

extension SecrecyTests {
    private struct Account: Codable, Equatable, Sendable {
        struct Entry: Codable, Equatable { var number: Int }
        var entries: [String: Entry] = [:]
        var numbers: [Int: [Entry]] = [:]
    }

    @Test func keysOfDictionariesAppearInNoError() {
        let suite = DefaultsSuite.inMemory([
            "a": ["entries": [Self.secret: ["number": "x"]], "numbers": [:]],
            "b": ["entries": [:], "numbers": ["9876543": [["number": 1], [:]]]],
        ])
        func error(_ key: String) -> DefaultsError? {
            let key = DefaultKey<Account?>(key, default: nil)
            return #expect(throws: DefaultsError.self) { try UserDefault(key, in: suite).store.load() }
        }
        #expect(error("a")?.path == ["entries", "*", "number"])
        #expect(error("b")?.path == ["numbers", "*", "1"])
        #expect(error("b")?.description.contains("9876543") == false)
    }

    /// A key that counts as data, although its type does not accept every string.
    private struct Address: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) {
            guard stringValue.contains("@") else { return nil }
            self.stringValue = stringValue
        }
        init?(intValue: Int) { return nil }
    }
    private enum OpenKey: CodingKey {
        case name
        case other(String)
        var stringValue: String { if case .other(let text) = self { text } else { "name" } }
        var intValue: Int? { nil }
        init?(stringValue: String) {
            guard stringValue.contains("@") else { return nil }
            self = .other(stringValue)
        }
        init?(intValue: Int) { return nil }
    }
    private struct Contacts<Key: CodingKey>: Codable, Equatable {
        var numbers: [String: HandWritten.Either<Decimal, String>] = [:]
        init(_ numbers: [String: HandWritten.Either<Decimal, String>]) { self.numbers = numbers }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            for key in container.allKeys {
                numbers[key.stringValue] = try container.decode(HandWritten.Either.self, forKey: key)
            }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            for (key, value) in numbers { try container.encode(value, forKey: Key(stringValue: key)!) }
        }
    }

    @Test func keysThatAreNotEnumCasesAppearInNoError() {
        func check<Key: CodingKey>(_ type: Key.Type) {
            let key = "\(Self.secret)@example.com"
            let json = Data("{\"\(key)\": []}".utf8)
            let suite = DefaultsSuite.inMemory(["a": [key: []], "b": .data(json)])
            let errors: [DefaultsError?] = ["a", "b"].map { name in
                let store = UserDefault(DefaultKey<Contacts<Key>?>(name, default: nil), in: suite).store
                return #expect(throws: DefaultsError.self) { try store.load() }
            }
            for error in errors {
                #expect(error?.path == ["*"])
                #expect(error?.description.contains(Self.secret) == false)
                #expect(error?.localizedDescription.contains(Self.secret) == false)
            }
        }
        check(Address.self)
        check(OpenKey.self)
    }

    /// Returns all descriptions of a value.
    private static func texts(of value: some Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        let children = Mirror(reflecting: value).children.map { "\($0)" }
        return ["\(value)", String(describing: value), String(reflecting: value), dumped] + children
    }

    private struct Holder<Value: Sendable> {
        var value: Value
        var optional: Value?
        var list: [Value]
    }

    @Test func descriptionsShowKeyAndSuiteAndNoValue() async throws {
        let name = "com.example.secrecy"
        let suite = DefaultsSuite(backend: NamedBackend(name: name, ["token": .string(Self.secret)]))
        let key = DefaultKey("token", default: "\(Self.secret) by default")
        let store = UserDefault(key, in: suite).store
        let changes = Guarded<[DefaultChange<String>]>([])
        let setting = UserDefault(key, in: suite)
        let tokens = [
            store.observe(initial: true) { change in changes.withLock { $0.append(change) } },
            store.map(\.self).observe(initial: true) { change in changes.withLock { $0.append(change) } },
            setting.observe(initial: true) { change in changes.withLock { $0.append(change) } },
        ]
        store.set("\(Self.secret) 2")
        for token in tokens { token.cancel() }
        let received = changes.withLock { $0 }
        #expect(received.count == 6)

        func check<Value: Sendable>(_ value: Value, shows parts: [String]) {
            for text in Self.texts(of: value) + Self.texts(of: Holder(value: value, optional: value, list: [value])) {
                #expect(!text.contains(Self.secret), "\(Value.self)")
            }
            for part in parts {
                #expect("\(value)".contains(part))
                #expect("\([value])".contains(part))
                #expect(String(reflecting: value).contains(part))
            }
        }
        #expect(received.map(\.kind) == [.initial, .initial, .initial, .set, .set, .set])
        for change in received {
            check(change, shows: ["DefaultChange<String>", "“token”", name, "\(change.kind)", "local"])
        }
        check(store, shows: ["PersistentStore<String>", "“token”", name])
        check(AnyStore(store), shows: ["AnyStore", "“token”", name])
        check(store.map(\.self), shows: ["AnyStore", "“token”", name])
        check(setting, shows: ["UserDefault<String>", "“token”", name])
        check(setting.store, shows: ["AnyStore", "“token”", name])
        check(key, shows: ["DefaultKey<String>", "“token”"])
        check(suite, shows: ["DefaultsSuite", name])
        check(InMemoryStore(Self.secret), shows: ["InMemoryStore<String>"])
        check(AnyStore(InMemoryStore(Self.secret)), shows: ["AnyStore", "InMemoryStore<String>"])
        check(store.values, shows: ["DefaultUpdates"])
        check(store.changes, shows: ["DefaultUpdates"])
        check(AnyStore(Open(value: Self.secret)), shows: ["AnyStore", "Open"])
        let others: [Any] = [
            store.values.makeAsyncIterator(), MemoryBackend(["text": .string(Self.secret)]), Settings(suite),
            store.observe { _ in },
        ]
        for value in others {
            for text in Self.texts(of: value) { #expect(!text.contains(Self.secret), "\(type(of: value))") }
        }
    }

    /// A store of a program, whose description contains its value.
    private struct Open: DefaultStoreType {
        var value: String
        func get() -> String? { value }
        func set(_ value: String) {}
        func remove() {}
    }

    @Test func aMirrorOfAnInnerObjectShowsNothing() throws {
        let file = try makeFile()
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        let suite = try DefaultsSuite(file: file)
        suite[DefaultKey("k", default: "")] = Self.secret
        let backend = try #require(suite.core.backend as? FileBackend)
        let objects: [Any] = [suite.core, backend, backend.file, DefaultsSuite.inMemory().core.backend]
        for object in objects {
            var dumped = ""
            dump(object, to: &dumped)
            #expect(!dumped.contains(Self.secret))
            #expect(Mirror(reflecting: object).children.isEmpty)
        }
    }

    @Test func theLocalizedDescriptionContainsTheReason() throws {
        let suite = DefaultsSuite.inMemory(["launchCount": "nine"])
        let store = UserDefault(DefaultKey("launchCount", default: 0), in: suite).store
        let error = try #require(#expect(throws: (any Error).self) { try store.load() })
        #expect(error.localizedDescription == "\(error)")
        #expect(error.localizedDescription.contains("launchCount"))
        #expect((error as? any LocalizedError)?.errorDescription == "\(error)")
    }
}

/// A backend in memory that says where it is.
private final class NamedBackend: BackendDecorator {
    let base: any DefaultsBackend
    let traits: BackendTraits
    init(name: String, _ contents: [String: PropertyList]) {
        (base, traits) = (MemoryBackend(contents), BackendTraits(location: name))
    }
    var generation: UInt64? { nil }
}
