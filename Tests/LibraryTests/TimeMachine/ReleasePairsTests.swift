import Foundation
import TestSupport
import Testing
import TypedDefaults

private protocol Number: Sendable { static var value: Int { get } }
private enum Two: Number { static let value = 2 }
private enum Five: Number { static let value = 5 }
private enum Nine: Number { static let value = 9 }

/// A release of one config, with its own defaults.
private struct Release<A: Number, B: Number, C: Number>: DefaultConfig, Equatable {
    static var key: String { "Config" }
    static var rules: [DefaultRule<Self>] { [.on(\.c, .clamped(to: 0...20))] }
    var a = A.value
    var b = B.value
    var c = C.value
}

/// The calls of a program of one release.
private struct Program {
    let defaults: [String: Int]
    let read: (DefaultsSuite) -> [String: Int]
    let update: (DefaultsSuite, String, Int) throws -> Void
    let save: (DefaultsSuite, [String: Int]) throws -> Void

    init<A: Number, B: Number, C: Number>(_ type: Release<A, B, C>.Type) {
        func entries(_ value: Release<A, B, C>) -> [String: Int] { ["a": value.a, "b": value.b, "c": value.c] }
        defaults = entries(type.init())
        read = { entries(PersistentStore<Release<A, B, C>>(in: $0).value) }
        update = { suite, name, value in
            try PersistentStore<Release<A, B, C>>(in: suite).update { config in
                switch name {
                case "a": config.a = value
                case "b": config.b = value
                default: config.c = value
                }
            }
        }
        save = { suite, values in
            try PersistentStore<Release<A, B, C>>(in: suite).save(
                .init(a: values["a"]!, b: values["b"]!, c: values["c"]!))
        }
    }

    private static let numbers: [any Number.Type] = [Two.self, Five.self, Nine.self]
    static func random(_ generator: inout SeededGenerator) -> Program {
        func make<A: Number, B: Number, C: Number>(_: A.Type, _: B.Type, _: C.Type) -> Program {
            Program(Release<A, B, C>.self)
        }
        let chosen = (0..<3).map { _ in numbers.randomElement(using: &generator)! }
        return make(chosen[0], chosen[1], chosen[2])
    }
}

/// What the documentation says, without a line of the library.
private struct Model {
    var stored: [String: Int]?
    var before: [String: Int]?
    var behind: [String: Int]?

    private func valid(_ entries: [String: Int]) -> [String: Int] {
        var entries = entries
        if let c = entries["c"] { entries["c"] = min(max(c, 0), 20) }
        return entries
    }

    private func filled(_ entries: [String: Int], _ program: Program) -> [String: Int] {
        valid(program.defaults.merging(entries) { $1 })
    }

    func value(_ program: Program) -> [String: Int] { filled(before ?? stored ?? behind ?? [:], program) }

    mutating func update(_ name: String, _ value: Int, _ program: Program) {
        let old = filled(stored ?? behind ?? [:], program)
        var new = old
        new[name] = value
        new = valid(new)
        if stored == nil, new == old { return }
        stored = new.filter {
            stored?[$0.key] != nil || $0.value != program.defaults[$0.key] || stored == nil && old[$0.key] != $0.value
        }
    }

    mutating func save(_ values: [String: Int]) { stored = valid(values) }
}

struct ReleasePairsTests {
    /// Pairs of releases share a suite. `TYPED_DEFAULTS_PAIRS` is the number of pairs.
    @Test(.timeLimit(.minutes(10)))
    func pairsOfReleasesBehaveAsDocumented() throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["TYPED_DEFAULTS_PAIRS"].flatMap(Int.init) ?? 200
        var generator = SeededGenerator(seed: 27)
        for pair in 0..<count {
            let programs = [Program.random(&generator), Program.random(&generator)]
            let suite = DefaultsSuite.inMemory()
            suite.onFailure = { _ in }
            var model = Model()
            for step in 0..<30 {
                let program = programs.randomElement(using: &generator)!
                let value = [2, 5, 9, 30].randomElement(using: &generator)!
                switch Int.random(in: 0..<10, using: &generator) {
                case 0..<5:
                    let name = ["a", "b", "c"].randomElement(using: &generator)!
                    try program.update(suite, name, value)
                    model.update(name, value, program)
                case 5:
                    try program.save(suite, ["a": 2, "b": value, "c": value])
                    model.save(["a": 2, "b": value, "c": value])
                case 6:
                    try suite.update { $0["Config"] = nil }
                    model.stored = nil
                default:
                    func layer() -> [String: Int]? {
                        [nil, nil, ["a": value], ["b": 5, "c": value]].randomElement(using: &generator)!
                    }
                    (model.before, model.behind) = (layer(), layer())
                    func values(_ entries: [String: Int]?) -> [String: PropertyList] {
                        entries.map { ["Config": .dictionary($0.mapValues { .integer(Int64($0)) })] } ?? [:]
                    }
                    suite.layers = [.values(values(model.before)), .stored, .values(values(model.behind))]
                }
                for program in programs {
                    #expect(program.read(suite) == model.value(program), "pair \(pair), step \(step)")
                }
                let stored = try suite.contents()["Config"]
                #expect(
                    stored == model.stored.map { .dictionary($0.mapValues { .integer(Int64($0)) }) },
                    "pair \(pair), step \(step)")
            }
        }
    }

    /// Three releases write one config in turn, and each reads what users chose in the others.
    @Test(arguments: Backend.allCases)
    func savedAndUpdatedConfigsOutliveThreeReleases(backend: Backend) throws {
        try backend.withSuite { suite in
            let first = Program(Release<Two, Two, Two>.self)
            let second = Program(Release<Five, Two, Five>.self)
            let third = Program(Release<Nine, Nine, Nine>.self)
            try first.update(suite, "b", 7)
            #expect(second.read(suite) == ["a": 5, "b": 7, "c": 5])
            try second.update(suite, "c", 6)
            #expect(third.read(suite) == ["a": 9, "b": 7, "c": 6])
            // A downgrade.
            #expect(first.read(suite) == ["a": 2, "b": 7, "c": 6])
            try second.save(suite, second.read(suite))
            #expect(third.read(suite) == ["a": 5, "b": 7, "c": 6])
            try third.update(suite, "a", 1)
            #expect(first.read(suite) == ["a": 1, "b": 7, "c": 6])
        }
    }
}
