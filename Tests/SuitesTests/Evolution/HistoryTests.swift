import TestSupport
import Testing

@testable import TypedDefaults

#if canImport(AppleFoundation)
    import AppleFoundation
#else
    import Foundation
#endif

private let record = "TypedDefaults-migrations"

struct HistoryTests {
    // MARK: Where it lives

    @Test(arguments: Backend.allCases) func itIsNoSetting(backend: Backend) throws {
        try backend.withSuite { whole in
            let suite = whole.scoped("user/")
            let changes = Heard { note in whole.observeAll { note($0.keys) } }
            try suite.update { contents in
                contents["a"] = 1
                try contents.migrate("v2") { _ in }
            }
            try suite.update { try $0.migrate("v3") { _ in } }
            changes.cancel()
            #expect(changes.all == [["user/a"]])
            for contents in [try whole.contents(), try SuiteContents(json: whole.contents().json())] {
                #expect(contents == ["user/a": 1])
                #expect(contents.keys == ["user/a"])
                #expect(contents["user/\(record)"] == nil)
                #expect(contents.history == [])
            }
            #expect(try whole.keys() == ["user/a"])
            #expect(try suite.contents().history == ["v2", "v3"])
            #expect(try suite.appliedMigrations() == ["v2", "v3"])
            #expect(try whole.appliedMigrations() == [])
            suite.remove([record])
            whole.remove(try whole.keys())
            #expect(try suite.appliedMigrations() == ["v2", "v3"])
        }
    }

    @Test func itIsKnownForWhatComesFromASuite() throws {
        #expect(SuiteContents().history == nil)
        #expect(([:] as SuiteContents).history == nil)
        #expect(try SuiteContents(json: Data("{}".utf8)).history == nil)
        let empty = try DefaultsSuite.inMemory().contents()
        #expect(empty.history == [])
        #expect(try SuiteContents(json: empty.json()).history == [])
        #expect(String(decoding: empty.json(), as: UTF8.self).contains("\"\(record)\": []"))
        #expect(String(decoding: SuiteContents().json(), as: UTF8.self) == "{}")
        var known: SuiteContents = ["a": 1]
        known.history = ["v2"]
        #expect(known == ["a": 1])
        #expect(try SuiteContents(json: known.json()).history == ["v2"])
        known.removeAll()
        #expect(known.history == ["v2"])
        known.history = nil
        #expect(try SuiteContents(json: known.json()).history == nil)
    }

    @Test func aSettingCannotHaveTheKeyOfARecord() throws {
        let suite = DefaultsSuite.inMemory()
        let failures = Failures(of: suite)
        for key in [record, "user/\(record)"] {
            #expect(fails(with: .refused) { try suite.update { $0[key] = 1 } })
            #expect(fails(with: .refused) { try suite.update { $0[DefaultKey(key, default: 0)] = 1 } })
            #expect(fails(with: .refused) { try suite.replaceContents(with: [key: 1]) })
            suite[DefaultKey(key, default: 0)] = 1
            #expect(failures.all.last?.kind == .refused)
            try suite.update { contents in
                contents[key] = nil
                contents.remove(DefaultKey(key, default: 0))
            }
        }
        #expect(try suite.contents().isEmpty)
    }

    @Test func inAnUpdateItCanBeAssigned() throws {
        let suite = DefaultsSuite.inMemory([record: ["v2"]])
        try suite.update { $0.history = nil }
        #expect(try suite.appliedMigrations() == ["v2"])
        try suite.update { $0.history = ["v2", "v3"] }
        #expect(try suite.appliedMigrations() == ["v2", "v3"])
        try suite.update { $0.history = [] }
        #expect(try suite.appliedMigrations() == [])
    }

    // MARK: Reset

    @Test(arguments: Backend.allCases) func anAccountIsForgottenForGood(backend: Backend) throws {
        try backend.withSuite { whole in
            for user in ["ada/", "bob/"] {
                try VolumeRelease.one.choose(["left": 7], in: whole.scoped(user))
                try whole.scoped(user).migrate(VolumeRelease.two.migrator)
            }
            try whole.scoped("ada/").removeAll(includingHistory: true)
            #expect(try whole.scoped("ada/").appliedMigrations() == [])
            #expect(try VolumeRelease.two.volumes(whole.scoped("bob/")) == ["left": 7])
            #expect(try whole.scoped("bob/").appliedMigrations().count == 1)
            #expect(!String(decoding: try whole.contents().json(), as: UTF8.self).contains("ada"))
            try whole.update { $0.removeAll(includingHistory: true) }
            #expect(!String(decoding: try whole.contents().json(), as: UTF8.self).contains("bob"))
        }
    }

