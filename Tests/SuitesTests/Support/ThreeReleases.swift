import TestSupport
import TypedDefaults

// Three releases of one config. What they write and read is stated by hand, without the coder.

/// What a type reads.
indirect enum Shape: Sendable {
    case bool, integer, double, text, label, set
    case names([String])
    case cases([String: [String: Shape]])
    case parts([String: Shape])
    case list(Shape)
    case table(Shape)
    case optional(Shape)
    var isOptional: Bool { if case .optional = self { true } else { false } }
}

/// A choice that a user of a release can make: a property or a part of one, and its value.
struct Choice<Config: Release>: Sendable {
    enum Call: CaseIterable { case set, save, update, updateStored, remove }
    let path: [String]
    let value: PropertyList?
    let make: @Sendable (inout Config) -> Void
    /// Makes the choice in a store of the property.
    let makeAlone: @Sendable (any DefaultStoreType<Config>, Call) throws -> Void
}

protocol Release: DefaultConfig {
    static var shapes: [String: Shape] { get }
    static var choices: [[Choice<Self>]] { get }
    static var limits: ClosedRange<Int> { get }
    /// The default that the library has made: `serial` differs in each instance.
    static var standard: PropertyList { get }
    var counts: [String: Int] { get set }
    var tags: Set<String> { get set }
    var shots: Int? { get set }
    var note: String? { get set }
    var span: Reach { get set }
    var limit: Int { get set }
    var label: Label { get set }
}

struct Reach: Codable, Equatable { var low = 1, high = 5 }

/// Decoding it changes it.
struct Label: Codable, Equatable, RawRepresentable {
    var rawValue = "tele"
    init(rawValue: String) { self.rawValue = rawValue }
    init(from decoder: any Decoder) throws { rawValue = try String(from: decoder).lowercased() }
}

extension Release {
    static var key: String { "Config" }
    static var rules: [DefaultRule<Self>] {
        [.on(\.span, DefaultRule("low to high") { $0.low <= $0.high }), .on(\.limit, .clamped(to: limits))]
    }
    var tree: PropertyList { form(of: self)! }

    static func choice<Part: Equatable & Sendable>(
        _ path: String, _ part: any WritableKeyPath<Self, Part> & Sendable, _ values: Part...
    ) -> [Choice<Self>] {
        // An entry of a dictionary is removed; a property becomes nil.
        let isEntry = path.hasPrefix("counts.") || path.hasPrefix("presets.")
        return values.map { value in
            let form = form(of: value) ?? (isEntry ? nil : "$null")
            return Choice(path: path.split(separator: ".").map(String.init), value: form) {
                $0[keyPath: part] = value
            } makeAlone: { store, call in
                let store = store.map(part)
                switch call {
                case .set: store.set(value)
                case .save: try store.save(value)
                case .update: try store.update(default: Self()[keyPath: part]) { $0 = value }
                case .updateStored: try store.updateStored { $0 = value }
                case .remove: store.remove()
                }
            }
        }
    }
    fileprivate static var common: [[Choice<Self>]] {
        [
            choice("counts.k", \.counts["k"], nil, 1, 2), choice("tags", \.tags, [], ["q"], ["q", "r"]),
            choice("shots", \.shots, nil, 3, 4), choice("note", \.note, nil, "n"),
            choice("limit", \.limit, 2, 4, 8, 99),
            choice("span.low", \.span.low, 1, 3, 8), choice("span.high", \.span.high, 2, 5, 9),
            choice("label", \.label.rawValue, "tele", "WIDE", "wide"),
        ]
    }
    fileprivate static func allShapes(
        sizes: [String] = [], modes: [String: [String: Shape]] = [:], lens: [String: Shape] = [:],
        effect: [String: Shape] = [:], others: [String: Shape]
    ) -> [String: Shape] {
        let lens = lens.merging(["zoom": .double, "focus": .double, "tint": .optional(.text)]) { $1 }
        return others.merging([
            "size": .names(["small", "medium", "large"] + sizes), "lens": .parts(lens),
            "spare": .optional(.parts(lens)),
            "mode": .cases(modes.merging(["auto": [:], "manual": ["speed": .integer]]) { $1 }), "tags": .set,
            "presets": .table(.parts(lens)), "effects": .list(.parts(effect.merging(["name": .text]) { $1 })),
            "counts": .table(.integer), "shots": .optional(.integer), "note": .optional(.text), "limit": .integer,
            "span": .parts(["low": .integer, "high": .integer]), "label": .label,
        ]) { $1 }
    }

