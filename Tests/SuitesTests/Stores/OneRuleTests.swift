import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

private struct Camera: DefaultConfig, Equatable {
    static let key = "Camera"
    var zoom = 1
    var size = "medium"
    var names = ["a", "b"]
}

/// `Codable`, but no config.
private struct Counts: Codable, Equatable {
    var a = 0
    var b = 0
    var inner = Inner()
    struct Inner: Codable, Equatable {
        var a = 0
        var b = 0
    }
}

private final class Box: DefaultConfig, @unchecked Sendable {
    static let key = "Box"
    var size = 1
    var names = ["a"]
}

private let counts = DefaultKey("counts", default: Counts())
private let jsonCounts = DefaultKey("counts", default: Counts(), form: .jsonData)
private let optionalJSONCounts = DefaultKey<Counts?>("counts", default: Counts(), form: .jsonData)
private let number = DefaultKey("number", default: 5)
private let camera = DefaultKey(Camera.self)
private struct Stop: Error {}

private struct Wrapped {
    @UserDefault() var camera: Camera
    @UserDefault(counts) var numbers: Counts
    init(in suite: DefaultsSuite) {
        _camera = UserDefault(in: suite)
        _numbers = UserDefault(counts, in: suite)
    }
}

/// Every change stores what it changes, however it is spelled.
@Suite(.serialized) struct OneRuleTests {
    // MARK: Contents

    @Test func anAssignmentOverADefaultOfTheKeyStoresWhatDiffersFromIt() throws {
        let key = DefaultKey("Camera", default: Camera(zoom: 3, size: "large"))
        let ways: [(DefaultsSuite, Camera) throws -> Void] = [
            { suite, new in suite[key] = new },
            { suite, new in UserDefault(key, in: suite).value = new },
            { suite, new in try suite.update { $0[key] = new } },
            { suite, new in try suite.update(key) { $0 = new } },
        ]
        for write in ways {
            let suite = DefaultsSuite.inMemory()
            try write(suite, Camera(zoom: 1, size: "large"))
            // A missing size would read as the default of the type.
            #expect(try suite.contents() == ["Camera": ["zoom": 1, "size": "large"]])
        }
    }

    // MARK: Rules

    /// Two edits that are valid alone, but not together.
    @Test func anEditThatBreaksARuleWithAnotherOneIsRefused() throws {
        struct Span: DefaultConfig, Equatable {
            static let key = "Span"
            static let rules: [DefaultRule<Span>] = [DefaultRule("low below high") { $0.low < $0.high }]
            var low = 1
            var high = 10
            var name = ""
        }
        let suite = DefaultsSuite.inMemory()
        let failures = Failures(of: suite)
        var draft = PersistentStore<Span>(in: suite).draft()
        draft.value.low = 8
        func edit(_ span: inout Span) {
            (suite[Span.self].name, suite[Span.self].high) = ("other", 5)
            span.low = 8
        }
        edit(&suite[Span.self])
        #expect(failures.kinds == [.invalid])
        #expect(fails(with: .invalid) { try draft.apply() })
        #expect(suite[Span.self].name == "other" && suite[Span.self].high == 5 && suite[Span.self].low == 1)
    }

    // MARK: Two threads