    // MARK: Renaming

    @Test func aRenamedScopeKeepsItsHistory() throws {
        let whole = DefaultsSuite.inMemory()
        try VolumeRelease.one.choose(["left": 7], in: whole.scoped("ada/"))
        try whole.scoped("ada/").migrate(VolumeRelease.two.migrator)
        try whole.update { $0.rename(prefix: "ada/", to: "countess/") }
        #expect(try whole.scoped("countess/").migrate(VolumeRelease.two.migrator).isEmpty)
        #expect(try VolumeRelease.two.volumes(whole.scoped("countess/")) == ["left": 7])
        #expect(try whole.scoped("ada/").appliedMigrations() == [])
        // Values of two versions do not get into one scope.
        try VolumeRelease.one.choose(["right": 2], in: whole.scoped("bob/"))
        #expect(fails(with: .refused) { try whole.update { $0.rename(prefix: "countess/", to: "bob/") } })
        try whole.scoped("bob/").migrate(VolumeRelease.two.migrator)
        try whole.update { $0.rename(prefix: "countess/", to: "bob/") }
        #expect(try VolumeRelease.two.volumes(whole.scoped("bob/")) == ["left": 7, "right": 2])
    }

    @Test(arguments: [("a/b/", "a/"), ("a/", ""), ("", "a/"), ("a/", "a/b/"), ("a", "b"), ("", "x")])
    func aHistoryFollowsEachPrefix(old: String, new: String) throws {
        let whole = DefaultsSuite.inMemory()
        try VolumeRelease.one.choose(["left": 7], in: whole.scoped(old))
        try whole.scoped(old).migrate(VolumeRelease.two.migrator)
        try whole.update { $0.rename(prefix: old, to: new) }
        #expect(try whole.scoped(new).migrate(VolumeRelease.two.migrator) == [])
        #expect(try VolumeRelease.two.volumes(whole.scoped(new)) == ["left": 7])
    }

    // MARK: Import

    @Test func aDamagedHistoryIsNotAnUnknownOne() throws {
        let old = DefaultsSuite.inMemory([
            "volume/left": 7, record: 5, "user/\(record)": ["2.0", 3], "user/volume/left": 7,
        ])
        let contents = try old.contents()
        #expect(fails(with: .unreadable) { _ = try SuiteContents(json: contents.json()) })
        for suite in [DefaultsSuite.inMemory(), .inMemory(["volume/right": 1])] {
            let migrator = VolumeRelease.two.migrator
            #expect(fails(with: .unreadable) { try suite.merge(contents) })
            #expect(fails(with: .unreadable) { try suite.merge(contents, migrating: migrator) })
            #expect(fails(with: .unreadable) { try suite.replaceContents(with: contents) })
            #expect(fails(with: .unreadable) { try suite.replaceContents(with: contents, migrating: migrator) })
            #expect(fails(with: .unreadable) { try old.move(.all, to: suite) })
        }
        #expect(fails(with: .unreadable) { try old.update { $0.rename(prefix: "user/", to: "ada/") } })
        let error = #expect(throws: DefaultsError.self) { try old.scoped("user/").migrate(VolumeRelease.two.migrator) }
        #expect(error?.key == "user/\(record)")
        try old.removeAll(includingHistory: true)
        #expect(try old.migrate(VolumeRelease.two.migrator).count == 1)
    }