    /// Returns what a write of a value stores: a limit in range; `nil` for a span that is refused.
    static func corrected(_ value: PropertyList) -> PropertyList? {
        guard !value["span"]!.isRefused else { return nil }
        var value = value
        value["limit"] = .integer(Int64(min(max(value["limit"]!.integer, limits.lowerBound), limits.upperBound)))
        return value
    }
}

struct Release1: Release {
    enum Size: String, Codable { case small, medium, large }
    enum Mode: Codable, Equatable {
        case auto
        case manual(speed: Int)
    }
    struct Lens: Codable, Equatable { var zoom = 1.0, focus = 0.5, tint: String? }
    struct Effect: Codable, Equatable { var name = "" }
    var size = Size.medium, mode = Mode.auto, lens = Lens(), spare: Lens?, presets: [String: Lens] = [:]
    var effects: [Effect] = [], counts = ["a": 1], tags: Set = ["q"], shots: Int? = 3, note: String?
    var span = Reach(), limit = 4, label = Label(rawValue: "tele"), beeps = true

    static let limits = 1...10
    static let standard = PersistentStore<Self>(in: .inMemory()).value.tree
    static let shapes = allShapes(others: ["beeps": .bool])
    static let choices: [[Choice<Self>]] =
        common + [
            choice("size", \.size, .small, .medium, .large), choice("beeps", \.beeps, true, false),
            choice("mode", \.mode, .auto, .manual(speed: 4), .manual(speed: 6)),
            choice("lens", \.lens, Lens(), Lens(zoom: 9)), choice("lens.zoom", \.lens.zoom, 1, 2, 5),
            choice("lens.tint", \.lens.tint, nil, "red"), choice("spare", \.spare, nil, Lens(), Lens(zoom: 9)),
            choice("presets.u", \.presets["u"], nil, Lens(), Lens(zoom: 9)),
            choice("effects", \.effects, [], [Effect(name: "e")], [Effect(), Effect(name: "f")]),
        ]
}

/// With other defaults, and with new cases, parts and properties.
struct Release2: Release {
    enum Mode: Codable, Equatable {
        case auto
        case manual(speed: Int)
        case preset(name: String)
    }
    struct Lens: Codable, Equatable { var zoom = 1.0, focus = 0.5, tint: String?, curve = "flat" }
    struct Effect: Codable, Equatable { var name = "", strength: Double? }
    var size = Release1.Size.large, mode = Mode.auto, lens = Lens(), spare: Lens?, presets = ["u": Lens(zoom: 4)]
    var effects: [Effect] = [], counts = ["a": 1, "k": 2], tags: Set = ["q"], shots: Int? = 4, note: String? = "new"
    var span = Reach(), limit = 4, label = Label(rawValue: "tele"), beeps = false, hdr = false, serial = nextSerial()

    static let limits = 1...10
    static let standard = PersistentStore<Self>(in: .inMemory()).value.tree
    static let shapes = allShapes(
        modes: ["preset": ["name": .text]], lens: ["curve": .text], effect: ["strength": .optional(.double)],
        others: ["beeps": .bool, "hdr": .bool, "serial": .integer])
    static let choices: [[Choice<Self>]] =
        common + [
            choice("size", \.size, .small, .medium, .large), choice("beeps", \.beeps, true, false),
            choice("mode", \.mode, .auto, .manual(speed: 4), .preset(name: "p")), choice("hdr", \.hdr, true, false),
            choice("lens", \.lens, Lens(), Lens(zoom: 9)), choice("lens.zoom", \.lens.zoom, 1, 2, 5),
            choice("lens.curve", \.lens.curve, "flat", "steep"), choice("spare", \.spare, nil, Lens(), Lens(zoom: 9)),
            choice("presets.u", \.presets["u"], nil, Lens(), Lens(zoom: 9)), choice("serial", \.serial, 7),
            choice("effects", \.effects, [], [Effect(name: "e", strength: 0.5)], [Effect(), Effect(name: "f")]),
        ]
}

/// With narrower limits, and without `beeps`.
struct Release3: Release {
    enum Size: String, Codable { case small, medium, large, huge }
    struct Lens: Codable, Equatable { var zoom = 4.0, focus = 0.5, tint: String?, curve = "steep", steps = 3 }
    var size = Size.small, mode = Release2.Mode.manual(speed: 3), lens = Lens(zoom: 6), spare: Lens?
    var presets: [String: Lens] = [:], effects = [Release2.Effect(name: "d")], counts: [String: Int] = [:]
    var tags: Set<String> = [], shots: Int?, note: String?, span = Reach(low: 2, high: 7), limit = 3
    var label = Label(rawValue: "wide"), hdr = true, serial = nextSerial()

