import Foundation
import TestSupport
import Testing
import TypedDefaults

@testable import TypedDefaultsTesting

struct ReleaseRandomPairsTests {
    /// Each line of a random pair of releases is expected by the model, and each difference of the
    /// model has a line. `TYPED_DEFAULTS_PAIRS` is the number of pairs.
    @Test(.timeLimit(.minutes(30)))
    func linesAreTheDifferencesOfTheModel() throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["TYPED_DEFAULTS_PAIRS"].flatMap(Int.init) ?? 60
        var generator = SeededGenerator(seed: environment["TYPED_DEFAULTS_SEED"].flatMap(UInt64.init) ?? 50)
        var lineCount = 0
        for pair in 0..<count {
            let old = RandomRelease.random(migrates: false, &generator)
            let new = RandomRelease.random(migrates: true, &generator)
            let (oldRecord, newRecord) = (try ReleaseRecord(of: old.program), try ReleaseRecord(of: new.program))
            let json = try PropertyList(encoding: oldRecord).json(isPretty: true)
            let read = try PropertyList(json: json).decode(ReleaseRecord.self)
            #expect(read == oldRecord, "pair \(pair)")
            let found = ReleaseComparison(new.program, from: read, to: newRecord).lines
            let expected = Self.expected(from: old, to: new, oldRecord, newRecord)
            let (missed, invented) = (expected.subtracting(found).sorted(), found.subtracting(expected).sorted())
            #expect(missed == [], "pair \(pair)")
            #expect(invented == [], "pair \(pair)")
            lineCount += found.count
            Self.checkRandomUsers(from: old, to: new, found, "pair \(pair)", &generator)
        }
        print("\(count) pairs, \(lineCount) lines")
    }

    private static func entries(_ stored: StoredEntries) -> StoredEntries {
        if case .dictionary(let entries)? = stored["Config"] { entries } else { [:] }
    }

    /// The leaves of entries; nested structs have several.
    private static func leaves(_ entries: StoredEntries) -> StoredEntries {
        entries.reduce(into: [:]) { leaves, entry in
            guard case .dictionary(let parts) = entry.value else {
                leaves[entry.key] = entry.value
                return
            }
            for (name, value) in parts { leaves["\(entry.key).\(name)"] = value }
        }
    }

    private static func text(_ value: PropertyList?) -> String { value.map { $0.jsonText } ?? "nil" }

    /// The lines, from what the model says that the samples store and read.
    private static func expected(
        from old: RandomRelease, to new: RandomRelease, _ oldRecord: ReleaseRecord, _ newRecord: ReleaseRecord
    ) -> Set<String> {
        struct User {
            let name, chose: String
            let stored, migrated, before, after: StoredEntries
        }
        let users = oldRecord.samples.map { sample in
            let stored = entries(sample.stored)
            var migrated = stored
            new.migrate(&migrated)
            let name = sample.name
            let chose = name.contains(" = ") ? String(name.prefix { $0 != "." && $0 != " " }) : ""
            return User(
                name: name, chose: chose, stored: leaves(stored), migrated: leaves(migrated),
                before: leaves(old.reads(stored)), after: leaves(new.reads(migrated)))
        }
        let never = users.first { $0.name == "default" }!
        let (alone, all) = (users.filter { !$0.chose.isEmpty }, users.first { $0.name == "everything" }!)
        let before = Set(users.flatMap(\.before.keys))
        let samples = newRecord.samples.map { entries($0.stored) }
        let after = Set(users.flatMap(\.after.keys)).union(samples.flatMap { leaves(new.reads($0)).keys })
        var lines: Set<String> = []
        for path in before.subtracting(after) {
            let stored = users.filter { $0.stored[path] != nil }
            let end =
                stored.isEmpty
                ? "" : stored.contains { $0.migrated[path] != nil } ? ", stays stored" : ", removed by the migration"
            lines.insert("- \(path): no longer read\(end)")
        }
        for path in after.subtracting(before) {
            lines.insert("+ \(path)")
            for user in alone where user.after[path] != never.after[path] {
                lines.insert("+ \(path): a user who chose \(user.name) gets \(text(user.after[path]))")
            }
            if ([never] + alone).allSatisfy({ $0.after[path] != all.after[path] }) {
                lines.insert("+ \(path): “everything” gets \(text(all.after[path]))")
            }
        }
        for path in before.intersection(after) {
            let (was, now) = (never.before[path], never.after[path])
            if !isSame(was, now) {
                lines.insert("~ \(path): a user who never chose it gets \(text(now)) instead of \(text(was))")
            }
            for user in alone + [all] {
                let (one, other) = (user.before[path], user.after[path])
                if isSame(one, was), !isSame(other, now) {
                    let isKnown = alone.contains { isSame($0.before[path], was) && $0.after[path] == other }
                    if user.chose.isEmpty, isKnown { continue }
                    let who = user.chose.isEmpty ? "“everything”" : "a user who chose \(user.chose)"
                    lines.insert(
                        "! \(path): \(who) gets \(text(other)); every other user gets \(text(now))")
                } else if !isSame(one, was), !isSame(one, other) {
                    let isKnown = alone.contains { $0.before[path] == one && $0.after[path] == other }
                    if user.chose.isEmpty, isKnown { continue }
                    lines.insert(
                        "! \(path): a user who chose \(text(one)) gets \(text(other))" + rule(path, user.migrated, new)
                    )
                }
            }
        }
        for stored in samples {
            for (path, value) in leaves(stored) where before.contains(path) && after.contains(path) {
                guard !isSame(leaves(old.reads(stored))[path], value) else { continue }
                let reads = leaves(new.reads(stored))[path]
                lines.insert("< \(path): a user who chooses \(text(reads)) and downgrades loses it")
            }
        }
        for user in users {
            for (path, value) in user.stored where user.before[path] != never.before[path] {
                guard user.migrated[path] != value else { continue }
                let choice = "a user who chose \(text(user.before[path]))"
                lines.insert("< \(path): \(choice) loses it after an update and a downgrade")
            }
        }
        return lines
    }

    /// Whether both are the same number, or equal.
    private static func isSame(_ one: PropertyList?, _ other: PropertyList?) -> Bool {
        switch (one, other) {
        case (.double(let one), .integer(let other)): one == Double(other)
        case (.integer(let one), .double(let other)): Double(one) == other
        default: one == other
        }
    }

    private static func rule(_ path: String, _ stored: StoredEntries, _ new: RandomRelease) -> String {
        let value: Int64
        switch stored[path] {
        case .integer(let stored): value = stored
        case .double(let stored): value = Int64(stored)
        default: return ""
        }
        if new.reads(path, -1) == 0 { return 0...20 ~= value ? "" : " (rule: in 0...20)" }
        return new.reads(path, 3) == 3 && new.reads(path, 5) == nil && !(0...4 ~= value) ? " (rule: in 0...4)" : ""
    }

    /// Whatever a user has chosen, a line names each property that reads otherwise after the
    /// update.
    private static func checkRandomUsers(
        from old: RandomRelease, to new: RandomRelease, _ lines: Set<String>, _ comment: Comment,
        _ generator: inout SeededGenerator
    ) {
        for _ in 0..<10 {
            var stored = StoredEntries()
            for (name, value) in old.start {
                let candidates: [PropertyList] = [
                    value, 0, 3, 4, 7, 20, 1_000, -5, "7", "small", "huge", "medium", 0.5, 6.0, false,
                    ["zoom": 3, "curve": "a"], ["zoom": 1, "curve": "b", "focus": false],
                ]
                let chosen = candidates.randomElement(using: &generator)!
                if old.reads(name, chosen) == chosen { stored[name] = chosen }
            }
            var migrated = stored
            new.migrate(&migrated)
            let (before, after) = (leaves(old.reads(stored)), leaves(new.reads(migrated)))
            for (path, value) in before where !isSame(after[path], value) {
                #expect(
                    lines.contains { $0.dropFirst(2).hasPrefix("\(path):") },
                    "\(path), \(comment) \(text(value)) \(text(after[path])) \(lines)")
            }
        }
    }
}
