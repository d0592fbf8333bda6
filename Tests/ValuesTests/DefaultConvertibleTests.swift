import Foundation
import TestSupport
import Testing
import TypedDefaults

/// Checks which default conversion a type gets, and that a hand-written conversion takes
/// precedence.
struct DefaultConvertibleTests {
    /// Saves a value, checks the stored form, and reads it in another store.
    private func store<Value: DefaultConvertible>(
        _ value: Value, as form: PropertyList, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Value {
        let suite = DefaultsSuite.inMemory()
        try PersistentStore<Value>(in: suite).save(value)
        let stored = suite[DefaultKey<PropertyList?>(Value.key)]
        #expect(stored == form, sourceLocation: sourceLocation)
        #expect(try PropertyList(value.serialize()) == form, sourceLocation: sourceLocation)
        let memory = InMemoryStore<Value>()
        try memory.save(value)
        #expect(try memory.load().map { try PropertyList($0.serialize()) } == form, sourceLocation: sourceLocation)
        #expect(Value(form.object) != nil, sourceLocation: sourceLocation)
        let copy = DefaultsSuite.inMemory([Value.key: form])
        return try #require(try PersistentStore<Value>(in: copy).load(), sourceLocation: sourceLocation)
    }
}

extension DefaultConvertibleTests {
    struct ByCodable: DefaultConvertible, Codable, Equatable {
        static let key = "byCodable"
        var on = true
        var share: Float = 0.5
        var date = Date(timeIntervalSinceReferenceDate: 0.1)
        var names: [String?] = ["a", nil, "$null"]
    }
    enum ByRawValue: String, DefaultConvertible {
        static let key = "byRawValue"
        case large
        case null = "$null"
    }
    enum ByBoth: Int, DefaultConvertible, Codable {
        static let key = "byBoth"
        case zero, one
    }
    struct Flags: OptionSet, DefaultConvertible {
        static let key = "flags"
        let rawValue: Int
        static let first = Flags(rawValue: 1)
        static let second = Flags(rawValue: 2)
    }
    struct CodableFlags: OptionSet, DefaultConvertible, Codable {
        static let key = "codableFlags"
        let rawValue: UInt8
    }
    struct Level: RawRepresentable, DefaultConvertible, Equatable {
        static let key = "level"
        let rawValue: [Double]
        init?(rawValue: [Double]) {
            guard rawValue.count == 2 else { return nil }
            self.rawValue = rawValue
        }
    }
    struct Box<Content: Codable & Sendable & Equatable>: DefaultConvertible, Codable, Equatable {
        static var key: String { "box" }
        var content: Content
    }
    final class Reference: DefaultConvertible, Codable {
        static let key = "reference"
        let name: String
        init(name: String) { self.name = name }
    }
    enum Payload: DefaultConvertible, Codable, Equatable {
        static let key = "payload"
        case none
        case some(Int)
    }

    @Test func codableIsEnough() throws {
        let value = ByCodable(on: false)
        let copy = try store(
            value,
            as: [
                "on": false, "share": 0.5, "date": .date(Date(timeIntervalSinceReferenceDate: 0.1)),
                "names": ["a", "$null", "$$null"],
            ])
        #expect(copy == value)
        #expect(try store(Payload.some(5), as: ["some": ["_0": 5]]) == .some(5))
        #expect(try store(Payload.none, as: ["none": [:]]) == Payload.none)
        #expect(try store(Reference(name: "a"), as: ["name": "a"]).name == "a")
    }

    @Test func aRawValueIsEnough() throws {
        #expect(try store(ByRawValue.large, as: "large") == .large)
        #expect(try store(ByRawValue.null, as: "$null") == .null)
        #expect(try store([.first, .second] as Flags, as: 3) == [.first, .second])
        #expect(try store(#require(Level(rawValue: [0, 1])), as: [0.0, 1.0]).rawValue == [0, 1])
    }

    @Test func codableAndARawValueAreTheRawValue() throws {
        #expect(try store(ByBoth.one, as: 1) == .one)
        #expect(try store(CodableFlags(rawValue: 200), as: 200).rawValue == 200)
    }

