import TestSupport
import TypedDefaults

@testable import TypedDefaultsTesting

/// A property of a random release, and what the documentation says about it.
protocol Variant: Sendable {
    associatedtype Value: Codable & Sendable
    static var start: Value { get }
    static var rule: DefaultRule<Value>? { get }
    /// The form of the default.
    static var form: PropertyList { get }
    /// Returns what a stored value reads as; `nil` for one that cannot be read.
    static func read(_ stored: PropertyList) -> PropertyList?
}

extension Variant {
    static var rule: DefaultRule<Value>? { nil }
}
extension Variant where Value == Int {
    static var form: PropertyList { .integer(Int64(start)) }
    static func read(_ stored: PropertyList) -> PropertyList? { readInteger(stored).map(PropertyList.integer) }
}

/// A double that is a whole number is read as an integer, too.
private func readInteger(_ stored: PropertyList) -> Int64? {
    switch stored {
    case .integer(let value): value
    case .double(let value): Int64(exactly: value)
    default: nil
    }
}
extension Variant where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    static var form: PropertyList { .string(start.rawValue) }
    static func read(_ stored: PropertyList) -> PropertyList? {
        Value.allCases.contains { .string($0.rawValue) == stored } ? stored : nil
    }
}

private enum Two: Variant { static let start = 2 }
private enum Five: Variant { static let start = 5 }
private enum Small: Variant {
    static let start = 2
    static var rule: DefaultRule<Int>? { .in(0...4) }
    static func read(_ stored: PropertyList) -> PropertyList? {
        readInteger(stored).flatMap { 0...4 ~= $0 ? .integer($0) : nil }
    }
}
private enum Clamped: Variant {
    static let start = 2
    static var rule: DefaultRule<Int>? { .clamped(to: 0...20) }
    static func read(_ stored: PropertyList) -> PropertyList? {
        readInteger(stored).map { .integer(min(max($0, 0), 20)) }
    }
}
private enum Text: Variant {
    static let start = "2"
    static var form: PropertyList { "2" }
    static func read(_ stored: PropertyList) -> PropertyList? { if case .string = stored { stored } else { nil } }
}
private enum Real: Variant {
    static let start = 2.0
    static var form: PropertyList { 2.0 }
    static func read(_ stored: PropertyList) -> PropertyList? {
        switch stored {
        case .double: stored
        case .integer(let value): .double(Double(value))
        default: nil
        }
    }
}
private enum On: Variant {
    static let start = true
    static var form: PropertyList { true }
    static func read(_ stored: PropertyList) -> PropertyList? {
        switch stored {
        case .bool: stored
        case .integer(0): false
        case .integer(1): true
        default: nil
        }
    }
}
private enum OldSize: Variant {
    enum Size: String, Codable, CaseIterable { case small, medium, huge }
    static let start = Size.small
}
private enum NewSize: Variant {
    enum Size: String, Codable, CaseIterable { case small, medium, tiny }
    static let start = Size.medium
}
private struct Lens: Codable, Sendable {
    var zoom = 1
    var curve: String
}
private struct LensWithFocus: Codable, Sendable {
    var zoom = 1
    var curve = "b"
    var focus = true
}
private enum LensA: Variant {
    static let start = Lens(curve: "a")
    static var form: PropertyList { ["zoom": 1, "curve": "a"] }
    static func read(_ stored: PropertyList) -> PropertyList? { readStruct(stored, form) }
}
private enum LensB: Variant {
    static let start = Lens(curve: "b")
    static var form: PropertyList { ["zoom": 1, "curve": "b"] }
    static func read(_ stored: PropertyList) -> PropertyList? { readStruct(stored, form) }
}
private enum LensC: Variant {
    static let start = LensWithFocus()
    static var form: PropertyList { ["zoom": 1, "curve": "b", "focus": true] }
    static func read(_ stored: PropertyList) -> PropertyList? { readStruct(stored, form) }
}

/// Each missing or unreadable part of a struct takes its default alone.
private func readStruct(_ stored: PropertyList, _ form: PropertyList) -> PropertyList? {
    guard case .dictionary(let stored) = stored, case .dictionary(let parts) = form else { return nil }
    return .dictionary(
        parts.reduce(into: parts) { parts, part in
            guard let new = stored[part.key] else { return }
            switch (part.value, new) {
            case (.integer, .integer), (.string, .string), (.bool, .bool): parts[part.key] = new
            default: break
            }
        })
}

