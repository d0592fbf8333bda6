import TestSupport
import Testing
import TypedDefaults

#if canImport(AppleFoundation)
    import AppleFoundation
#else
    import Foundation
#endif

private let number = DefaultKey("number", default: 7)
private let text = DefaultKey<String?>("text")
private struct Stop: Error {}

struct SuiteContentsTests {
    @Test(arguments: Backend.allCases) func anUpdateStoresAllItsEditsAsOneChange(backend: Backend) throws {
        try backend.withSuite { suite in
            suite[number] = 1
            let changes = Heard { note in suite.observeAll(prefix: "") { note($0) } }
            let result = try suite.update { contents in
                contents[number] += 1
                contents[text] = "new"
                contents["raw"] = [1, 2]
                return contents[number]
            }
            #expect(result == 2)
            #expect(suite[number] == 2)
            #expect(suite[text] == "new")
            #expect(changes.all.map(\.keys) == [["number", "raw", "text"]])
        }
    }

    @Test(arguments: Backend.allCases, [false, true])
    func aValueThatCannotBeStoredRefusesTheWholeUpdate(backend: Backend, removesAll: Bool) throws {
        struct Unstorable: Codable, Sendable {
            init() {}
            init(from decoder: any Decoder) throws {}
            func encode(to encoder: any Encoder) throws { throw Stop() }
        }
        try backend.withSuite { suite in
            do {
                try suite.update { contents in
                    contents[number] = 2
                    contents[DefaultKey("bad", default: Unstorable())] = Unstorable()
                    if removesAll { contents.removeAll() }
                }
                Issue.record("the update was not refused")
            } catch let error as DefaultsError {
                #expect(error.key == "bad")
            }
            #expect(try suite.keys() == [])
        }
    }

    @Test(arguments: Backend.allCases) func theContentsReadTheirOwnEdits(backend: Backend) throws {
        try backend.withSuite { suite in
            suite[number] = 1
            suite[text] = "old"
            try suite.update { contents in
                contents.remove(number, text)
                #expect(contents[number] == 7)
                #expect(contents[text] == nil)
                #expect(!contents.contains(number))
                #expect(contents.keys == [])
                contents[number] = 3
                #expect(contents.contains(number))
                #expect(Array(contents).map(\.key) == ["number"])
            }
            #expect(try suite.contents() == ["number": 3])
        }
    }

    @Test(arguments: Backend.allCases) func replacingTheContentsRemovesOtherKeys(backend: Backend) throws {
        try backend.withSuite { suite in
            suite[number] = 1
            let backup = try suite.contents()
            try suite.update { contents in
                contents[number] = 2
                contents["other"] = "text"
            }
            #expect(try suite.contents() != backup)
            try suite.replaceContents(with: backup)
            #expect(try suite.contents() == backup)
            #expect(try suite.keys() == ["number"])
            try suite.update { $0.removeAll() }
            #expect(try suite.keys() == [])
        }
    }

    @Test func aCopyIsReportedWhenItsContentsAreStored() throws {
        let suite = DefaultsSuite.inMemory(["number": "text"])
        let failures = Failures(of: suite)
        var contents = try suite.contents()
        contents[number] = 1
        #expect(failures.all.isEmpty)
        try suite.replaceContents(with: contents)
        #expect(failures.all.map(\.key) == ["number"])
        #expect(try suite.keys() == ["number", "number.unreadable"])
    }

    /// A migration reads an old key, gets its default, and removes it.
    @Test(arguments: Backend.allCases) func aKeyThatCouldNotBeReadIsNotRemovedWithoutACopy(backend: Backend) throws {
        try backend.withSuite { suite in
            let (old, new) = (DefaultKey("old", default: 20), DefaultKey("new", default: 0))
            try suite.update { $0["old"] = "wide" }
            let failures = Failures(of: suite)
            try suite.update { contents in
                contents[new] = contents[old]
                contents.remove(old)
            }
            #expect(try suite.contents() == ["new": 20, "old.unreadable": "wide"])
            #expect(failures.kinds == [.unreadable])
            #expect(failures.all.first?.reason.contains("old.unreadable") == true)
            // A key that was not read is removed without a copy.
            try suite.update { $0["old"] = "wide" }
            try suite.update { $0.remove(old) }
            #expect(try suite.keys() == ["new", "old.unreadable"])
        }
    }