    static let limits = 1...5
    static let standard = PersistentStore<Self>(in: .inMemory()).value.tree
    static let shapes = allShapes(
        sizes: ["huge"], modes: ["preset": ["name": .text]], lens: ["curve": .text, "steps": .integer],
        effect: ["strength": .optional(.double)], others: ["hdr": .bool, "serial": .integer])
    static let choices: [[Choice<Self>]] =
        common + [
            choice("size", \.size, .small, .medium, .huge), choice("hdr", \.hdr, true, false),
            choice("mode", \.mode, .auto, .manual(speed: 4), .preset(name: "r")), choice("serial", \.serial, 7),
            choice("lens", \.lens, Lens(), Lens(zoom: 9)), choice("lens.zoom", \.lens.zoom, 1, 2, 5),
            choice("lens.steps", \.lens.steps, 3, 4), choice("spare", \.spare, nil, Lens(), Lens(zoom: 9)),
            choice("presets.u", \.presets["u"], nil, Lens(), Lens(zoom: 9)),
            choice("effects", \.effects, [], [.init()]),
        ]
}

private let serials = Guarded(0)
private func nextSerial() -> Int {
    serials.withLock { last in
        last += 1
        return last
    }
}

/// Returns the form of a value; `nil` for nil.
private func form(of value: Any) -> PropertyList? {
    switch value {
    case let value as Bool: return .bool(value)
    case let value as Int: return .integer(Int64(value))
    case let value as Double: return .double(value)
    case let value as String: return .string(value)
    case let value as any RawRepresentable<String>: return .string(value.rawValue)
    case let value as Set<String>: return .array(value.sorted().map(PropertyList.string))
    case let value as [String: Any]: return .dictionary(value.compactMapValues(form))
    default: break
    }
    let (style, parts) = (Mirror(reflecting: value).displayStyle, Mirror(reflecting: value).children)
    switch style {
    case .optional: return parts.first.flatMap { form(of: $0.value) }
    case .collection: return .array(parts.compactMap { form(of: $0.value) })
    case .enum where parts.isEmpty: return ["\(value)": [:]]
    default:
        let pairs = parts.map { part in (part.label!, form(of: part.value) ?? "$null") }
        return .dictionary(Dictionary(uniqueKeysWithValues: pairs))
    }
}

extension PropertyList {
    var entries: [String: PropertyList]? { if case .dictionary(let entries) = self { entries } else { nil } }
    fileprivate var integer: Int { if case .integer(let value) = self { Int(value) } else { 0 } }
    fileprivate var isRefused: Bool { self["low"]!.integer > self["high"]!.integer }

    subscript(name: String) -> PropertyList? {
        get { entries?[name] }
        set { self[[name]] = newValue }
    }

    subscript(path: [String]) -> PropertyList? {
        get { path.reduce(self) { $0?.entries?[$1] } }
        set {
            guard var entries, let name = path.first else { return }
            if path.count == 1 { entries[name] = newValue } else { entries[name]?[Array(path.dropFirst())] = newValue }
            self = .dictionary(entries)
        }
    }

    /// Returns this new entry with the parts of an old one that a release does not know.
    func keeping(_ old: PropertyList?, _ shape: Shape) -> PropertyList {
        if case .optional(let shape) = shape { return keeping(old, shape) }
        // An array is a whole, with the parts that its elements do not know.
        if case .list = shape, let old, Reading.value(of: old, shape) == self { return old }
        guard let old = old?.entries, var new = entries else { return self }
        for (name, entry) in old {
            switch shape {
            case .parts(let shapes): new[name] = shapes[name].map { new[name]?.keeping(entry, $0) } ?? entry
            case .cases(let cases): new[name] = cases[name].map { new[name]?.keeping(entry, .parts($0)) } ?? entry
            case .table(let shape): new[name] = new[name]?.keeping(entry, shape)
            default: break
            }
        }
        return .dictionary(new)
    }
}

/// What a release reads in a stored tree, by the tables of ChangingYourSettings.
struct Reading {
    private(set) var value: PropertyList = [:]
    /// The parts that the release does not know or cannot read, by their paths.
    private(set) var odd: [[String]: PropertyList] = [:]
    /// The paths of those that it cannot read.
    private(set) var faults: Set<[String]> = []

