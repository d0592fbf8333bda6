import Foundation
import TestSupport
import Testing

@testable import TypedDefaults

extension DefaultKey<Double> {
    fileprivate static var quality: DefaultKey { DefaultKey("quality", default: 0.8) }
}
extension DefaultKey<String> {
    fileprivate static var mode: DefaultKey { DefaultKey("mode", default: "photo") }
}

private let three: [String: PropertyList] = ["a": 1, "b": [2, "two"], "c": ["x": 3]]

struct MovingTests {
    @Test(arguments: Backend.allCases, Backend.allCases)
    func allValuesMoveBetweenAnyTwoSuites(from: Backend, to: Backend) throws {
        try from.withSuite { old throws in
            try to.withSuite { new throws in
                for (key, value) in three { old[DefaultKey<PropertyList?>(key)] = value }
                let (removals, additions) = (Guarded<[[String]]>([]), Guarded<[[String]]>([]))
                let tokens = [
                    old.observeAll { change in removals.withLock { $0.append(change.keys) } },
                    new.observeAll { change in additions.withLock { $0.append(change.keys) } },
                ]
                defer { for token in tokens { token.cancel() } }
                let report = try old.move(.all, to: new)
                #expect(report == .init(moved: ["a", "b", "c"]))
                #expect(try old.contents().isEmpty)
                #expect(try new.contents() == contents(three))
                #expect(removals.withLock { $0 } == [["a", "b", "c"]], "one event of each suite")
                #expect(additions.withLock { $0 } == [["a", "b", "c"]])
                #expect(try old.move(.all, to: new) == .init())
                #expect(try new.contents() == contents(three))
            }
        }
    }

    @Test(arguments: Backend.allCases, Backend.allCases)
    func whatTheDestinationHasStaysAndEqualValuesCountAsMoved(from: Backend, to: Backend) throws {
        try from.withSuite { old throws in
            try to.withSuite { new throws in
                for (key, value) in three { old[DefaultKey<PropertyList?>(key)] = value }
                try new.update { ($0["a"], $0["b"]) = (7, [2, "two"]) }
                let report = try old.move(.all, to: new)
                #expect(report == .init(moved: ["b", "c"], kept: ["a"]))
                #expect("\(report)" == "moved “b”\nmoved “c”\nkept “a”")
                #expect(try old.contents() == ["a": 1])
                #expect(try new.contents() == ["a": 7, "b": [2, "two"], "c": ["x": 3]])
            }
        }
    }

    @Test func aCopyLeavesTheValuesAndKeepsEvenEqualOnes() throws {
        let (old, new) = (DefaultsSuite.inMemory(three), DefaultsSuite.inMemory(["a": 1]))
        #expect(try old.copy(.all, to: new) == .init(moved: ["b", "c"], kept: ["a"]))
        #expect(try old.contents() == contents(three))
        #expect(try new.contents() == contents(three))
        #expect(try old.copy(.all, to: new) == .init(kept: ["a", "b", "c"]))
    }

    @Test func selectedKeysAreMoved() throws {
        func suites() -> (DefaultsSuite, DefaultsSuite) {
            (.inMemory(["quality": 0.5, "mode": "video", "other": 1, "more": 2]), .inMemory())
        }
        var (old, new) = suites()
        #expect(try old.move(.keys(.quality, .mode), to: new) == .init(moved: ["mode", "quality"]))
        #expect(try old.keys() == ["more", "other"])
        #expect(new[.quality] == 0.5)
        (old, new) = suites()
        #expect(try old.move(.keys(["mode", "missing"]), to: new) == .init(moved: ["mode"]))
        (old, new) = suites()
        #expect(try old.move(.where { $0.hasPrefix("mo") }, to: new) == .init(moved: ["mode", "more"]))
    }

    @Test func aValueThatCannotBeReadIsReportedAndStays() throws {
        let place = KeyByKeyBackend(["a": 1, "secret": "geheim"], unreadableKeys: ["newer"])
        let new = DefaultsSuite.inMemory()
        let report = try DefaultsSuite(backend: place).move(.all, to: new)
        #expect(report.moved == ["a", "secret"])
        #expect(report.refused.map(\.kind) == [.unreadable])
        #expect(report.refused.map(\.key) == ["newer"])
        #expect(place.keys() == ["newer"])
        #expect(!"\(report)".contains("geheim"))
        #expect("\(report)".hasSuffix("\nunreadable “newer”: a newer version wrote it"))
    }

