import Foundation
import TestSupport
import Testing
import TypedDefaults

/// Users of three releases of a config make choices, and other programs write to the same suite.
/// What must be stored and read is computed from the lists of choices.
///
/// `TYPED_DEFAULTS_RELEASES` is the number of cases, `TYPED_DEFAULTS_SEED` the first seed.
struct ThreeReleasesTests {
    @Test(.timeLimit(.minutes(60)), arguments: [Backend.memory, .file])
    func aReleaseStoresAndReadsWhatWasChosen(backend: Backend) throws {
        func number(_ name: String) -> UInt64? { ProcessInfo.processInfo.environment[name].flatMap(UInt64.init) }
        let (count, first) = ((number("TYPED_DEFAULTS_RELEASES") ?? 400) / 2, number("TYPED_DEFAULTS_SEED") ?? 1)
        var (writes, pairs, bad) = (0, 0, [String: Int]())
        try backend.withSuite { one in
            try backend.withSuite { other in
                for seed in first..<(first + count) {
                    var game = Game(seed: backend == .memory ? seed : ~seed)
                    do { try game.play(one, other) } catch let mistake as Mistake {
                        bad[mistake.check, default: 0] += 1
                        if bad.values.reduce(0, +) <= 3 {
                            Issue.record("seed \(seed): \(mistake.check)\n\(mistake.details)")
                        }
                    }
                    (writes, pairs) = (writes + game.writes, pairs + game.pairs)
                }
            }
        }
        print("\(backend): \(count) cases, \(writes) writes, \(pairs) equal choices of two users, bad: \(bad)")
        #expect(bad.isEmpty && pairs > 0)
    }
}

private struct Mistake: Error { let check, details: String }

/// A way to make choices.
private struct Way<Config: Release> {
    enum Kind {
        case whole
        /// Begins with what is read, where a layer may hide what is stored, or with what is stored.
        case assignment, assignmentToStored
        /// The same for edits in place.
        case edit, update
        /// An update that refuses an unreadable value.
        case updateStored
        /// An update that is undone, or that throws.
        case undone, failure
        case forgetting, removal
    }
    struct Call {
        let store: any DefaultStoreType<Config>
        let suite: DefaultsSuite
        let choices: [Choice<Config>]
        var wrapper: UserDefault<Config> { UserDefault(in: suite) }

        func change(_ value: inout Config) { for choice in choices { choice.make(&value) } }
        func changed(_ value: Config) -> Config {
            var value = value
            change(&value)
            return value
        }
        func put(_ new: Config, in value: inout Config) { value = new }
    }
    let name: String
    let kind: Kind
    let make: (Call) throws -> Void
    /// Whether only the store knows what the change means.
    var isByStore: Bool { name == "value =" || isAlone }
    /// Whether it makes the first choice only.
    var isAlone: Bool { name.hasPrefix("map") }

    init(_ name: String, _ kind: Kind, make: @escaping (Call) throws -> Void) {
        (self.name, self.kind, self.make) = (name, kind, make)
    }

