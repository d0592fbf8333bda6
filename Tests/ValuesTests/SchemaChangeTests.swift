import TestSupport
import Testing
import TypedDefaults

#if canImport(AppleFoundation)
    import AppleFoundation
#else
    import Foundation
#endif

/// Generated types and generated changes of them: one version of a program writes a value, a second
/// version changes a part of it, and the first version reads it again.
///
/// 200 pairs of types by default. `TYPED_DEFAULTS_SCHEMAS=20000 swift test --filter SchemaChange`
/// runs more. An issue names the seed, and `TYPED_DEFAULTS_SCHEMA_SEED` runs just that one.
struct SchemaChangeTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seeds: [UInt64] =
        environment["TYPED_DEFAULTS_SCHEMA_SEED"].flatMap { UInt64($0) }.map { [$0] }
        ?? Array(0..<(environment["TYPED_DEFAULTS_SCHEMAS"].flatMap { UInt64($0) } ?? 200))

    @Test func nothingIsLostThatWasPromised() throws {
        for seed in Self.seeds {
            do {
                let losses = try VersionChange(seed: seed).losses(writing: .asTheLibrary)
                if !losses.isEmpty { Issue.record("seed \(seed): \(losses.joined(separator: "; "))") }
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
    }

    /// The test must detect a write that replaces the whole value, as in other libraries.
    @Test func aPlantedLossIsFound() throws {
        let found = try (0..<60).filter { seed in
            try !VersionChange(seed: seed).losses(writing: .wholeValues).isEmpty
        }
        #expect(found.count > 30)
    }
}

/// The type of a dynamic value.
private indirect enum Schema: Equatable, Sendable {
    case bool, int, double, string
    case cases([String])
    /// Only as a field of a record.
    case optional(Schema)
    /// Their elements have the same schema throughout the program, ``Part/schema``. A list that
    /// cannot be read is decoded element by element, so the type of an element cannot depend on the
    /// place.
    case array, dictionary
    case record([Field])

    struct Field: Equatable, Sendable {
        var name: String
        var schema: Schema
    }

    var withoutOptional: Schema { if case .optional(let wrapped) = self { wrapped } else { self } }
    var isOptional: Bool { self != withoutOptional }

    /// Whether there are arrays or dictionaries in it.
    var holdsParts: Bool {
        switch self {
        case .array, .dictionary: true
        case .optional(let wrapped): wrapped.holdsParts
        case .record(let fields): fields.contains { $0.schema.holdsParts }
        default: false
        }
    }

    func field(_ name: String) -> Schema? {
        guard case .record(let fields) = self else { return nil }
        return fields.first { $0.name == name }?.schema
    }
}

/// A value of the type that the current task's schema describes.
private struct Node: Codable, Equatable, Sendable {
    indirect enum Content: Equatable, Sendable {
        case bool(Bool)
        case int(Int)
        case double(Double)
        case string(String)
        case array([Part])
        case dictionary([String: Part])
        case record([String: Node])
    }
    var content: Content

    @TaskLocal static var schema = Schema.bool

    init(_ content: Content) { self.content = content }

    /// The names of the record's fields, and no others.
    struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init?(stringValue: String) {
            guard Node.schema.field(stringValue) != nil else { return nil }
            self.stringValue = stringValue
        }
        init?(intValue: Int) { return nil }
    }

    init(from decoder: any Decoder) throws {
        switch Node.schema {
        case .bool: content = .bool(try decoder.singleValueContainer().decode(Bool.self))
        case .int: content = .int(try decoder.singleValueContainer().decode(Int.self))
        case .double: content = .double(try decoder.singleValueContainer().decode(Double.self))
        case .string: content = .string(try decoder.singleValueContainer().decode(String.self))
        case .cases(let cases):
            let name = try decoder.singleValueContainer().decode(String.self)
            guard cases.contains(name) else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "no case"))
            }
            content = .string(name)
        case .optional(let wrapped):
            self = try Node.$schema.withValue(wrapped) { try Node(from: decoder) }
        case .array: content = .array(try decoder.singleValueContainer().decode([Part].self))
        case .dictionary:
            content = .dictionary(try decoder.singleValueContainer().decode([String: Part].self))
        case .record(let fields):
            let container = try decoder.container(keyedBy: Key.self)
            var values: [String: Node] = [:]
            for field in fields {
                values[field.name] = try Node.$schema.withValue(field.schema.withoutOptional) {
                    field.schema.isOptional
                        ? try container.decodeIfPresent(Node.self, forKey: Key(field.name))
                        : try container.decode(Node.self, forKey: Key(field.name))
                }
            }
            content = .record(values)
        }
    }

    func encode(to encoder: any Encoder) throws {
        if case .record(let values) = content {
            var container = encoder.container(keyedBy: Key.self)
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                try container.encode(value, forKey: Key(name))
            }
            return
        }
        var container = encoder.singleValueContainer()
        switch content {
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .dictionary(let value): try container.encode(value)
        case .record: break
        }
    }
}

