import TestSupport
import Testing
import TypedDefaults

#if canImport(AppleFoundation)
    import AppleFoundation
#else
    import Foundation
#endif

private let quality = DefaultKey("quality", default: 0.8)
private struct Stop: Error {}

/// Version 2 stores one quality, version 3 counts the launches as a number.
private let migrator: DefaultsMigrator = {
    var migrator = DefaultsMigrator()
    migrator.register("v2") { contents in
        if case .double(let old)? = contents["pictureQuality"] { contents[quality] = old }
        contents["pictureQuality"] = nil
    }
    migrator.register("v3") { contents in
        let text = try contents.read(DefaultKey<String?>("launches"))
        contents[DefaultKey("launches", default: 0)] = text.flatMap { Int($0) } ?? 0
    }
    return migrator
}()

private let version1: [String: PropertyList] = ["pictureQuality": 0.5, "launches": "7", "other": [1, 2]]
private let version3: SuiteContents = ["quality": 0.5, "launches": 7, "other": [1, 2]]

struct DefaultsMigratorTests {
    @Test(arguments: Backend.allCases) func dueStepsAndTheirRecordAreOneCommit(backend: Backend) throws {
        try backend.withSuite { suite in
            let failures = Failures(of: suite)
            try suite.replaceContents(with: contents(version1))
            let changes = Heard { note in suite.observeAll { note($0.keys) } }
            #expect(try suite.migrate(migrator) == ["v2", "v3"])
            #expect(try suite.contents() == version3)
            #expect(try suite.migrate(migrator) == [])
            #expect(changes.all == [["launches", "pictureQuality", "quality"]], "the record is no setting")
            #expect(try suite.contents().history == ["v2", "v3"])
            #expect(failures.all.isEmpty, "reading one key as two types in a migration is no conflict")
            #expect(try suite.keys() == ["launches", "other", "quality"])
        }
    }

    @Test func anUnneededMigrationReadsOneKeyAndCommitsNothing() throws {
        let spy = SpyBackend(["TypedDefaults-migrations": ["v2", "v3"]])
        let suite = DefaultsSuite(backend: spy)
        let reads = spy.reads
        #expect(try suite.migrate(migrator) == [])
        #expect(spy.reads == reads + 1)
        #expect(spy.commits.isEmpty)
    }

    @Test(arguments: Backend.allCases) func aStepThatThrowsIsNamedAndLeavesEverything(backend: Backend) throws {
        var failing = migrator
        failing.register("v4") { contents in
            contents[quality] = 0.1
            throw Stop()
        }
        try backend.withSuite { suite in
            try suite.replaceContents(with: contents(version1))
            let error = #expect(throws: DefaultsMigrator.Failure.self) { try suite.migrate(failing) }
            #expect(error?.migration == "v4")
            #expect(error?.error is Stop)
            for text in [error?.description, error?.errorDescription, error?.localizedDescription] {
                #expect(text == "the migration step “v4” failed: it threw Stop")
            }
            #expect(try suite.contents() == contents(version1))
        }
    }

    @Test func aRecordThatTheBackendCannotReadStopsTheMigration() throws {
        let place = KeyByKeyBackend(version1, unreadableKeys: ["TypedDefaults-migrations"])
        let suite = DefaultsSuite(backend: place)
        #expect(fails(with: .unreadable) { _ = try suite.appliedMigrations() })
        #expect(fails(with: .unreadable) { try suite.migrate(migrator) })
        var contents = try suite.contents()
        #expect(fails(with: .unreadable) { try migrator.migrate(&contents) })
        contents.removeAll(includingHistory: true)
        #expect(try migrator.migrate(&contents) == ["v2", "v3"])
        #expect(fails(with: .unreadable) { try suite.update { _ = try migrator.migrate(&$0) } })
        #expect(place.contents == version1)
    }

    @Test func onlyWhatIsStoredIsARecord() throws {
        let suite = DefaultsSuite.inMemory(version1)
        suite.layers = [.arguments(["TypedDefaults-migrations": ["v2", "v3"]]), .stored]
        #expect(suite[DefaultKey("TypedDefaults-migrations", default: [String]())] == ["v2", "v3"])
        #expect(try suite.migrate(migrator) == ["v2", "v3"])
        #expect(try suite.appliedMigrations() == ["v2", "v3"])
    }