    @Test func aValueThatCannotBeReadInTheDestinationIsKept() throws {
        let place = KeyByKeyBackend([:], unreadableKeys: ["a"])
        let old = DefaultsSuite.inMemory(["a": 1, "b": 2])
        #expect(try old.move(.all, to: DefaultsSuite(backend: place)) == .init(moved: ["b"], kept: ["a"]))
        #expect(try old.contents() == ["a": 1])
    }

    @Test func nothingMovesIfTheDestinationRefusesAValue() throws {
        let long = String(repeating: "k", count: 5_000)
        try Backend.file.withSuite { new throws in
            let old = DefaultsSuite.inMemory([long: 1, "a": 1, "b": 2]).scoped("")
            let report = try old.move(.all, to: new.scoped("in/"))
            #expect(report.moved == [])
            #expect(report.refused.map(\.kind) == [.refused])
            #expect(report.refused.map(\.key) == ["in/" + long])
            #expect(try old.keys() == ["a", "b", long])
            #expect(try new.keys() == [])
            #expect(try old.move(.where { $0.utf8.count < 100 }, to: new).moved == ["a", "b"])
        }
    }

    /// As if the process had ended after so many keys, of the destination or then of the source. No
    /// values are stored without their history.
    @Test(arguments: 0..<7) func theNextCallFinishesAMove(committed: Int) throws {
        let record: [String: PropertyList] = ["TypedDefaults-migrations": ["v2"]]
        let stored = three.merging(record) { $1 }
        let places = (old: KeyByKeyBackend(stored), new: KeyByKeyBackend([:]))
        if committed < 4 { places.new.stop(after: committed) } else { places.old.stop(after: committed - 4) }
        let (old, new) = (DefaultsSuite(backend: places.old), DefaultsSuite(backend: places.new))
        #expect(fails(with: .unavailable) { try old.move(.all, to: new) })
        for (key, value) in stored {
            #expect(places.old.contents[key] == value || places.new.contents[key] == value, "nothing is lost")
        }
        for place in [places.old, places.new] { place.stop(after: nil) }
        let report = try DefaultsSuite(backend: KeyByKeyBackend(of: places.old))
            .move(.all, to: DefaultsSuite(backend: KeyByKeyBackend(of: places.new)))
        #expect(report.kept + report.refused.map(\.reason) == [])
        #expect(places.old.contents == record)
        #expect(places.new.contents == stored)
    }

    @Test func theDestinationIsFlushedBeforeTheSourceForgets() throws {
        let (from, to) = (SpyBackend(three), SpyBackend())
        let commits = Guarded<Int?>(nil)
        to.state.withLock { state in
            state.onSynchronize = { commits.withLock { $0 = from.commits.count } }
        }
        try DefaultsSuite(backend: from).move(.all, to: DefaultsSuite(backend: to))
        #expect(commits.withLock { $0 } == 0)
        #expect(from.commits.count == 1)
        #expect(to.commits.count == 1)
        // A value that is already there is perhaps not flushed yet.
        from.write(1, forKey: "a")
        try DefaultsSuite(backend: from).move(.all, to: DefaultsSuite(backend: to))
        #expect(commits.withLock { $0 } == 1)
        #expect(from.contents.isEmpty)
    }

    /// A flush may take seconds.
    @Test func aWriteDuringTheFlushOfAMoveIsKept() throws {
        let (from, to) = (SpyBackend(three), SpyBackend())
        let (old, new) = (DefaultsSuite(backend: from), DefaultsSuite(backend: to))
        to.state.withLock { state in
            state.onSynchronize = {
                old[DefaultKey("a", default: 0)] = 9
                old[DefaultKey("d", default: 0)] = 4
                new.remove(["b"])
            }
        }
        #expect(try old.move(.all, to: new) == .init(moved: ["c"], kept: ["a", "b"]))
        #expect(from.contents == ["a": 9, "b": [2, "two"], "d": 4])
        #expect(to.contents == ["a": 1, "c": ["x": 3]])
    }

    @Test func aFailedFlushLeavesTheSourceAsItWas() throws {
        let (from, to) = (SpyBackend(three), SpyBackend())
        // The commit itself still succeeds.
        to.interrupt { [weak to] call in
            if call == .commit { to?.fail(with: DefaultsError(.unavailable, reason: "the disk failed")) }
        }
        let (old, new) = (DefaultsSuite(backend: from), DefaultsSuite(backend: to))
        #expect(fails(with: .unavailable) { try old.move(.all, to: new) })
        #expect(from.contents == three)
        #expect(to.contents == three)
        to.interrupt(nil)
        to.fail(with: nil)
        #expect(try old.move(.all, to: new).moved == ["a", "b", "c"])
        #expect(from.contents.isEmpty)
    }