/// An element of an array or a dictionary.
private struct Part: Codable, Equatable, Sendable {
    let node: Node

    @TaskLocal static var schema = Schema.bool

    init(_ node: Node) { self.node = node }
    init(from decoder: any Decoder) throws {
        node = try Node.$schema.withValue(Part.schema) { try Node(from: decoder) }
    }
    func encode(to encoder: any Encoder) throws { try node.encode(to: encoder) }
}

/// The types of one version of a program.
private struct Version {
    let schema: Schema
    let part: Schema

    /// Runs `body` as this version.
    func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        try Node.$schema.withValue(schema) { try Part.$schema.withValue(part) { try body() } }
    }
}

// MARK: - Generating

extension SeededGenerator {
    fileprivate mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

    fileprivate mutating func schema(depth: Int, inPart: Bool = false) -> Schema {
        switch below(depth > 0 ? 12 : 6) {
        case 0: .bool
        case 1, 2: .int
        case 3: .double
        case 4: .string
        case 5:
            .cases(Array(["red", "green", "blue", "black"].shuffled(using: &self).prefix(2 + below(2))))
        case 6 where !inPart: .array
        case 7 where !inPart: .dictionary
        default: record(depth: depth - 1, inPart: inPart)
        }
    }

    fileprivate mutating func record(depth: Int, inPart: Bool = false) -> Schema {
        let names = ["a", "b", "c", "d", "e", "f", "g"].shuffled(using: &self).prefix(1 + below(5))
        return .record(names.map { Schema.Field(name: $0, schema: field(depth: depth, inPart)) })
    }

    private mutating func field(depth: Int, _ inPart: Bool) -> Schema {
        let schema = schema(depth: depth, inPart: inPart)
        return below(4) == 0 ? .optional(schema) : schema
    }

    /// A schema that a later version might have in place of this one.
    fileprivate mutating func change(of schema: Schema, inPart: Bool = false) -> Schema {
        switch schema {
        case .record(var fields) where below(5) > 0:
            switch below(4) {
            case 0:
                if let name = ["a", "b", "c", "d", "e", "f", "g"].filter({ schema.field($0) == nil })
                    .randomElement(using: &self)
                {
                    fields.append(Schema.Field(name: name, schema: field(depth: 1, inPart)))
                }
            case 1 where fields.count > 1: fields.remove(at: below(fields.count))
            default:
                let index = below(fields.count)
                fields[index].schema = change(of: fields[index].schema, inPart: inPart)
            }
            return .record(fields)
        case .optional(let wrapped):
            return below(2) == 0
                ? wrapped : .optional(change(of: wrapped, inPart: inPart).withoutOptional)
        case .cases(let cases) where below(2) == 0: return .cases(Array(cases.dropFirst()) + ["violet"])
        case .int where below(2) == 0: return .double
        case .double where below(2) == 0: return .int
        default: return self.schema(depth: 1, inPart: inPart)
        }
    }

    fileprivate mutating func value(of schema: Schema) -> Node {
        switch schema {
        case .bool: return Node(.bool(.random(using: &self)))
        case .int: return Node(.int(below(1000)))
        case .double: return Node(.double(Double(below(1000)) / 4))
        case .string: return Node(.string("text \(below(1000))"))
        case .cases(let cases): return Node(.string(cases.randomElement(using: &self) ?? ""))
        case .optional(let wrapped): return value(of: wrapped)
        case .array: return Node(.array((0..<below(4)).map { _ in Part(value(of: Part.schema)) }))
        case .dictionary:
            let entries = (0..<below(4)).map { _ in ("k\(below(9))", Part(value(of: Part.schema))) }
            return Node(.dictionary(Dictionary(entries) { $1 }))
        case .record(let fields):
            var values: [String: Node] = [:]
            for field in fields where !field.schema.isOptional || below(3) > 0 {
                values[field.name] = value(of: field.schema)
            }
            return Node(.record(values))
        }
    }