    /// - Returns: `nil` if the tree cannot be read as a whole.
    init?<R: Release>(_ stored: PropertyList?, by release: R.Type) {
        guard let entries = stored?.entries else { return nil }
        value = parts(of: entries, R.shapes, or: R.standard, at: [])!
        let (span, limit) = (value["span"]!, value["limit"]!)
        if span.isRefused {
            value["span"] = R.standard["span"]
            let parts = ["low", "high"].filter { span[$0] != value["span"]![$0] }
            fault(at: parts.count == 1 ? ["span", parts[0]] : ["span"], in: stored!)
        }
        value = R.corrected(value)!
        if value["limit"] != limit { fault(at: ["limit"], in: stored!) }
    }
    private init() {}

    /// Returns what is read for an entry; `nil` if a part of it cannot be read.
    static func value(of entry: PropertyList, _ shape: Shape) -> PropertyList? {
        var reading = Reading()
        let value = reading.read(entry, shape, or: nil, at: [])
        return reading.faults.isEmpty ? value : nil
    }

    private mutating func fault(at path: [String], in tree: PropertyList) { fault(at: path, tree[path]!) }
    private mutating func fault(at path: [String], _ entry: PropertyList) {
        odd[path] = entry
        faults.insert(path)
    }

    private mutating func parts(
        of entries: [String: PropertyList], _ shapes: [String: Shape], or standard: PropertyList?, at path: [String]
    ) -> PropertyList? {
        var result: PropertyList = [:]
        for (name, entry) in entries where shapes[name] == nil { odd[path + [name]] = entry }
        for (name, shape) in shapes {
            let (path, isOptional) = (path + [name], shape.isOptional)
            // A nil counts as missing if the property is required.
            let isMissing = entries[name] == "$null" && !isOptional && standard?[name] != nil
            let entry = isMissing ? nil : entries[name]
            result[name] = entry.flatMap { read($0, shape, or: standard?[name], at: path) }
            if result[name] == nil, let entry { fault(at: path, entry) }
            if result[name] == nil { result[name] = standard?[name] ?? (isOptional ? "$null" : nil) }
            guard result[name] != nil else { return nil }
        }
        return result
    }

    /// Returns what is read for an entry; `nil` if it cannot be read.
    private mutating func read(
        _ entry: PropertyList, _ shape: Shape, or standard: PropertyList?, at path: [String]
    ) -> PropertyList? {
        switch (shape, entry) {
        case (.bool, .bool), (.integer, .integer), (.double, .double), (.text, .string): return entry
        case (.integer, .double(let number)): return Int64(exactly: number).map(PropertyList.integer)
        case (.double, .integer(let number)): return .double(Double(number))
        case (.label, .string(let text)): return .string(text.lowercased())
        case (.names(let names), .string(let name)): return names.contains(name) ? entry : nil
        case (.optional, "$null"): return entry
        case (.optional(let shape), _): return read(entry, shape, or: standard, at: path)
        case (.parts(let shapes), .dictionary(let entries)):
            return parts(of: entries, shapes, or: standard, at: path)
        case (.cases(let cases), .dictionary(let entries)):
            let known = entries.filter { cases[$0.key] != nil }
            guard known.count == 1, let (name, inside) = known.first else { return nil }
            for (name, entry) in entries where cases[name] == nil { odd[path + [name]] = entry }
            let parts = read(inside, .parts(cases[name]!), or: standard?[name], at: path + [name])
            return parts.map { [name: $0] }
        case (.set, .array(let elements)):
            let names = elements.compactMap { if case .string(let name) = $0 { name } else { nil } }
            if names.count < elements.count { fault(at: path, entry) }
            return form(of: Set(names))
        case (.list(let shape), .array(let elements)):
            var inside = Reading()
            let found = elements.compactMap { inside.read($0, shape, or: nil, at: path) }
            if !inside.odd.isEmpty { odd[path] = entry }
            if found.count < elements.count || !inside.faults.isEmpty { fault(at: path, entry) }
            return .array(found)
        case (.table(let shape), .dictionary(let entries)):
            var found: [String: PropertyList] = [:]
            for (name, entry) in entries {
                found[name] = read(entry, shape, or: standard?[name], at: path + [name])
                guard found[name] == nil else { continue }
                fault(at: path + [name], entry)
                found[name] = standard?[name]
            }
            return .dictionary(found)
        default: return nil
        }
    }
}