private struct ABC<A: Variant, B: Variant, C: Variant>: DefaultConfig {
    static var key: String { "Config" }
    static var rules: [DefaultRule<Self>] {
        [A.rule.map { .on(\.a, $0) }, B.rule.map { .on(\.b, $0) }, C.rule.map { .on(\.c, $0) }].compactMap { $0 }
    }
    var a = A.start
    var b = B.start
    var c = C.start
}
private struct AB<A: Variant, B: Variant>: DefaultConfig {
    static var key: String { "Config" }
    static var rules: [DefaultRule<Self>] {
        [A.rule.map { .on(\.a, $0) }, B.rule.map { .on(\.b, $0) }].compactMap { $0 }
    }
    var a = A.start
    var b = B.start
}
private struct BOptional<B: Variant>: DefaultConfig {
    static var key: String { "Config" }
    static var rules: [DefaultRule<Self>] { [B.rule.map { .on(\.b, $0) }].compactMap { $0 } }
    var b = B.start
    var c: Int?
}

typealias StoredEntries = [String: PropertyList]

/// A random release: a program, and the model of it without a line of the library.
struct RandomRelease {
    private(set) var program: ReleasedProgram
    private(set) var start: StoredEntries = [:]
    private var readers: [String: (PropertyList) -> PropertyList?] = [:]
    private(set) var migrate: @Sendable (inout StoredEntries) -> Void = { _ in }

    private init<Config: DefaultConfig>(_ type: Config.Type, _ variants: [(String, any Variant.Type)]) {
        program = ReleasedProgram(settings: [DefaultKey(type)])
        for (name, variant) in variants {
            start[name] = variant.form
            readers[name] = { variant.read($0) }
        }
    }

    /// The properties that the release reads.
    func reads(_ stored: StoredEntries) -> StoredEntries {
        var reads = start
        for (name, read) in readers { if let value = stored[name].flatMap(read) { reads[name] = value } }
        return reads
    }

    func reads(_ name: String, _ value: PropertyList) -> PropertyList? { readers[name]?(value) }

    private static let variants: [any Variant.Type] = [
        Two.self, Five.self, Small.self, Clamped.self, Text.self, Real.self, On.self, OldSize.self, NewSize.self,
        LensA.self, LensB.self, LensC.self,
    ]

    static func random(migrates: Bool, _ generator: inout SeededGenerator) -> RandomRelease {
        func abc<A: Variant, B: Variant, C: Variant>(_ a: A.Type, _ b: B.Type, _ c: C.Type) -> RandomRelease {
            RandomRelease(ABC<A, B, C>.self, [("a", a), ("b", b), ("c", c)])
        }
        func ab<A: Variant, B: Variant>(_ a: A.Type, _ b: B.Type) -> RandomRelease {
            RandomRelease(AB<A, B>.self, [("a", a), ("b", b)])
        }
        func optional<B: Variant>(_ b: B.Type) -> RandomRelease {
            var release = RandomRelease(BOptional<B>.self, [("b", b)])
            release.readers["c"] = { readInteger($0).map(PropertyList.integer) }
            return release
        }
        func variant() -> any Variant.Type { variants.randomElement(using: &generator)! }
        let (a, b, c) = (variant(), variant(), variant())
        var release =
            switch Int.random(in: 0..<4, using: &generator) {
            case 0, 1: abc(a, b, c)
            case 2: ab(a, b)
            default: optional(b)
            }
        if migrates { release.addMigration(Int.random(in: 0..<6, using: &generator)) }
        return release
    }

    private mutating func addMigration(_ number: Int) {
        switch number {
        case 0: migrate = { entries in if let a = entries.removeValue(forKey: "a") { entries["c"] = a } }
        case 1: migrate = { entries in if case .integer(let a)? = entries["a"] { entries["a"] = .string("\(a)") } }
        case 2: migrate = { entries in entries["b"] = nil }
        default: return
        }
        let migrate = migrate
        var migrator = DefaultsMigrator()
        migrator.register("random \(number)") { contents in
            guard case .dictionary(var entries)? = contents["Config"] else { return }
            migrate(&entries)
            contents["Config"] = .dictionary(entries)
        }
        program = ReleasedProgram(settings: program.settings, migrator: migrator)
    }
}