    /// Changes one field of a record or of a record in it, to a value that differs.
    ///
    /// - Returns: The path of the field.
    fileprivate mutating func changeField(of node: inout Node, _ schema: Schema) -> [String] {
        guard case .record(var values) = node.content, case .record(let fields) = schema,
            let field = fields.randomElement(using: &self)
        else { return [] }
        if var inner = values[field.name], case .record(let fields) = field.schema.withoutOptional,
            !fields.isEmpty,
            below(4) > 0
        {
            let path = changeField(of: &inner, field.schema.withoutOptional)
            values[field.name] = inner
            node.content = .record(values)
            return [field.name] + path
        }
        let old = values[field.name]
        for _ in 0..<20 where values[field.name] == old {
            values[field.name] = field.schema.isOptional && below(3) == 0 ? nil : value(of: field.schema)
        }
        node.content = .record(values)
        return [field.name]
    }
}

// MARK: - Checking

/// One program, a later version of it with another type, and a value.
private struct VersionChange {
    enum Writing { case asTheLibrary, wholeValues }
    private let older: Version
    private let newer: Version
    private let value: Node
    private let olderKey: DefaultKey<Node>
    private let newerKey: DefaultKey<Node>
    private let generator: SeededGenerator

    init(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let part = generator.schema(depth: 2, inPart: true)
        let older = Version(schema: generator.record(depth: 3), part: part)
        var schema = older.schema
        for _ in 0...generator.below(4) { schema = generator.change(of: schema) }
        if case .record = schema {} else { schema = generator.record(depth: 2) }
        let newer = Version(
            schema: schema,
            part: generator.below(2) == 0 ? part : generator.change(of: part, inPart: true))
        value = older.run { generator.value(of: older.schema) }
        olderKey = DefaultKey("value", default: older.run { generator.value(of: older.schema) })
        newerKey = DefaultKey("value", default: newer.run { generator.value(of: newer.schema) })
        (self.older, self.newer) = (older, newer)
        self.generator = generator
    }