    static var all: [Way] {
        let key = DefaultKey(Config.self)
        func map(_ call: Choice<Config>.Call, _ kind: Kind) -> Way {
            Way("map, \(call)", kind) { try $0.choices[0].makeAlone($0.store, call) }
        }
        return [
            Way("save", .whole) { try $0.store.save($0.changed($0.store.value)) },
            Way("set", .whole) { $0.store.set($0.changed($0.store.value)) },
            Way("value =", .assignment) { $0.store.value = $0.changed($0.store.value) },
            Way("suite[key] =", .assignment) { $0.suite[key] = $0.changed($0.suite[key]) },
            Way("wrapper =", .assignment) { $0.wrapper.wrappedValue = $0.changed($0.wrapper.wrappedValue) },
            Way("contents[type] =", .assignmentToStored) { call in
                try call.suite.update { $0[Config.self] = call.changed($0[Config.self]) }
            },
            Way("value.x =", .edit) { $0.change(&$0.store.value) },
            Way("suite[key].x =", .edit) { $0.change(&$0.suite[key]) },
            Way("wrapper.x =", .edit) { $0.change(&$0.wrapper.wrappedValue) },
            Way("draft", .edit) { call in
                var draft = call.store.draft()
                call.change(&draft.value)
                try draft.apply()
            },
            Way("update", .update) { try $0.store.update($0.change) },
            Way("suite.update(key)", .update) { try $0.suite.update(key, $0.change) },
            Way("contents[type].x =", .update) { call in try call.suite.update { call.change(&$0[Config.self]) } },
            Way("contents, three times", .update) { call in
                try call.suite.update { contents in
                    let old = contents[key]
                    call.put(Config(), in: &contents[key])
                    call.put(old, in: &contents[Config.self])
                    call.change(&contents[key])
                }
            },
            Way("contents, and back", .undone) { call in
                try call.suite.update { contents in
                    let old = contents[key]
                    call.change(&contents[key])
                    call.put(old, in: &contents[key])
                }
            },
            Way("failing update", .failure) { call in
                try call.store.update {
                    call.change(&$0)
                    throw CancellationError()
                }
            },
            Way("updateStored", .updateStored) { call in
                try call.store.updateStored { $0 = call.changed($0 ?? key.defaultValue) }
            },
            Way("remove", .removal) { $0.store.remove() }, map(.set, .assignmentToStored),
            map(.save, .assignmentToStored), map(.update, .update), map(.updateStored, .updateStored),
            map(.remove, .forgetting),
        ]
    }
}

/// A user of one suite.
private final class User {
    private let suite: DefaultsSuite
    /// What must be stored after all choices so far.
    private(set) var stored: PropertyList?
    /// The values of the layers before and behind it.
    private(set) var (before, behind): (PropertyList?, PropertyList?)
    private let heard = Guarded(0)
    private var token: ObservationToken?
    private var commits = 0
    private var log: [() -> String] = []

    init(_ suite: DefaultsSuite) throws {
        self.suite = suite
        suite.onFailure = { _ in }
        setLayers(nil, nil)
        try suite.removeAll()
        token = suite.observeAll { [heard] _ in heard.withLock { $0 += 1 } }
    }

    private var layers: [DefaultsSuite.Layer] {
        func layer(_ tree: PropertyList?) -> DefaultsSuite.Layer { .values(tree.map { ["Config": $0] } ?? [:]) }
        return [layer(before), .stored, layer(behind)]
    }
    func setLayers(_ before: PropertyList?, _ behind: PropertyList?) {
        (self.before, self.behind) = (before, behind)
        suite.layers = layers
        log.append { "before: \(text(before)), behind: \(text(behind))" }
    }

    /// Another program stores a tree.
    func leave(_ tree: PropertyList) throws {
        stored = tree
        try suite.update { $0["Config"] = tree }
        log.append { "left: \(text(tree))" }
        try checkCommit(true)
    }

    func store<R: Release>(_ number: Int) -> any DefaultStoreType<R> {
        let store = PersistentStore<R>(in: suite)
        let box = AnyStore(store)
        switch number {
        case 0: return box
        case 1: return Decorated(base: box)
        // Over an unreadable value, an update of a store of a program saves the whole new one.
        case 2 where stored == nil || stored?.entries != nil: return Forwarding(base: box)
        default: return store
        }
    }

