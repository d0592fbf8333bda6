import Foundation
import TestSupport
import Testing
import TypedDefaults

private struct Camera: DefaultConfig, Equatable {
    static let key = "Camera"
    var size = "medium"
    var zoom = 1.0
    var beeps = true
}

private struct Wrapped {
    @UserDefault() var camera: Camera
    init(in suite: DefaultsSuite) { _camera = UserDefault(in: suite) }
}

/// Three methods and `updateStored`, as a program may write it.
private struct Program: DefaultStoreType {
    let base: AnyStore<Camera>
    func get() -> Camera? { base.get() }
    func set(_ value: Camera) { base.set(value) }
    func remove() { base.remove() }
    func load() throws -> Camera? { try base.load() }
    func updateStored<Result>(_ body: (inout Camera?) throws -> Result) throws -> Result { try base.updateStored(body) }
}

/// What each spelling of a write stores, and what the next process reads.
struct WriteTableTests {
    private typealias Write = @Sendable (DefaultsSuite, _ size: String) throws -> Void
    private static let key = DefaultKey(Camera.self)
    private static func store(_ suite: DefaultsSuite) -> AnyStore<Camera> { .persistent(in: suite) }
    private static func chosen(_ suite: DefaultsSuite, _ size: String) -> Camera {
        var camera = store(suite).value
        camera.size = size
        return camera
    }

    /// Each sets the size of what it reads.
    private static let writes: [(name: String, write: Write)] = [
        ("set", { store($0).set(chosen($0, $1)) }),
        ("save", { try store($0).save(chosen($0, $1)) }),
        ("save, decorated", { try Decorated(base: store($0)).save(chosen($0, $1)) }),
        ("value =", { store($0).value = chosen($0, $1) }),
        ("value =, decorated", { Decorated(base: store($0)).value = chosen($0, $1) }),
        ("value =, program", { Program(base: store($0)).value = chosen($0, $1) }),
        ("[key] =", { $0[key] = chosen($0, $1) }),
        ("[type] =", { $0[Camera.self] = chosen($0, $1) }),
        ("wrapper =", { Wrapped(in: $0).camera = chosen($0, $1) }),
        ("contents =", { suite, size in try suite.update { $0[Camera.self] = chosen(suite, size) } }),
        ("value.x =", { store($0).value.size = $1 }),
        ("value.x =, decorated", { Decorated(base: store($0)).value.size = $1 }),
        ("value.x =, program", { Program(base: store($0)).value.size = $1 }),
        ("[key].x =", { $0[key].size = $1 }),
        ("[type].x =", { $0[Camera.self].size = $1 }),
        ("wrapper.x =", { Wrapped(in: $0).camera.size = $1 }),
        ("contents.x =", { suite, size in try suite.update { $0[Camera.self].size = size } }),
        ("update", { suite, size in try store(suite).update { $0.size = size } }),
        ("update, decorated", { suite, size in try Decorated(base: store(suite)).update { $0.size = size } }),
        ("update, program", { suite, size in try Program(base: store(suite)).update { $0.size = size } }),
        ("update(default:)", { suite, size in try store(suite).update(default: Camera()) { $0.size = size } }),
        ("update(key)", { suite, size in try suite.update(key) { $0.size = size } }),
        ("$wrapper.update", { suite, size in try Wrapped(in: suite).$camera.update { $0.size = size } }),
        ("updateStored", { suite, size in try store(suite).updateStored { $0?.size = size } }),
        (
            "draft",
            { suite, size in
                var draft = store(suite).draft()
                draft.value.size = size
                try draft.apply()
            }
        ),
        ("map.set", { store($0).map(\.size).set($1) }),
        ("map.save", { try store($0).map(\.size).save($1) }),
        ("map.update", { suite, size in try store(suite).map(\.size).update(default: "medium") { $0 = size } }),
        ("map.remove", { suite, _ in store(suite).map(\.size).remove() }),
    ]
    private static let stored: [(name: String, value: PropertyList?)] = [
        ("nothing", nil), ("zoom", ["zoom": 2.0]), ("all", ["size": "small", "zoom": 2.0, "beeps": false]),
        ("an entry of another version", ["iso": 100]), ("a size that cannot be read", ["size": 5, "zoom": 2.0]),
        ("a value that cannot be read", "x"),
    ]
    private static let layers: [(name: String, layers: [DefaultsSuite.Layer])] = [
        ("", [.stored]),
        (", zoom 9 before", [.values(["Camera": ["zoom": 9.0]], name: "admin"), .stored]),
        (", zoom 9 behind", [.stored, .values(["Camera": ["zoom": 9.0]], name: "site")]),
    ]

    /// What is stored after a write, and what the next process reads.
    private static func outcome(
        of write: Write, _ size: String, over value: PropertyList?, _ layers: [DefaultsSuite.Layer]
    ) throws -> String {
        func suite(_ contents: SuiteContents) throws -> DefaultsSuite {
            let suite = DefaultsSuite.inMemory()
            try suite.replaceContents(with: contents)
            suite.onFailure = { _ in }
            suite.layers = layers
            return suite
        }
        let before = try suite(value.map { ["Camera": $0] } ?? [:])
        var hasThrown = ""
        do { try write(before, size) } catch { hasThrown = "throws; " }
        let stored = try before.contents()
        let read = try suite(stored)[key]
        let texts = stored.map { "\($0.key) \($0.value.jsonText)" }
        return "\(hasThrown)\(texts.joined(separator: ", ")) -> \(read.size) \(read.zoom) \(read.beeps)"
    }

    /// The spellings with the same result share a line.
    private static func table() throws -> [String] {
        var lines: [String] = []
        for (place, layers) in layers {
            // `ThreeReleasesTests` has all of them with layers.
            for (start, value) in place.isEmpty ? stored : [stored[0], stored[1], stored[5]] {
                for size in ["large", "medium"] {
                    lines.append("stored: \(start)\(place); size = \(size)")
                    let outcomes = try writes.map { ($0.name, try outcome(of: $0.write, size, over: value, layers)) }
                    let groups = Dictionary(grouping: outcomes) { $0.1 }
                    for (text, group) in groups.sorted(by: { ($1.value.count, $0.key) < ($0.value.count, $1.key) }) {
                        let isMost = group.count > writes.count / 2
                        lines.append("  \(isMost ? "others" : group.map(\.0).joined(separator: " | ")): \(text)")
                    }
                }
            }
        }
        return lines
    }

    @Test func eachSpellingStoresWhatTheTableSays() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fixtures/Writes.txt")
        let expected = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        let found = try Self.table()
        #expect(found == expected, "the table as it is now:\n\(found.joined(separator: "\n"))")
    }
}