    @Test(arguments: Backend.allCases) func updatesReportAValueThatCannotBeReadOnce(backend: Backend) throws {
        try backend.withSuite { suite in
            try suite.update { ($0["number"], $0["Lens"]) = ("text", ["zoom": 2.0, "mode": "hologram"]) }
            let failures = Failures(of: suite)
            for _ in 0..<3 { try suite.update { _ = ($0[number], $0[Lens.self]) } }
            #expect(failures.all.map(\.key) == ["number", "Lens"])
            #expect(failures.all.map(\.path) == [[], ["mode"]])
            // The same as those of a reader.
            _ = (suite[number], PersistentStore<Lens>(in: suite).get())
            try suite.update { _ = (try? $0.read(number), $0[Lens.self]) }
            #expect(failures.all.count == 2)
            // Another fault is reported again.
            try suite.update { $0["number"] = ["other"] }
            for _ in 0..<2 { try suite.update { _ = $0[number] } }
            #expect(failures.all.map(\.key) == ["number", "Lens", "number"])
        }
    }

    private struct Lens: DefaultConfig {
        static let key = "Lens"
        enum Mode: String, Codable { case wide, long }
        var zoom = 1.0
        var mode = Mode.wide
    }

    @Test func ofTwoEditsOfOneValueTheFirstIsCopied() throws {
        let stored: PropertyList = ["zoom": 2.0, "mode": "hologram"]
        let suite = DefaultsSuite.inMemory(["Lens": stored, "number": "text"])
        let failures = Failures(of: suite)
        try suite.update { contents in
            contents[Lens.self].mode = .long
            contents[DefaultKey("Lens", default: "")] = "never stored"
            contents[Lens.self].zoom = 3
            contents[number] = 1
            contents[DefaultKey("number", default: "")] = "never stored"
            contents[number] = 2
        }
        #expect(
            try suite.contents() == [
                "Lens": ["zoom": 3.0], "Lens.unreadable": stored, "number": 2,
                "number.unreadable": "text",
            ])
        #expect(failures.all.filter { $0.kind == .unreadable }.map(\.key) == ["Lens", "number"])
    }

    /// Contents that belong to no suite keep a copy of each value that they could not read.
    @Test func eachUnreadableValueOfFreeContentsIsCopied() {
        let other = DefaultKey("other", default: 0)
        var contents: SuiteContents = ["number": "first", "other": "second"]
        #expect((contents[number], contents[other]) == (7, 0))
        contents.remove(number)
        contents[other] = 2
        #expect(contents == ["number.unreadable": "first", "other": 2, "other.unreadable": "second"])
    }

    @Test func contentsAreEqualByTheirBytesAndPrintNoValue() {
        let composed: SuiteContents = ["\u{E9}": 1]
        let decomposed: SuiteContents = ["e\u{301}": 1]
        #expect(composed != decomposed)
        #expect("\(composed)" == "SuiteContents(1 keys)")
        var dumped = ""
        dump(SuiteContents(dictionaryLiteral: ("name", "secret")), to: &dumped)
        #expect(!dumped.contains("secret") && !dumped.contains("name"))
    }

    @Test(arguments: Backend.allCases) func contentsAreAConsistentSnapshotWhileAnotherThreadCommits(
        backend: Backend
    ) throws {
        try backend.withSuite { suite in
            try expectWholeCommits(of: suite, in: suite)
            // As another process would.
            let path = backend == .file ? suite.location : nil
            if let path { try expectWholeCommits(of: suite, in: DefaultsSuite(backend: FileBackend(path: path))) }
        }
    }

    @Test func contentsOfABackendThatStoresKeyByKeyAreAConsistentSnapshot() throws {
        let suite = DefaultsSuite(backend: KeyByKeyBackend([:]))
        try expectWholeCommits(of: suite, in: suite)
    }

    private func expectWholeCommits(of suite: DefaultsSuite, in reader: DefaultsSuite) throws {
        let names = (0..<10).map { "key \($0)" }
        let (first, last) = (DefaultKey(names[0], default: 0), DefaultKey(names[9], default: 0))
        let isDone = Guarded(false)
        let counts = Guarded<Set<Int>>([])
        onThreads(2) { index in
            do {
                if index == 0 {
                    defer { isDone.withLock { $0 = true } }
                    for number in 1...500 {
                        try suite.update { contents in
                            for name in names { contents[name] = .integer(.init(number)) }
                        }
                    }
                } else {
                    while !isDone.withLock({ $0 }) {
                        let contents = try reader.contents()
                        let (one, other) = try reader.read(first, last)
                        counts.withLock { $0.formUnion([Set(names.map { contents[$0] }).count, one == other ? 1 : 2]) }
                    }
                }
            } catch let error as DefaultsError where error.kind == .timedOut {
                // The machine is busy, and the other thread had the suite each time.
            } catch {
                Issue.record(error)
            }
        }
        #expect(counts.withLock { $0 } == [1])
    }
}