    /// Makes choices in one release, and checks what is stored and read.
    ///
    /// - Returns: The properties that were chosen, except those with parts that the release does
    ///   not know or cannot read.
    func choose<R: Release>(
        _ choices: [Choice<R>], _ way: Way<R>, in store: any DefaultStoreType<R>
    ) throws -> [String: PropertyList] {
        let (old, reading, copies) = (stored, Reading(stored, by: R.self), try copies())
        let (start, shown) = values(R.self)
        func chosen(_ value: PropertyList) -> PropertyList {
            choices.reduce(into: value) { value, choice in value[choice.path] = choice.value }
        }
        // The value after the write; `nil` if nothing is written.
        var new: PropertyList? = start
        // A store of a program cannot be told what a change means beyond its value. Over what it
        // cannot read it saves.
        let isForeign = way.isByStore && !(store is PersistentStore<R> || store is AnyStore<R>)
        var isAssigned = reading == nil && !(isForeign && old == nil && behind != nil)
        let isWhole = way.kind == .whole || isForeign && isAssigned && old != nil
        switch way.kind {
        case .assignment, .assignmentToStored: break
        default: isAssigned = false
        }
        switch way.kind {
        case .whole: new = chosen(shown)
        case .assignmentToStored: new = chosen(start)
        case .update: new = chosen(start)
        case .updateStored where old != nil && reading == nil: new = nil
        case .forgetting where reading == nil && (!isForeign || old != nil || behind == nil): new = nil
        case .updateStored: (new, isAssigned) = (chosen(start), old == nil && behind == nil)
        case .assignment, .edit:
            // What a layer gives is left out.
            let edited = chosen(shown)
            for name in choices.map(\.path[0]) where edited[name] != shown[name] { new![name] = edited[name] }
            // A store of a program merges both by the type, which decodes the label.
            if isForeign, shown != start { new!["label"] = Reading.value(of: new!["label"]!, .label) }
        case .forgetting: new![choices[0].path] = R.standard[choices[0].path]
        case .undone: break
        case .removal, .failure: new = nil
        }
        new = new.flatMap(R.corrected)
        if way.kind == .update, new == start { new = nil }
        let missing = Reading(behind ?? [:], by: R.self)!.value
        // A removed property is that of a layer behind, or the default.
        var forgotten: String?
        let isForgetting = way.kind == .forgetting && !isForeign
        if isForgetting, let value = new, let name = choices[0].path.first,
            value[name] == R.standard[name], start[name] != R.standard[name]
        {
            new![name] = missing[name]
            if old?[name] != nil { forgotten = name }
        }

        // What is stored then.
        var names = Set<String>()
        if let new, isWhole || isAssigned || new != start || forgotten != nil {
            names = Set(R.shapes.keys.filter { isWhole || new[$0] != start[$0] || $0 == forgotten })
            var tree = reading == nil ? [:] : old!
            // A part that cannot be read does not merge with what takes its place.
            for path in reading?.faults ?? [] where names.contains(path[0]) { tree[path] = nil }
            for name in names { tree[name] = new[name]?.keeping(tree[name], R.shapes[name]!) }
            // What is missing must read as it does now: an optional with a default, a layer behind.
            if way.kind == .forgetting, !isForeign, let name = names.first, missing[name] == new[name] {
                tree[name] = nil
            } else if tree["serial"] == nil {
                // A default that differs in each instance is stored.
                tree["serial"] = new["serial"]
            }
            for name in R.shapes.keys where tree[name] == nil && new[name] != missing[name] { tree[name] = new[name] }
            stored = tree
        }
        if way.kind == .removal { stored = nil }

        do { try way.make(.init(store: store, suite: suite, choices: choices)) } catch {
            log.append { "threw \(error)" }
        }
        let contents = try suite.contents()
        let now = contents["Config"]
        log.append {
            let made = choices.map { "\($0.path.joined(separator: ".")) = \(text($0.value))" }.joined(separator: ", ")
            return "\(R.self), \(way.name), \(type(of: store)): \(made)\n  \(text(old))\n  \(text(now))"
        }
        try checkReading(R.self, "a write reads back otherwise", in: suite)
        let other = DefaultsSuite.inMemory()
        other.onFailure = { _ in }
        try other.replaceContents(with: contents)
        other.layers = layers
        try checkReading(R.self, "another suite reads a write otherwise", in: other)
        let all = [now, stored].flatMap { $0?.entries?.keys.sorted() ?? [] }
        for name in all where now?[name] != stored?[name] {
            let isChosen = stored?[name] != old?[name]
            let check =
                isChosen ? "chosen, not stored so" : old?[name] == nil ? "not chosen, stored" : "not chosen, changed"
            try expect(false, check, "\(name) must be \(text(stored?[name]))")
        }
        try expect(now == stored, "stored otherwise", text(stored))
        try checkCommit(now != old)
        let odd = reading?.odd ?? (old == nil ? [:] : [[]: old!])
        if way.kind != .removal { try checkCopies(of: odd, old, copies) }
        let others = Set(odd.keys.map { $0.first ?? "" })
        return new?.entries?.filter { names.contains($0.key) && !others.contains($0.key) } ?? [:]
    }