    @Test func valuesOfTwoVersionsAreRefusedInOneSentence() throws {
        let (old, new) = (DefaultsSuite.inMemory(), DefaultsSuite.inMemory())
        try VolumeRelease.one.choose(["left": 7], in: old)
        try VolumeRelease.one.choose(["right": 3], in: new)
        try new.migrate(VolumeRelease.two.migrator)
        let older = try SuiteContents(json: old.contents().json())
        for adding in [
            { try new.merge(older) }, { try new.replaceContents(with: older) }, { try new.update { $0 = older } },
        ] {
            let error = #expect(throws: DefaultsError.self, performing: adding)
            #expect(
                error?.description
                    == "refused “\(record)”: only the present values have been through “2.0: in percent”;"
                    + " migrate the added values first")
        }
        let newer = try new.contents()
        let error = #expect(throws: DefaultsError.self) { try old.merge(newer) }
        #expect(
            error?.description
                == "refused “\(record)”: only the added values have been through “2.0: in percent”;"
                + " migrate the present values first")
        #expect(try VolumeRelease.one.volumes(old) == ["left": 7])
        #expect(try old.contents().history == [])
        try new.merge(older, migrating: VolumeRelease.two.migrator)
        #expect(try VolumeRelease.two.volumes(new) == ["left": 7, "right": 3])
    }

    @Test func twoProgramsWithTwoMigratorsShareASuite() throws {
        let suite = DefaultsSuite.inMemory(["a": 1, "b": 1])
        func migrator(_ key: String, _ steps: ClosedRange<Int>) -> DefaultsMigrator {
            var migrator = DefaultsMigrator()
            for step in steps {
                migrator.register("\(key)\(step)") { contents in
                    if case .integer(let old)? = contents[key] { contents[key] = .integer(old * 10) }
                }
            }
            return migrator
        }
        try suite.migrate(migrator("a", 1...1))
        try suite.migrate(migrator("b", 1...1))
        let failures = Failures(of: suite)
        // Its own export goes back without a report, by either program.
        let export = try SuiteContents(json: suite.contents().json())
        for migrator in [migrator("a", 1...1), migrator("b", 1...1), migrator("a", 1...2)] {
            try suite.merge(export, migrating: migrator)
        }
        #expect(failures.all.isEmpty)
        #expect(try suite.contents() == ["a": 100, "b": 10])
        #expect(try suite.appliedMigrations() == ["a1", "b1", "a2"])
        // An export from before the other program's step, and one from after a later step.
        var early: SuiteContents = ["a": 3]
        early.history = []
        try suite.merge(early, migrating: migrator("a", 1...2))
        #expect(try suite.contents() == ["a": 300, "b": 10])
        #expect(failures.kinds == [.conflict])
        #expect(
            failures.all.last?.reason
                == "only some of the values have been through migrations of a newer version or another program: “b1”")
        var late: SuiteContents = ["b": 500]
        late.history = ["a1", "a2", "b1", "b2"]
        try suite.merge(late, migrating: migrator("a", 1...2))
        #expect(failures.all.last?.reason.contains("“b2”") == true)
        #expect(try suite.migrate(migrator("b", 1...2)) == [])
        #expect(try suite.contents() == ["a": 300, "b": 500])
    }

    @Test func anExportOfAWholeSuiteHasTheHistoryOfEachScope() throws {
        let (old, new) = (DefaultsSuite.inMemory(), DefaultsSuite.inMemory())
        for suite in [old, new] {
            try VolumeRelease.one.choose(["left": 1], in: suite.scoped("ada/"))
            try VolumeRelease.one.choose(["left": 2], in: suite.scoped("bob/"))
            try suite.scoped("ada/").migrate(VolumeRelease.two.migrator)
        }
        let export = try SuiteContents(json: old.contents().json())
        try new.merge(export, migrating: VolumeRelease.two.migrator)
        try new.scoped("bob/").migrate(VolumeRelease.two.migrator)
        #expect(try VolumeRelease.two.volumes(new.scoped("bob/")) == ["left": 2])
        // The values of Bob are now of another version, and the migrator is not that of Bob.
        let error = #expect(throws: DefaultsError.self) { try new.merge(export, migrating: VolumeRelease.two.migrator) }
        #expect(error?.key == "bob/\(record)")
        try old.scoped("bob/").migrate(VolumeRelease.two.migrator)
        try new.merge(old.contents(), migrating: VolumeRelease.two.migrator)
        for (user, volume) in [("ada/", 1), ("bob/", 2)] as [(String, Int64)] {
            #expect(try VolumeRelease.two.volumes(new.scoped(user)) == ["left": volume])
        }
    }

    @Test func theMigrationOfAnImportIsTheSameCommit() throws {
        let suite = DefaultsSuite.inMemory()
        try VolumeRelease.one.choose(["left": 7], in: suite)
        let changes = Guarded(0)
        let token = suite.observeAll { _ in changes.withLock { $0 += 1 } }
        var old: SuiteContents = ["volume/right": 2]
        old.history = []
        try suite.merge(old, migrating: VolumeRelease.three.migrator)
        token.cancel()
        #expect(changes.withLock { $0 } == 1)
        #expect(try VolumeRelease.three.volumes(suite) == ["left": 7, "right": 2])
        var failing = VolumeRelease.three.migrator
        failing.register("4.0") { _ in throw CancellationError() }
        #expect(throws: DefaultsMigrator.Failure.self) { try suite.replaceContents(with: old, migrating: failing) }
        #expect(try VolumeRelease.three.volumes(suite) == ["left": 7, "right": 2])
    }

    // MARK: Moving

    @Test func aHistoryMovesWithAllValuesIntoAnEmptyPlace() throws {
        let (old, new, other) = (DefaultsSuite.inMemory(), DefaultsSuite.inMemory(), DefaultsSuite.inMemory())
        try VolumeRelease.one.choose(["left": 7, "right": 3], in: old)
        try old.migrate(VolumeRelease.two.migrator)
        try VolumeRelease.one.choose(["left": 1], in: old.scoped("ada/"))
        #expect(try old.copy(.where { _ in true }, to: other).moved.count == 3)
        #expect(try other.appliedMigrations() == [], "a selection has no history")
        #expect(try old.move(.all, to: new).moved.count == 3)
        #expect(try new.migrate(VolumeRelease.three.migrator) == ["3.0: a level"])
        #expect(try VolumeRelease.three.volumes(new) == ["left": 7, "right": 3])
        // An older program that still runs, or runs again, finds its form.
        try VolumeRelease.two.choose(["left": 2], in: old)
        #expect(try old.migrate(VolumeRelease.two.migrator).isEmpty)
        #expect(try VolumeRelease.two.volumes(old) == ["left": 2])
        // What it stores is of another version than what is in the new place.
        let report = try old.move(.all, to: new)
        #expect(report.moved.isEmpty && report.kept.isEmpty)
        #expect(report.refused.map(\.kind) == [.refused])
        #expect(report.refused.first?.key == record)
        #expect(try VolumeRelease.two.volumes(old) == ["left": 2])
        try old.migrate(VolumeRelease.three.migrator)
        #expect(try old.move(.all, to: new).kept == ["level/left"])
        #expect(try VolumeRelease.three.volumes(new) == ["left": 7, "right": 3])
    }

    /// On a backend that stores key by key, an interruption leaves no values without their history.
    @Test(arguments: 0..<6) func anInterruptedRenameIsFinished(count: Int) throws {
        let place = KeyByKeyBackend(["a/volume/left": 7, "a/volume/right": 1])
        let suite = DefaultsSuite(backend: place)
        try suite.scoped("a/").migrate(VolumeRelease.two.migrator)
        var migrator = DefaultsMigrator()
        migrator.register("rename") { $0.rename(prefix: "a/", to: "b/") }
        place.stop(after: count)
        _ = try? suite.migrate(migrator)
        place.stop(after: nil)
        try suite.migrate(migrator)
        #expect(try suite.scoped("b/").migrate(VolumeRelease.two.migrator) == [])
        #expect(try VolumeRelease.two.volumes(suite.scoped("b/")) == ["left": 7, "right": 1])
        #expect(try VolumeRelease.two.volumes(suite.scoped("a/")) == [:])
    }

    // MARK: Launch

    @Test(.ownFile) func whereNothingIsStoredAndNothingCanBeALaunchDoesNotFail() throws {
        let missing = DefaultsSuite(backend: FileBackend(namedPath: nil))
        #expect(missing.isReadOnly)
        #expect(try missing.migrate(VolumeRelease.three.migrator) == [])
        #expect(!DefaultsSuite.inMemory().isReadOnly)
        let file = URL(filePath: ownFile)
        #expect(try !DefaultsSuite(file: file).isReadOnly)
        // A backend that fails is not a place in which nothing can be stored.
        let spy = SpyBackend()
        spy.fail(with: DefaultsError(.unavailable, reason: "no connection"))
        let suite = DefaultsSuite(backend: spy)
        #expect(!suite.isReadOnly)
        #expect(fails(with: .unavailable) { try suite.migrate(VolumeRelease.three.migrator) })
    }
}