    @Test func oneNamedChangeNeedsNoMigrator() throws {
        let suite = DefaultsSuite.inMemory(["runs": 0, "TypedDefaults-migrations": ["v2"]])
        for isDue in [true, false] {
            let wasMade = try suite.update { contents in
                try contents.migrate("count") { $0[DefaultKey("runs", default: 0)] += 1 }
            }
            #expect(wasMade == isDue)
        }
        #expect(try suite.contents() == ["runs": 1])
        #expect(try suite.appliedMigrations() == ["v2", "count"])
        var contents = try suite.contents()
        #expect(throws: Stop.self) {
            try contents.migrate("stop") { contents in
                contents["runs"] = 2
                throw Stop()
            }
        }
        #expect(throws: DefaultsError.self) {
            try contents.migrate("infinite") { $0[DefaultKey("a", default: 1.0, form: .jsonData)] = .infinity }
        }
        #expect(try contents == suite.contents())
    }

    @Test func anOlderProgramKnowsThatANewerOneMigrated() throws {
        var newer = migrator
        newer.register("v4") { $0["quality"] = "high" }
        let suite = DefaultsSuite.inMemory(version1)
        try suite.migrate(newer)
        #expect(try migrator.isSuperseded(by: suite.contents()))
        #expect(try !newer.isSuperseded(by: suite.contents()))
        #expect(try suite.migrate(migrator) == [], "nothing is refused")
        #expect(try suite.contents()["quality"] == "high")
        #expect(try suite.contents().history == ["v2", "v3", "v4"])
    }

    /// The article *Changing your settings* has these lines.
    @Test func theDryRunSaysWhatWouldChangeWithoutValues() throws {
        let before = contents(version1)
        var after = before
        try migrator.migrate(&after)
        let changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
        #expect(changed == ["quality", "pictureQuality", "launches"])
    }

    @Test func aStepThatReplacesTheContentsKeepsTheRecord() throws {
        let suite = DefaultsSuite.inMemory(["a": 1])
        var migrator = DefaultsMigrator()
        migrator.register("empty") { $0.removeAll() }
        try suite.migrate(migrator)
        migrator.register("replace") { $0 = ["b": 2] }
        migrator.register("forget") { $0.history = [] }
        try suite.migrate(migrator)
        #expect(try suite.contents().history == ["empty", "replace", "forget"])
        #expect(try suite.contents()["b"] == 2)
    }

    @Test(arguments: [true, false]) func aStepThatEditsAConfigKeepsWhatItCouldNotRead(isJSON: Bool) throws {
        struct Camera: DefaultConfig {
            static let key = "Camera"
            enum Mode: String, Codable { case photo, video }
            var isOn = true
            var mode = Mode.photo
        }
        let json = Data(#"{"isOn": true, "mode": "hologram"}"#.utf8)
        let stored: PropertyList = isJSON ? .data(json) : ["isOn": true, "mode": "hologram", "newer": 1]
        let suite = DefaultsSuite.inMemory(["Camera": stored])
        let failures = Failures(of: suite)
        var migrator = DefaultsMigrator()
        migrator.register("off") { $0[Camera.self].isOn = false }
        try suite.migrate(migrator)
        let new: PropertyList =
            isJSON ? ["isOn": false, "mode": "hologram"] : ["isOn": false, "mode": "hologram", "newer": 1]
        #expect(try suite.contents()["Camera"] == new)
        #expect(try suite.contents()["Camera.unreadable"] == nil)
        #expect(failures.all.map(\.path) == [["mode"]])
    }

    @Test func aValueThatAnotherStepHasReadIsCopied() throws {
        var migrator = DefaultsMigrator()
        migrator.register("look") { _ = $0["number"] }
        migrator.register("replace") { $0[DefaultKey("number", default: 0)] = 1 }
        var contents: SuiteContents = ["number": "text"]
        try migrator.migrate(&contents)
        #expect(contents["number"] == 1)
        #expect(contents["number.unreadable"] == "text")
    }

    @Test(.ownFile) func eightSuitesOnOneFileRunEachStepOnce() throws {
        let file = URL(filePath: ownFile)
        let runs = Guarded(0)
        var counting = DefaultsMigrator()
        counting.register("count") { contents in
            runs.withLock { $0 += 1 }
            contents[DefaultKey("runs", default: 0)] += 1
        }
        let migrator = counting
        onThreads(8) { _ in
            #expect(throws: Never.self) { try DefaultsSuite(file: file).migrate(migrator) }
        }
        #expect(runs.withLock { $0 } == 1)
    }

    /// As on `UserDefaults`, when the process ends between two keys.
    @Test(arguments: 0..<4) func overAPlaceThatStoresKeyByKeyTheRecordIsTheLast(committed: Int) throws {
        let place = KeyByKeyBackend(version1)
        let suite = DefaultsSuite(backend: place)
        place.stop(after: committed)
        #expect(throws: (any Error).self) { try suite.migrate(migrator) }
        #expect(place.contents["TypedDefaults-migrations"] == nil)
        place.stop(after: nil)
        // These steps can run again.
        var repeatable = DefaultsMigrator()
        repeatable.register("v2") { contents in
            if case .double(let old)? = contents["pictureQuality"] { contents[quality] = old }
            contents["pictureQuality"] = nil
        }
        repeatable.register("v3") { contents in
            guard case .string(let text)? = contents["launches"] else { return }
            contents[DefaultKey("launches", default: 0)] = Int(text) ?? 0
        }
        let next = DefaultsSuite(backend: KeyByKeyBackend(place.contents))
        try next.migrate(repeatable)
        #expect(try next.contents() == version3)
    }

    private func contents(_ values: [String: PropertyList]) -> SuiteContents {
        var contents: SuiteContents = [:]
        for (key, value) in values { contents[key] = value }
        return contents
    }
}