    /// What a write in a release begins with, and what the release shows.
    private func values<R: Release>(_ release: R.Type) -> (start: PropertyList, shown: PropertyList) {
        let filled = stored.map { put($0, over: behind) } ?? behind
        let start = Reading(filled, by: R.self)?.value ?? R.standard
        return (start, before.flatMap { Reading(put($0, over: filled), by: R.self)?.value } ?? start)
    }

    /// Returns the entries of a tree, and those that it lacks from another one.
    private func put(_ tree: PropertyList, over other: PropertyList?) -> PropertyList {
        guard let entries = tree.entries, let others = other?.entries else { return tree }
        return .dictionary(others.merging(entries) { $1 })
    }

    private func expect(_ isSo: Bool, _ check: String, _ details: @autoclosure () -> String = "") throws {
        guard !isSo else { return }
        throw Mistake(check: check, details: (log.map { $0() } + [details()]).joined(separator: "\n"))
    }

    /// Checks what an observer of the suite hears. On a file, another thread may call it.
    private func checkCommit(_ isChange: Bool) throws {
        if isChange { commits += 1 }
        heard.wait { [commits] in $0 >= commits }
        try expect(heard.withLock { $0 } == commits, isChange ? "not one commit" : "nothing was changed, but written")
    }

    private func copies() throws -> [PropertyList?] {
        let contents = try suite.contents()
        return [contents["Config.unreadable"], contents["Config.unreadable-2"]]
    }

    /// Checks that the old value was copied if a part is lost that the release does not know or
    /// cannot read, and only then.
    private func checkCopies(of odd: [[String]: PropertyList], _ old: PropertyList?, _ before: [PropertyList?]) throws {
        let now = try copies()
        if odd.contains(where: { stored?[$0.key] != $0.value }) { try expect(now.contains(old), "lost without a copy") }
        let isTouched = odd.keys.contains { stored?[Array($0.prefix(1))] != old?[Array($0.prefix(1))] }
        try expect(isTouched || now == before, "copied without a loss")
    }

    func checkReading<R: Release>(_ release: R.Type, _ check: String, in suite: DefaultsSuite? = nil) throws {
        let (value, must) = (PersistentStore<R>(in: suite ?? self.suite).value.tree, values(R.self).shown)
        for name in R.shapes.keys where value[name] != must[name] {
            try expect(false, check, "\(R.self), \(name): \(text(value[name])) instead of \(text(must[name]))")
        }
    }

    /// Checks that another user, who has chosen the same in some properties, reads the same.
    func checkReading<R: Release>(_ release: R.Type, of names: [String], as other: User) throws {
        guard !names.isEmpty else { return }
        let values = [self, other].map { PersistentStore<R>(in: $0.suite).value.tree }
        for name in names where values[0][name] != values[1][name] {
            let theirs = other.log.map { $0() }.joined(separator: "\n")
            try expect(false, "two users read one choice differently", "\(R.self), \(name)\n\(theirs)")
        }
    }
}

private func text(_ tree: PropertyList?) -> String { tree?.jsonText ?? "nothing" }

/// The life of a user, and a second user who makes the same choices at its end.
private struct Game {
    private static let releases: [any Release.Type] = [Release1.self, Release2.self, Release3.self]
    private var generator: SeededGenerator
    private(set) var (writes, pairs) = (0, 0)

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    private mutating func random(_ end: Int) -> Int { .random(in: 0..<end, using: &generator) }
    private mutating func pick<Value>(_ values: [Value]) -> Value { values[random(values.count)] }