    /// Steps of migrations that only one of the two has been through stay due there.
    @Test(arguments: Backend.allCases) func aMoveWithinOneSuiteIsRefused(backend: Backend) throws {
        try backend.withSuite { suite throws in
            let user = suite.scoped("user/")
            (suite[.quality], user[.mode]) = (0.5, "video")
            let before = try suite.contents()
            for (from, to) in [(suite, user), (user, suite), (user, suite.scoped("guest/"))] {
                for transfer in [from.move, from.copy] {
                    let error = #expect(throws: DefaultsError.self) { _ = try transfer(.all, to) }
                    #expect(error?.kind == .refused && error?.reason.contains("rename(prefix:to:)") == true)
                }
            }
            #expect(try suite.contents() == before)
            try suite.update { $0.rename(prefix: "user/", to: "guest/") }
            #expect(try suite.keys() == ["guest/mode", "quality"])
        }
    }

    @Test func movingASuiteToItselfDoesNothing() throws {
        let suite = DefaultsSuite.inMemory(three)
        #expect(try suite.move(.all, to: suite) == .init())
        #expect(try suite.scoped("user/").move(.all, to: suite.scoped("user/")) == .init())
        _ = try DefaultsSuite.withStandard(suite) { () throws in
            #expect(try DefaultsSuite.standard.move(.all, to: suite) == .init())
        }
        #expect(try suite.contents() == contents(three))
    }

    /// All values are there, so all would count as moved.
    @Test(.ownFile) func movingBetweenTwoSuitesOfOnePlaceRemovesNothing() throws {
        let place = KeyByKeyBackend(three)
        let (one, other) = (DefaultsSuite(backend: place), DefaultsSuite(backend: KeyByKeyBackend(of: place)))
        #expect(try one.move(.all, to: other) == .init(kept: ["a", "b", "c"]))
        #expect(place.contents == three)
        let link = ownFolder + "-link"
        #expect(symlink(ownFolder, link) == 0)
        defer { try? FileManager.default.removeItem(atPath: link) }
        func open(_ path: String) -> DefaultsSuite {
            DefaultsSuite(backend: FileBackend(path: path, timeout: .milliseconds(100)))
        }
        let file = open(ownFile)
        try file.replaceContents(with: contents(three))
        #expect(try file.move(.all, to: open(ownFile)) == .init(kept: ["a", "b", "c"]))
        // With another path, the file knows that this process is writing it already.
        #expect(fails(with: .nestedWrite) { try file.move(.all, to: open(link + "/test.defaults")) })
        #expect(try file.contents() == contents(three))
    }

    @Test func aMoveInsideAnUpdateOfEitherSuiteIsAnError() throws {
        let (old, new) = (DefaultsSuite.inMemory(three), DefaultsSuite.inMemory())
        for suite in [old, new] {
            try suite.update { _ in #expect(fails(with: .nestedWrite) { try old.move(.all, to: new) }) }
        }
        #expect(try old.contents() == contents(three))
    }

    @Test(arguments: Backend.allCases) func oppositeMovesAtOnceLoseNothing(backend: Backend) throws {
        try backend.withSuite { one throws in
            try backend.withSuite { other throws in
                for (key, value) in three { one[DefaultKey<PropertyList?>(key)] = value }
                onThreads(4) { index in
                    for _ in 0..<25 {
                        #expect(throws: Never.self) {
                            if index % 2 == 0 { try one.move(.all, to: other) } else { try other.move(.all, to: one) }
                        }
                    }
                }
                try one.move(.all, to: other)
                #expect(try one.contents().isEmpty)
                #expect(try other.contents() == contents(three))
            }
        }
    }

    @Test func aMoveOfNothingCreatesNoFile() throws {
        let (from, to) = (try makeFile(), try makeFile())
        defer { for file in [from, to] { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) } }
        #expect(try DefaultsSuite(file: from).move(.all, to: DefaultsSuite(file: to)) == .init())
        #expect(![from, to].contains { FileManager.default.fileExists(atPath: $0.path) })
    }

    private func contents(_ values: [String: PropertyList]) -> SuiteContents {
        var contents: SuiteContents = [:]
        for (key, value) in values { contents[key] = value }
        return contents
    }
}

extension DefaultsSuite.MoveReport {
    fileprivate init(moved: [String] = [], kept: [String] = []) { self.init(moved, kept, []) }
}
