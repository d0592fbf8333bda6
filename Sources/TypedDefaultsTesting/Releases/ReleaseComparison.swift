import TypedDefaults

/// What the users of an earlier release find in the present one.
struct ReleaseComparison {
    private let program: ReleasedProgram, old: ReleaseRecord
    private var users: [(sample: ReleaseRecord.Sample, before: ReleasedUser, after: ReleasedUser)] = []
    /// One line for each difference.
    private(set) var lines: Set<String> = []

    init(_ program: ReleasedProgram, from old: ReleaseRecord, to new: ReleaseRecord) {
        (self.program, self.old) = (program, old)
        for sample in old.samples {
            let before = old.user(sample)
            do { users.append((sample, before, try program.launch(with: before.contents))) } catch {
                lines.insert("! \(sample.name): \(error)")
            }
        }
        let (before, newUsers) = (Set(users.flatMap(\.before.reads.keys)), new.samples.map(new.user))
        let after = Set(users.flatMap(\.after.reads.keys) + newUsers.flatMap(\.reads.keys))
        for path in before.union(after) { compare(path, isOld: before.contains(path), isNew: after.contains(path)) }
        let choices = newUsers.flatMap { user in user.stored.map { ($0, $1, user.reads[$0]) } }
        for (path, stored, reads) in choices where before.contains(path) && !isKnown(stored, path) {
            say("<", path, "a user who chooses \(text(reads)) and downgrades loses it")
        }
    }

    private mutating func compare(_ path: String, isOld: Bool, isNew: Bool) {
        let never = users.first { $0.sample.name == "default" }?.after.reads ?? [:]
        let (was, now) = (old.reads[path], never[path])
        if !isNew {
            // An enum with values may read what was a number.
            let choices = users.filter { $0.sample.chose != nil && $0.before.stored[path] != nil }.map(\.after.reads)
            let parts = Set(choices.flatMap { reads in reads.keys.filter { reads[$0] != never[$0] } })
                .filter { $0.hasPrefix("\(path).") }.map(program.shortName).sorted()
            guard parts.isEmpty else { return say("-", path, "now read as \(parts.joined(separator: ", "))") }
            let stored = users.filter { $0.before.stored[path] != nil }.map { $0.after.stored[path] }
            let end = stored.contains { $0 != nil } ? ", stays stored" : ", removed by the migration"
            say("-", path, "no longer read\(stored.isEmpty ? "" : end)")
        } else if !isOld {
            say("+", path)
        } else if !isSame(was, now) {
            say("~", path, "a user who never chose it gets \(text(now)) instead of \(text(was))")
        }
        var said: Set<[PropertyList?]> = []
        for (sample, before, after) in users {
            let (one, other) = (before.reads[path], after.reads[path])
            if !isSame(one, was), let stored = before.stored[path], after.stored[path] != stored {
                say("<", path, "a user who chose \(text(one)) loses it after an update and a downgrade")
            }
            guard isNew, !isSame(other, isSame(one, was) ? now : one) else { continue }
            guard said.insert([one, other]).inserted || sample.chose != nil else { continue }
            let who = sample.chose.map { "a user who chose \(isOld ? $0 : sample.name)" } ?? "“\(sample.name)”"
            if !isSame(one, was) {
                say("!", path, "a user who chose \(text(one)) gets \(text(other))\(rule(path, after.contents))")
            } else {
                let end = isOld ? "; every other user gets \(text(now))" : ""
                say(isOld ? "!" : "+", path, "\(who) gets \(text(other))\(end)")
            }
        }
    }

    private mutating func say(_ kind: String, _ path: String, _ text: String...) {
        lines.insert((["\(kind) \(program.shortName(path))"] + text).joined(separator: ": "))
    }

    private func text(_ value: PropertyList?) -> String { value?.jsonText ?? "nil" }

    /// Returns whether both are equal, or the same number in two types.
    private func isSame(_ one: PropertyList?, _ other: PropertyList?) -> Bool {
        one == other || one?.number != nil && one?.number == other?.number
    }

    /// Returns the rule that the stored value of a property breaks.
    private func rule(_ path: String, _ contents: SuiteContents) -> String {
        let faults = program.settings.flatMap { contents[$0.name].map($0.faults(in:)) ?? [] }
        let fault = faults.first { $0.kind == .invalid && ([$0.key ?? ""] + $0.path).joined(separator: ".") == path }
        return fault.map { " (rule: \($0.reason.replacing("the value must be ", with: "")))" } ?? ""
    }

    /// Returns whether the earlier release reads a value, as far as its record tells.
    private func isKnown(_ value: PropertyList, _ path: String) -> Bool {
        if let cases = old.cases[path] { return cases.contains(value) }
        let known = users.compactMap { $0.before.reads[path] }
        let numbers = known.compactMap(\.number).sorted()
        // The description of a value is its kind.
        guard let number = value.number, !numbers.isEmpty else { return known.contains { "\($0)" == "\(value)" } }
        guard number == number.rounded() || known.contains(where: { $0.object is Double }) else { return false }
        // The samples have the limits of the rules.
        return max(number, -releaseLimit) >= numbers.first! && min(number, releaseLimit) <= numbers.last!
    }
}