    /// Runs both versions and returns what was lost.
    func losses(writing: Writing) throws -> [String] {
        var generator = generator
        let first = DefaultsSuite.inMemory()
        try older.run { try UserDefault(olderKey, in: first).store.save(value) }
        let before = try first.contents()

        let second = try suite(before)
        let changed = try newer.run {
            var value = second[newerKey]
            let path = generator.changeField(of: &value, newer.schema)
            if writing == .wholeValues {
                let other = DefaultsSuite.inMemory()
                other[newerKey] = value
                try second.replaceContents(with: other.contents())
            } else {
                try second.update(newerKey) { $0 = value }
            }
            // Check it also with a cache that has not seen these writes.
            if second[newerKey] != value {
                throw Failure("the newer version reads another value than it wrote")
            }
            if try suite(second.contents())[newerKey] != value {
                throw Failure("another process reads another value")
            }
            return path
        }
        let after = try second.contents()

        guard let old = before["value"], let new = after["value"] else {
            return ["the value is missing"]
        }
        var losses: [String] = []
        let isSetAside = after["value.unreadable"] == old
        if !isSetAside, try second.keys() != ["value"] { losses.append("another value was set aside") }
        newer.run { compare(newer.schema, old, new, at: [], changed, isSetAside, &losses) }

        // Values that neither version has changed read the same.
        let third = try suite(after)
        older.run {
            compareUnchanged(older.schema, newer.schema, value, third[olderKey], at: [], changed, &losses)
        }
        return losses
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    private func suite(_ contents: SuiteContents) throws -> DefaultsSuite {
        let suite = DefaultsSuite.inMemory()
        suite.onFailure = { _ in }
        try suite.replaceContents(with: contents)
        return suite
    }

    /// Compares a stored value with the value that a program with this schema has stored over it.
    private func compare(
        _ schema: Schema, _ old: PropertyList, _ new: PropertyList?, at path: [String],
        _ changed: [String],
        _ isSetAside: Bool, _ losses: inout [String]
    ) {
        let schema = schema.withoutOptional
        func note(_ loss: String) { losses.append("\(path.joined(separator: ".")): \(loss)") }
        guard path != changed else {
            if !reads(schema, old), !isSetAside, !keepsUnreadableEntries(schema, old, new) {
                note("a value that could not be read was overwritten")
            }
            return
        }
        if old == new { return }
        switch (schema, old, new) {
        case (.record, .dictionary(let old), .dictionary(let new)):
            for (name, entry) in old {
                if let field = schema.field(name) {
                    compare(field, entry, new[name], at: path + [name], changed, isSetAside, &losses)
                } else if new[name] != entry {
                    losses.append("\((path + [name]).joined(separator: ".")): a foreign entry")
                }
            }
        case (.dictionary, .dictionary(let old), .dictionary(let new)):
            for (name, entry) in old {
                compare(Part.schema, entry, new[name], at: path + [name], changed, isSetAside, &losses)
            }
        default:
            if reads(schema, old) {
                if !isSame(schema, old, new) { note("a value that could be read") }
            } else if !isSetAside {
                note("a value that could not be read")
            }
        }
    }

    /// Returns whether a dictionary holds the entries of the old one that the schema does not read.
    private func keepsUnreadableEntries(_ schema: Schema, _ old: PropertyList, _ new: PropertyList?)
        -> Bool
    {
        guard case (.dictionary, .dictionary(let old), .dictionary(let new)) = (schema, old, new) else {
            return false
        }
        return old.allSatisfy { reads(Part.schema, $1, inArray: true) || new[$0] == $1 }
    }

    /// Returns whether the schema reads all of a stored value.
    private func reads(_ schema: Schema, _ stored: PropertyList, inArray: Bool = false) -> Bool {
        switch (schema, stored) {
        case (.bool, .bool), (.double, .double), (.double, .integer), (.int, .integer),
            (.string, .string):
            return true
        case (.bool, .integer(let value)): return Int(exactly: value) == 0 || Int(exactly: value) == 1
        case (.int, .double(let value)): return Int(exactly: value) != nil
        case (.cases(let cases), .string(let name)): return cases.contains(name)
        case (.optional(let wrapped), _): return reads(wrapped, stored, inArray: inArray)
        case (.array, .array(let elements)):
            return elements.allSatisfy { reads(Part.schema, $0, inArray: true) }
        case (.dictionary, .dictionary(let entries)):
            // An entry has no default either.
            return entries.values.allSatisfy { reads(Part.schema, $0, inArray: true) }
        case (.record(let fields), .dictionary(let entries)):
            return fields.allSatisfy { field in
                entries[field.name].map { reads(field.schema, $0, inArray: inArray) }
                    ?? (field.schema.isOptional || !inArray)
            }
        default: return false
        }
    }

    /// Returns whether a value that can be read was stored with the same meaning. Foreign entries
    /// of elements are not kept.
    private func isSame(_ schema: Schema, _ old: PropertyList, _ new: PropertyList?) -> Bool {
        switch (schema, old, new) {
        case (.optional(let wrapped), _, _): return isSame(wrapped, old, new)
        case (.array, .array(let old), .array(let new)):
            return old.count == new.count && zip(old, new).allSatisfy { isSame(Part.schema, $0, $1) }
        case (.dictionary, .dictionary(let old), .dictionary(let new)):
            return old.keys == new.keys && old.allSatisfy { isSame(Part.schema, $1, new[$0]) }
        case (.record(let fields), .dictionary(let old), .dictionary(let new)):
            return fields.allSatisfy { field in
                old[field.name].map { isSame(field.schema, $0, new[field.name]) } ?? true
            }
        case (.bool, .integer(let old), .bool(let new)): return (Int(exactly: old) == 1) == new
        case (.int, .double(let old), .integer(let new)): return Int(exactly: new) == Int(exactly: old)
        case (.double, .integer(let old), .double(let new)):
            return Int(exactly: old) == Int(exactly: new)
        default: return old == new
        }
    }

    /// Compares the fields that both versions declare alike.
    private func compareUnchanged(
        _ older: Schema, _ newer: Schema, _ before: Node, _ after: Node, at path: [String],
        _ changed: [String],
        _ losses: inout [String]
    ) {
        guard case .record(let fields) = older, case .record(let old) = before.content,
            case .record(let new) = after.content
        else { return }
        for field in fields {
            let path = path + [field.name]
            guard let other = newer.field(field.name), !path.starts(with: changed) || changed.isEmpty
            else { continue }
            if field.schema.holdsParts, self.older.part != self.newer.part { continue }
            if other == field.schema, !changed.starts(with: path) {
                if old[field.name] != new[field.name] {
                    losses.append("\(path.joined(separator: ".")): an unchanged field reads as another value")
                }
            } else if let old = old[field.name], let new = new[field.name] {
                compareUnchanged(
                    field.schema.withoutOptional, other.withoutOptional, old, new, at: path, changed, &losses)
            }
        }
    }
}