    mutating func play(_ one: DefaultsSuite, _ other: DefaultsSuite) throws {
        let user = try User(one)
        let first = pick(Self.releases)
        if random(2) == 0 { try user.leave(tree(first)) }
        if random(3) == 0 { user.setLayers(random(2) == 0 ? layer() : nil, random(2) == 0 ? layer() : nil) }
        var index = random(2)
        for _ in 0..<(1 + random(2)) {
            let release = Self.releases[index]
            try step(user, release)
            // Mostly to a newer release, sometimes back to an older one.
            index = random(4) == 0 ? random(3) : min(index + random(2), 2)
        }
        for release in Self.releases { try user.checkReading(release, "a release reads otherwise") }
        guard random(2) == 0 else { return }
        user.setLayers(nil, nil)
        let (second, release) = (try User(other), Self.releases[index])
        if random(4) == 0 { try second.leave(tree(first)) }
        try stepTogether(user, second, release)
    }

    private mutating func step<R: Release>(_ user: User, _ release: R.Type) throws {
        let way = pick(Way<R>.all)
        // An edit of what a layer shows changes parts of what is stored: of these, they would mix.
        let mixed = ["lens", "spare", "presets.u", "span.low", "span.high", "label"]
        let all = R.choices.filter {
            user.before == nil || way.kind != .edit || !mixed.contains($0[0].path.joined(separator: "."))
        }
        // Often something of which a part is unknown or cannot be read.
        let odd = Set(Reading(user.stored, by: R.self)?.odd.keys.map { $0[0] } ?? [])
        let some = all.filter { odd.contains($0[0].path[0]) }
        let choices = (0..<(way.isAlone ? 1 : 1 + random(2))).map { _ in
            pick(pick(some.isEmpty || random(2) == 0 ? all : some))
        }
        _ = try user.choose(choices, way, in: user.store(random(4)))
        writes += 1
    }

    private mutating func stepTogether<R: Release>(_ one: User, _ other: User, _ release: R.Type) throws {
        let choices = [pick(pick(R.choices)), pick(pick(R.choices))]
        let ways = Way<R>.all.filter { ![.undone, .removal, .failure].contains($0.kind) && !$0.isAlone }
        let chosen = try [one, other].map { try $0.choose(choices, pick(ways), in: $0.store(random(4))) }
        writes += 2
        let same = chosen[0].filter { chosen[1][$0.key] == $0.value }.keys.sorted()
        pairs += same.count
        for release in Self.releases { try one.checkReading(release, of: same, as: other) }
    }

    /// Returns what users of a release have stored, and what other programs have made of it.
    private mutating func tree<R: Release>(_ release: R.Type) -> PropertyList {
        if random(20) == 0 { return "bad" }
        var value = R()
        for _ in 0..<6 { pick(pick(R.choices)).make(&value) }
        var tree = value.tree
        for name in R.shapes.keys.sorted() where random(2) == 0 { tree[name] = nil }
        if random(2) == 0 { for _ in 0..<(1 + random(8)) { spoil(&tree) } }
        return tree
    }

    /// Removes a part of a tree, or adds or replaces one that no release may know or can read.
    private mutating func spoil(_ tree: inout PropertyList) {
        switch tree {
        case .dictionary(var entries):
            let name = entries.keys.sorted().randomElement(using: &generator)
            switch random(5) {
            case 0: entries["future"] = pick([7, ["z": 1]])
            case 1: if let name { entries[name] = nil }
            default: if let name { spoil(&entries[name]!) }
            }
            tree = .dictionary(entries)
        case .array(var elements):
            if case .dictionary? = elements.first, random(2) == 0 { spoil(&elements[0]) } else { elements.append(7) }
            tree = .array(elements)
        case .integer(let number): tree = pick([.double(Double(number)), 99, "bad"])
        case .double(let number): tree = pick([.integer(Int64(number)), "bad"])
        default: tree = pick([7, ["night": ["u": 1]]])
        }
    }

    private mutating func layer() -> PropertyList? {
        var value = Release1()
        for _ in 0..<6 { pick(pick(Release1.choices)).make(&value) }
        // Another release refuses some of the others.
        let names = ["size", "mode", "lens", "counts", "shots", "tags"].filter { _ in random(2) == 0 }
        let entries = value.tree.entries!.filter { names.contains($0.key) }
        return entries.isEmpty ? nil : .dictionary(entries)
    }
}
