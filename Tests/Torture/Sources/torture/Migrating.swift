import TypedDefaults

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#endif

private let items = 0..<20

/// The settings of version 1: twenty texts, and a value that stays.
private let version1: SuiteContents = {
    var contents: SuiteContents = ["stays": true]
    for item in items { contents["item-\(item)"] = .string(filler(1_000 + item)) }
    return contents
}()

/// The settings of version 3. Each step has counted how often it ran.
private let version3: SuiteContents = {
    var contents: SuiteContents = [
        "stays": true, "runs-1": 1, "runs-2": 1, "runs-3": 1, "total": .integer(Int64(total)),
    ]
    for item in items { contents["length-\(item)"] = .integer(Int64(1_000 + item)) }
    contents.history = ["1", "2", "3"]
    return contents
}()

private let total = items.reduce(0) { $0 + 1_000 + $1 }

private let steps: [@Sendable (inout SuiteContents) throws -> Void] = [
    { contents in
        for item in items {
            if case .string(let text)? = contents["item-\(item)"] {
                contents[length(item)] = text.utf8.count
            }
        }
    },
    { contents in for item in items { contents["item-\(item)"] = nil } },
    { contents in
        let total = items.reduce(0) { $0 + contents[length($1)] }
        contents[DefaultKey("total", default: 0)] = total
    },
]

private func length(_ item: Int) -> DefaultKey<Int> { DefaultKey("length-\(item)", default: 0) }

private func run(_ step: Int, _ contents: inout SuiteContents) throws {
    try steps[step](&contents)
    contents[DefaultKey("runs-\(step + 1)", default: 0)] += 1
}

private let migrator: DefaultsMigrator = {
    var migrator = DefaultsMigrator()
    for step in steps.indices { migrator.register("\(step + 1)") { try run(step, &$0) } }
    return migrator
}()

/// Stores version 1 in a file that is due for compaction, and ends the process before it is
/// compacted.
func beginMigration(_ suite: DefaultsSuite) throws {
    try suite.replaceContents(with: version1)
    fill(suite)
    _exit(0)
}

/// Writes superseded records of 4.1 MB. The writer compacts the file at 4 MiB, and each flush does.
private func fill(_ suite: DefaultsSuite) {
    for number in 0..<206 { suite[DefaultKey("filler", default: "")] = filler(20_000 + number) }
    suite.remove(["filler"])
}

/// How to migrate.
enum Migrating: String {
    case migrate
    /// As a control: each step, and then the record, as a commit of its own.
    case apart = "migrate-apart"
    /// As a control: checks whether the steps are due before it has write access.
    case unchecked = "migrate-unchecked"
}

func migrate(_ suite: DefaultsSuite, _ migrating: Migrating) throws {
    switch migrating {
    case .migrate: try suite.migrate(migrator)
    case .apart:
        for step in steps.indices { try suite.update { try run(step, &$0) } }
        try suite.update { $0.history = version3.history }
    case .unchecked:
        guard try suite.appliedMigrations().isEmpty else { return }
        usleep(20_000)
        try suite.update { contents in
            for step in steps.indices { try run(step, &contents) }
            contents.history = version3.history
        }
    }
}

private func text(_ contents: SuiteContents) -> String { String(decoding: contents.json(), as: UTF8.self) }

/// Checks that the settings are those of version 1 or of version 3, prints which, and that a
/// migration then leads to version 3.
func checkMigration(_ suite: DefaultsSuite) throws {
    let found = try suite.contents()
    guard isSame(found, version1) || isSame(found, version3) else {
        fail("a mix:\n\(text(found))")
    }
    try suite.migrate(migrator)
    let migrated = try suite.contents()
    guard isSame(migrated, version3) else { fail("not version 3:\n\(text(migrated))") }
    say(found == version1 ? "before" : "after")
}

/// Returns whether both have the same values and have been through the same steps.
private func isSame(_ one: SuiteContents, _ other: SuiteContents) -> Bool {
    one == other && (one.history ?? []) == (other.history ?? [])
}

/// The two suites of a move: the second one may have values, one of them equal and one different.
struct Move {
    let old: DefaultsSuite
    let new: DefaultsSuite
    private let hasValues: Bool

    init(_ old: DefaultsSuite, path: String, hasValues: Bool) throws {
        (self.old, self.hasValues) = (old, hasValues)
        new = try DefaultsSuite(file: URL(filePath: path + "-group"))
    }

    private var oldBefore: SuiteContents { version3 }
    private var oldAfter: SuiteContents { hasValues ? ["length-3": version3["length-3"]!] : [:] }
    private var newBefore: SuiteContents {
        guard hasValues else { return [:] }
        var contents: SuiteContents = ["total": version3["total"]!, "length-3": 3, "own": "o"]
        contents.history = version3.history
        return contents
    }
    private var newAfter: SuiteContents {
        var contents = version3
        for (key, value) in newBefore { contents[key] = value }
        return contents
    }

    /// Stores the values in files that are due for compaction, and ends the process before they are
    /// compacted.
    func begin() throws {
        try old.replaceContents(with: oldBefore)
        fill(old)
        if hasValues {
            try new.replaceContents(with: newBefore)
            fill(new)
        }
        _exit(0)
    }

    func run() throws { try old.move(.all, to: new) }

    /// As a control: removes the values before it stores them.
    func runCarelessly() throws {
        let values = try old.contents()
        let kept = try new.contents()
        try old.replaceContents(with: oldAfter)
        try new.update { contents in
            for (key, value) in values where kept[key] == nil { contents[key] = value }
        }
    }

    /// Checks that each suite is as before or as after the move, prints which, and that another
    /// move finishes it.
    func check() throws {
        let (foundOld, foundNew) = (try old.contents(), try new.contents())
        guard foundOld == oldBefore || foundOld == oldAfter else {
            fail("the source is a mix:\n\(text(foundOld))")
        }
        guard isSame(foundNew, newBefore) || isSame(foundNew, newAfter) else {
            fail("the destination is a mix:\n\(text(foundNew))")
        }
        guard foundOld == oldBefore || foundNew == newAfter else { fail("the values are lost") }
        try run()
        guard try old.contents() == oldAfter, try isSame(new.contents(), newAfter) else {
            fail("the move is not finished")
        }
        say(foundNew == newBefore ? "before" : foundOld == oldBefore ? "between" : "after")
    }
}