    @Test func genericTypesConvertByWhatTheyHold() throws {
        #expect(try store(Box(content: 5), as: ["content": 5]) == Box(content: 5))
        #expect(try store(Box(content: ["a"]), as: ["content": ["a"]]) == Box(content: ["a"]))
        #expect(try store(Box(content: Box(content: true)), as: ["content": ["content": true]]).content.content)
    }

    @Test func badObjectsReadNil() {
        #expect(ByCodable(5) == nil)
        #expect(ByCodable([:] as [String: Any]) == nil)
        #expect(ByCodable(["on": true, "share": "a"]) == nil)
        #expect(ByCodable(URL(string: "https://example.com")!) == nil)
        #expect(ByRawValue("small") == nil)
        #expect(ByRawValue(5) == nil)
        #expect(ByRawValue([:] as [String: Any]) == nil)
        #expect(ByBoth(2) == nil)
        #expect(ByBoth("one") == nil)
        #expect(Flags("1") == nil)
        #expect(Level([1.0]) == nil)
        #expect(Box<Int>(["content": "a"]) == nil)
        #expect(CodableFlags(256) == nil)
    }

    struct OptionalName: RawRepresentable, DefaultConvertible, Equatable {
        static let key = "optionalName"
        let rawValue: String?
    }

    @Test func aRawValueThatIsNilIsRefusedAndNotTakenForAString() throws {
        for name in ["$null", "$$null", "a"] {
            let value = OptionalName(rawValue: name)
            #expect(try store(value, as: .string(name)) == value)
        }
        #expect(try refusal(of: OptionalName(rawValue: nil))?.kind == .refused)
        #expect(OptionalName(OptionalName(rawValue: nil).serialize()) == nil)
    }
}

extension DefaultConvertibleTests {
    struct ByHand: DefaultConvertible, Equatable {
        static let key = "byHand"
        var volume: Float
        var inner: ByCodable
        init(volume: Float, inner: ByCodable) {
            self.volume = volume
            self.inner = inner
        }
        init?(_ object: Any) {
            guard let dict = object as? [String: Any], let volume = dict["volume"] as? Double,
                let inner = dict["inner"].flatMap({ ByCodable($0) })
            else { return nil }
            self.init(volume: Float(volume), inner: inner)
        }
        func serialize() -> Any { ["volume": volume, "inner": inner.serialize(), "kind": ByBoth.one.serialize()] }
    }
    enum EnumByHand: DefaultConvertible, Equatable {
        static let key = "enumByHand"
        case off
        case on(Int)
        init?(_ object: Any) {
            guard let level = object as? Int else { return nil }
            self = level == 0 ? .off : .on(level)
        }
        func serialize() -> Any {
            switch self {
            case .off: 0
            case .on(let level): level
            }
        }
    }
    final class ObjectByHand: NSObject, DefaultConvertible {
        static let key = "objectByHand"
        let name: String
        init?(_ object: Any) {
            guard let name = object as? String else { return nil }
            self.name = name
        }
        func serialize() -> Any { name }
    }
    struct GenericByHand<Content: DefaultConvertible>: DefaultConvertible {
        static var key: String { "generic." + Content.key }
        var contents: [Content]
        init(contents: [Content]) { self.contents = contents }
        init?(_ object: Any) {
            guard let list = object as? [Any] else { return nil }
            contents = list.compactMap { Content($0) }
        }
        func serialize() -> Any { contents.map { $0.serialize() } }
    }

    @Test func typesConvertThemselves() throws {
        let inner: PropertyList = try PropertyList(encoding: ByCodable())
        let value = ByHand(volume: 0.5, inner: ByCodable())
        #expect(try store(value, as: ["volume": 0.5, "inner": inner, "kind": 1]) == value)
        #expect(try store(EnumByHand.on(3), as: 3) == .on(3))
        #expect(try store(EnumByHand.off, as: 0) == .off)
        #expect(try store(#require(ObjectByHand("a")), as: "a").name == "a")
        #expect(try store(GenericByHand(contents: [ByBoth.one, .zero]), as: [1, 0]).contents == [.one, .zero])
        let twice = GenericByHand(contents: [GenericByHand(contents: [ByBoth.one])])
        #expect(try store(twice, as: [[1]]).contents.count == 1)
    }