    /// Two ways to edit in place, each another property of one value.
    private static let edits: [String: @Sendable (DefaultsSuite, _ isFirst: Bool) throws -> Void] = [
        "key": { suite, isFirst in if isFirst { suite[counts].a += 1 } else { suite[counts].b += 1 } },
        "JSON": { suite, isFirst in
            if isFirst { suite[jsonCounts].a += 1 } else { suite[jsonCounts].b += 1 }
        },
        "optional JSON": { suite, isFirst in
            let counts = UserDefault(optionalJSONCounts, in: suite)
            if isFirst { counts.value?.a += 1 } else { counts.value?.b += 1 }
        },
        "type": { suite, isFirst in
            if isFirst { suite[Pair.self].counts.inner.a += 1 } else { suite[Pair.self].others.inner.b += 1 }
        },
        "wrapper": { suite, isFirst in
            let wrapped = Wrapped(in: suite)
            if isFirst { wrapped.numbers.a += 1 } else { wrapped.numbers.b += 1 }
        },
        "setting": { suite, isFirst in
            let setting = UserDefault(counts, in: suite)
            if isFirst { setting.value.a += 1 } else { setting.value.b += 1 }
        },
        "value": { suite, isFirst in
            let store = PersistentStore<Pair>(in: suite)
            if isFirst { store.value.counts.inner.a += 1 } else { store.value.others.inner.b += 1 }
        },
        "draft": { suite, isFirst in
            var draft = PersistentStore<Pair>(in: suite).draft()
            if isFirst { draft.value.counts.inner.a += 1 } else { draft.value.others.inner.b += 1 }
            try draft.apply()
        },
        "key and update": { suite, isFirst in
            if isFirst { suite[counts].a += 1 } else { try suite.update(counts) { $0.b += 1 } }
        },
        "key and contents": { suite, isFirst in
            if isFirst { suite[counts].a += 1 } else { try suite.update { $0[counts].b += 1 } }
        },
    ]
    private struct Pair: DefaultConfig {
        static let key = "pair"
        var counts = Counts()
        var others = Counts()
    }