    @Test func aValueThatItsTypeCannotReadIsUnreadable() throws {
        let suite = DefaultsSuite.inMemory(["enumByHand": "a"])
        let error = #expect(throws: DefaultsError.self) { try PersistentStore<EnumByHand>(in: suite).load() }
        #expect(error?.kind == .unreadable)
        #expect(error?.key == "enumByHand")
        #expect(error?.type == "EnumByHand")
    }

    /// The hand-written `serialize()` returns what the default `init?(_:)` reads.
    struct OnlySerializes: DefaultConvertible, Codable, Equatable {
        static let key = "onlySerializes"
        var a = 1
        func serialize() -> Any { ["a": a, "writtenByHand": true] }
    }
    /// The hand-written `init?(_:)` reads what the default `serialize()` returns, and an older
    /// form.
    struct OnlyReads: DefaultConvertible, Codable, Equatable {
        static let key = "onlyReads"
        var a = 1
        init(a: Int) { self.a = a }
        init?(_ object: Any) {
            guard let a = object as? Int ?? (object as? [String: Any])?["a"] as? Int else { return nil }
            self.a = a
        }
    }
    enum OnlySerializesRaw: Int, DefaultConvertible {
        static let key = "onlySerializesRaw"
        case zero, one
        func serialize() -> Any { Double(rawValue) }
    }
    enum OnlyReadsRaw: Int, DefaultConvertible, Codable {
        static let key = "onlyReadsRaw"
        case zero, one
        init?(_ object: Any) { self = object as? Int == 1 || object as? String == "one" ? .one : .zero }
    }

    @Test func theMethodThatIsImplementedIsCalled() throws {
        #expect(try store(OnlySerializes(a: 5), as: ["a": 5, "writtenByHand": true]) == OnlySerializes(a: 5))
        #expect(try store(OnlyReads(a: 5), as: ["a": 5]) == OnlyReads(a: 5))
        #expect(try store(OnlySerializesRaw.one, as: 1.0) == .one)
        #expect(try store(OnlyReadsRaw.one, as: 1) == .one)
        // More than once, because the result of the first call is cached.
        for stored in [7, ["a": 7], 7] as [PropertyList] {
            let suite = DefaultsSuite.inMemory(["onlyReads": stored])
            #expect(try PersistentStore<OnlyReads>(in: suite).load() == OnlyReads(a: 7))
        }
        let suite = DefaultsSuite.inMemory(["onlyReadsRaw": "one"])
        #expect(try PersistentStore<OnlyReadsRaw>(in: suite).load() == .one)
        #expect(
            try UserDefault(DefaultKey<OnlyReadsRaw>("onlyReadsRaw", default: .zero), in: suite).store.load() == .one)
        #expect(
            try UserDefault(DefaultKey<OnlyReadsRaw?>("onlyReadsRaw", default: nil), in: suite).store.load()
                == .some(.one))
    }
}

extension DefaultConvertibleTests {
    struct Deep: DefaultConvertible, Codable {
        static let key = "deep"
        var children: [Deep]
    }
    private func refusal<Value: DefaultConvertible>(of value: Value) throws -> DefaultsError? {
        let suite = DefaultsSuite.inMemory([Value.key: "before", "other": 1])
        var refusal: DefaultsError?
        // Twice, because a type that was refused once must be checked again.
        for _ in 0..<2 {
            do {
                try PersistentStore<Value>(in: suite).save(value)
                refusal = nil
            } catch let error as DefaultsError {
                refusal = error
            }
        }
        #expect(try suite.keys().sorted() == [Value.key, "other"].sorted())
        #expect(suite[DefaultKey<PropertyList?>(Value.key)] == "before")
        return refusal
    }

    @Test func aValueThatIsTooDeepIsRefused() throws {
        let deep = (0..<200).reduce(Deep(children: [])) { deep, _ in Deep(children: [deep]) }
        #expect(try refusal(of: deep)?.kind == .refused)
        #expect((deep.serialize() as? DefaultsError)?.kind == .refused)
        #expect(Deep(deep.serialize()) == nil)
        #expect(
            try store(Deep(children: [Deep(children: [])]), as: ["children": [["children": []]]]).children.count == 1)
    }
}