    @Test(arguments: edits.keys.sorted(), Backend.allCases)
    func editsOfDifferentPropertiesByTwoThreadsAreKept(way: String, backend: Backend) throws {
        let (edit, rounds) = (try #require(Self.edits[way]), 100)
        try backend.withSuite { suite in
            onThreads(2) { index in
                for _ in 0..<rounds {
                    do { try edit(suite, index == 0) } catch { Issue.record(error) }
                }
            }
            let (pair, plain) = (PersistentStore<Pair>(in: suite).value, suite[counts])
            #expect(pair.counts.inner.a + plain.a == rounds)
            #expect(pair.others.inner.b + plain.b == rounds)
        }
    }

    // MARK: Stores of a program

    /// Three methods, of which `set` and `remove` are counted.
    private final class CountingStore<Default: Sendable>: DefaultStoreType {
        let state = Guarded<(value: Default?, writes: Int)>((nil, 0))
        var writes: Int { state.withLock { $0.writes } }
        func get() -> Default? { state.withLock { $0.value } }
        func set(_ value: Default) { state.withLock { $0 = (value, $0.writes + 1) } }
        func remove() { state.withLock { $0 = (nil, $0.writes + 1) } }
    }

    @Test func anUpdateOfAStoreOfAProgramThatChangesNothingDoesNotSet() throws {
        func expectNoWrites<Default: Sendable>(
            of start: Default, _ change: (inout Default) -> Void, sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            let store = CountingStore<Default>()
            for writes in [0, 1] {
                for store in [AnyStore(store), AnyStore(AnyStore(store))] {
                    try store.updateStored { _ in }
                    try store.update(default: start) { _ in }
                    if writes == 1 { try store.updateStored { value in value = value! } }
                }
                #expect(store.writes == writes, sourceLocation: sourceLocation)
                if writes == 0 { store.set(start) }
            }
            try store.update(default: start, change)
            #expect(store.writes == 2, sourceLocation: sourceLocation)
            try store.updateStored { $0 = nil }
            #expect(store.writes == 3, sourceLocation: sourceLocation)
        }
        // `Equatable`, a form without `Equatable`, and an object with a form.
        try expectNoWrites(of: 1) { $0 += 1 }
        try expectNoWrites(of: Pair()) { $0.counts.a = 1 }
        try expectNoWrites(of: Box()) { $0.size = 7 }
    }

    /// What can neither be compared nor stored by the library is written.
    @Test func aValueThatCannotBeComparedIsSet() throws {
        struct Opaque {}
        let store = CountingStore<Opaque>()
        store.set(Opaque())
        try store.updateStored { _ in }
        #expect(store.writes == 2)
    }

    // MARK: A function that throws

    /// Every way to pass a part to a function that changes it and then throws.
    private static let throwing: [String: @Sendable (DefaultsSuite) throws -> Void] = [
        "key": { try change(&$0[camera].zoom) },
        "value": { try change(&PersistentStore<Camera>(in: $0).value.zoom) },
        "value of any store": { try change(&AnyStore<Camera>.persistent(in: $0).value.zoom) },
        "setting": { try change(&UserDefault<Camera>(in: $0).value.zoom) },
        "wrapper": { try change(&Wrapped(in: $0).camera.zoom) },
        "contents": { suite in try suite.update { contents in try? change(&contents[Camera.self].zoom) } },
        "contents by key": { suite in try suite.update { contents in try? change(&contents[camera].zoom) } },
    ]
    private static func change(_ zoom: inout Int) throws {
        zoom = 7
        throw Stop()
    }

    @Test(arguments: throwing.keys.sorted())
    func whatAFunctionWroteBeforeItThrewIsStored(way: String) throws {
        let write = try #require(Self.throwing[way])
        let suite = DefaultsSuite.inMemory()
        do { try write(suite) } catch is Stop {}
        #expect(try suite.contents() == ["Camera": ["zoom": 7]])
    }

    // MARK: Releases

    private enum Plain: String, Sendable { case photo, video }
    private enum PlainConvertible: String, DefaultConvertible {
        static let key = "mode"
        case photo, video
    }
    /// The next release: the type has a `Codable` of its own, which writes another form.
    private enum Coded: String, DefaultConvertible, Codable {
        static let key = "mode"
        case photo, video

        private enum Keys: CodingKey { case kind }
        init(from decoder: any Decoder) throws {
            let kind = try decoder.container(keyedBy: Keys.self).decode(Int.self, forKey: .kind)
            self = kind == 0 ? .photo : .video
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(self == .photo ? 0 : 1, forKey: .kind)
        }
    }

    @Test func aStoredRawValueIsReadByATypeThatGainedItsOwnCodable() throws {
        let ways: [(DefaultsSuite) -> Void] = [
            { $0[DefaultKey("mode", default: Plain.photo)] = .video },
            { PersistentStore<PlainConvertible>(in: $0).set(.video) },
        ]
        for write in ways {
            let suite = DefaultsSuite.inMemory()
            write(suite)
            let next = DefaultsSuite.inMemory()
            try next.replaceContents(with: suite.contents())
            let failures = Failures(of: next)
            let key = DefaultKey("mode", default: Coded.photo)
            #expect(next[key] == .video)
            #expect(next[DefaultKey<Coded?>("mode", default: nil)] == .video)
            #expect(PersistentStore<Coded>(in: next).get() == .video)
            next[key] = .photo
            #expect(try next.contents() == ["mode": ["kind": 0]])
            #expect(next[key] == .photo)
            #expect(failures.all.isEmpty)
        }
    }

    // MARK: Values of other kinds

    /// Ways to change a class. `suite[key].size += 1` would only read the object.
    private static let classChanges: [String: @Sendable (DefaultsSuite) throws -> Void] = [
        "update": { suite in try PersistentStore<Box>(in: suite).update { $0.size += 1 } },
        "value": { grow(&PersistentStore<Box>(in: $0).value) },
        "key": { grow(&$0[DefaultKey(Box.self)]) },
        "contents": { suite in try suite.update { grow(&$0[Box.self]) } },
        "draft": { suite in
            var draft = PersistentStore<Box>(in: suite).draft()
            draft.value.size += 1
            try draft.apply()
        },
    ]
    private static func grow(_ box: inout Box) { box.size += 1 }

    @Test(arguments: classChanges.keys.sorted())
    func aChangeOfAClassIsStoredAndLeavesItsDefaultAlone(way: String) throws {
        let (change, suite) = (try #require(Self.classChanges[way]), DefaultsSuite.inMemory())
        for size in [2, 3] as [Int64] {
            try change(suite)
            #expect(try suite.contents() == ["Box": ["size": .integer(size)]])
        }
        let defaultValue = DefaultKey(Box.self).defaultValue
        #expect(defaultValue.size == 1)
        // So that one way that changes the default does not make the others fail.
        defaultValue.size = 1
    }

    // MARK: Nothing

    private struct Ruled: DefaultConfig {
        static let key = "Camera"
        static let rules: [DefaultRule<Ruled>] = [.on(\.zoom, .in(1...9)), .on(\.focus, .clamped(to: 1...9))]
        var zoom = 1
        var focus = 1
        var size = "medium"
        var names = ["a", "b"]
        var note: String? = "x"
        var lens = Lens()
        struct Lens: Codable, Equatable { var (zoom, focus) = (1, 1) }
    }
    private static let kinds: [String: PropertyList?] = [
        "nothing": nil, "a choice": ["zoom": 3], "no choice": [:], "another form": ["zoom": 3.0],
        "an unknown entry": ["zoom": 3, "later": 1], "a nested unknown entry": ["lens": ["zoom": 2, "later": 1]],
        "an unreadable entry": ["zoom": "far"], "a bad element": ["names": ["a", 5]],
        "a part of a struct": ["lens": ["zoom": 2]], "a refused entry": ["zoom": 99],
        "a corrected entry": ["focus": 99],
        "all entries of the type": [
            "zoom": 1, "focus": 1, "size": "a", "names": [], "note": "y", "lens": ["zoom": 1, "focus": 1],
        ],
        "an unreadable value": "text", "JSON": .data(Data(#"{"zoom": 3, "later": 1}"#.utf8)),
        "JSON null": .data(Data("null".utf8)), "data": .data(Data([1, 2, 3])),
    ]

    @Test(arguments: kinds.keys.sorted(), [true, false])
    func anUpdateThatChangesNothingWritesNothing(kind: String, isLayered: Bool) throws {
        let backend = RecordingBackend()
        let suite = DefaultsSuite(backend: backend)
        suite.onFailure = { _ in }
        try suite.update { $0["Camera"] = Self.kinds[kind]! }
        if isLayered { suite.layers = [.stored, .values(["Camera": ["size": "small"]])] }
        let (store, key) = (PersistentStore<Ruled>(in: suite), DefaultKey(Ruled.self))
        let ways: [String: () throws -> Void] = [
            "update": { try store.update { _ in } },
            "an equal value": { try store.update { $0.size += "" } },
            "changed back": {
                try store.update {
                    $0.zoom += 1
                    $0.zoom -= 1
                }
            },
            "updateStored": { try? store.updateStored { _ in } },
            "any store": { try AnyStore(AnyStore(store)).update { _ in } },
            "value": { store.value.zoom += 0 },
            "key": { suite[key].zoom += 0 },
            "setting": { UserDefault(key, in: suite).value.zoom += 0 },
            "update of a key": { try suite.update(key) { _ in } },
            "optional key": { try? suite.update(DefaultKey<Ruled?>("Camera", default: nil)) { _ in } },
            "contents": { try suite.update { $0[key].zoom += 0 } },
            "contents of a type": { try suite.update { $0[Ruled.self].zoom += 0 } },
            "draft": {
                var draft = store.draft()
                try draft.apply()
            },
            "map": { try store.map(\.size).update(default: "medium") { _ in } },
        ]
        let before = try suite.contents()
        for (way, update) in ways {
            backend.removeAllCalls()
            try update()
            #expect(!backend.calls.contains { $0.name == .commit }, "\(way)")
            #expect(try suite.contents() == before, "\(way)")
        }
    }

    /// Only the last one must meet the rules.
    @Test func editsOfOneUpdateAreOneChange() throws {
        struct Span: DefaultConfig, Equatable {
            static let key = "Span"
            static let rules: [DefaultRule<Span>] = [DefaultRule("low below high") { $0.low < $0.high }]
            var (low, high) = (0, 10)
        }
        let suite = DefaultsSuite.inMemory()
        try suite.update { contents in
            contents[Span.self].low = 20
            #expect(contents[Span.self].low == 20)
            contents[Span.self].high = 30
        }
        #expect(try suite.contents() == ["Span": ["low": 20, "high": 30]])
        #expect(throws: DefaultsError.self) { try suite.update { $0[Span.self].low = 40 } }
        #expect(try suite.contents() == ["Span": ["low": 20, "high": 30]])
    }

    private final class Shared: DefaultConvertible, Codable, @unchecked Sendable {
        static let key = "shared"
        var n = 1
    }

    @Test func anUpdateThatThrowsLeavesTheObjectOfAStoreAlone() throws {
        struct Stop: Error {}
        let (store, object) = (ForeignStore<Shared>(), Shared())
        store.set(object)
        #expect(throws: Stop.self) {
            try store.update(default: Shared()) { shared in
                shared.n = 2
                throw Stop()
            }
        }
        #expect(object.n == 1)
    }
}
