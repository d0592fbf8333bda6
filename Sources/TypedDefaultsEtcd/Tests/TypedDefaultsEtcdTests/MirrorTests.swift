import Testing
import TypedDefaults

@testable import TypedDefaultsEtcd

@Suite struct MirrorTests {
    let a = Array("a".utf8), b = Array("b".utf8)

    func event(_ name: String, _ value: String?, _ revision: Int64) -> EtcdMirror.Event {
        EtcdMirror.Event(name: Array("p/\(name)".utf8), value: value.map { Array($0.utf8) }, revision: revision)
    }
    func text(_ keys: [[UInt8]]?) -> [String]? { keys?.map { String(decoding: $0, as: UTF8.self) }.sorted() }
    func mirror(_ events: EtcdMirror.Event...) -> EtcdMirror {
        var mirror = EtcdMirror(names: Names(prefix: "p/"))
        _ = mirror.apply(events)
        return mirror
    }
    func pair(_ name: String, _ value: String, _ revision: Int) -> KeyValue {
        KeyValue(key: base64("p/\(name)".utf8), value: base64(value.utf8), mod_revision: "\(revision)")
    }
    func values(_ mirror: EtcdMirror) -> [String] {
        mirror.entries.map { String(decoding: $0 + "=".utf8 + $1.json, as: UTF8.self) }.sorted()
    }
    /// Returns the revisions that a commit of a key compares: of the number, and of the key.
    func compared(_ mirror: EtcdMirror, _ key: [UInt8], over generation: UInt64? = nil) -> [String]? {
        mirror.comparisons(edited: [key], over: generation ?? mirror.generation)?.map(\.mod_revision)
    }

    // What others change.

    @Test func eventsOfOthersBeginAGeneration() {
        var mirror = mirror(event("v/a", "1", 5))
        let generation = mirror.generation
        // One line of a watch can hold several revisions.
        #expect(
            text(mirror.apply([event("v/a", "2", 6), event("v/b", "1", 6), event("v/c", "1", 8)])) == ["a", "b", "c"])
        #expect(mirror.generation == generation + 1)
        #expect(text(mirror.changes(since: generation)) == ["a", "b", "c"])
        #expect(text(mirror.changes(since: mirror.generation)) == [])
        #expect(mirror.changes(since: 0) == nil)
        #expect(mirror.revision == 8)
        #expect(mirror.apply([event("v/a", "1", 5), event("v/d", "1", 8)]).isEmpty, "they were seen")
        #expect(values(mirror) == ["a=2", "b=1", "c=1"])
    }

    @Test func theSameValueOnceMoreIsNoChange() {
        var mirror = mirror(event("v/a", "1", 5))
        let generation = mirror.generation
        #expect(mirror.apply([event("v/a", "1", 6)]).isEmpty)
        #expect(mirror.generation == generation)
        #expect(compared(mirror, a) == ["0", "6"])
    }

    // A commit over a generation.

    @Test func aCommitComparesTheNumberAndWhatItEdits() {
        var mirror = mirror(event("v/a", "1", 5), event("rev", "x", 5))
        #expect(compared(mirror, a) == ["5", "5"])
        #expect(compared(mirror, b) == ["5", "0"])
        let begin = mirror.generation
        // Another program puts a key that the commit does not edit.
        _ = mirror.apply([event("v/b", "1", 6)])
        #expect(compared(mirror, a, over: begin) == ["5", "5"])
        #expect(compared(mirror, b, over: begin) == nil)
        #expect(compared(mirror, b) == ["5", "6"])
        // Another machine commits, the same values once more.
        _ = mirror.apply([event("v/b", "1", 7), event("rev", "y", 7)])
        #expect(compared(mirror, a, over: begin) == nil)
        #expect(compared(mirror, a) == ["7", "5"])
        // Another program removes the number.
        let generation = mirror.generation
        _ = mirror.apply([event("rev", nil, 8)])
        #expect(compared(mirror, a, over: generation) == nil)
        #expect(compared(mirror, a) == ["0", "5"])
    }

    @Test func whatAReadOfEverythingShowsIsComparedToo() {
        var mirror = mirror(event("v/a", "1", 5), event("rev", "x", 5))
        let begin = mirror.generation
        #expect(mirror.replace(with: [pair("v/a", "1", 5), pair("rev", "y", 6)], at: 9).isEmpty)
        #expect(compared(mirror, a, over: begin) == nil)
        #expect(compared(mirror, a) == ["6", "5"])
    }

    // Commits of this process.

    @Test func anOwnCommitBeginsAGenerationWhicheverComesFirst() {
        for isAcknowledgedFirst in [true, false] {
            var mirror = mirror(event("v/a", "1", 5), event("v/b", "1", 5))
            let begin = mirror.generation
            mirror.beginCommit(Array("t".utf8))
            let events = [event("v/a", "2", 9), event("v/b", nil, 9), event("rev", "t", 9)]
            let edits: [(key: [UInt8], json: [UInt8]?)] = [(a, Array("2".utf8)), (b, nil)]
            if !isAcknowledgedFirst { #expect(mirror.apply(events).isEmpty, "it is not reported") }
            #expect(mirror.endCommit(Array("t".utf8), edits, at: 9) == begin + 1)
            #expect(mirror.generation == begin + 1)
            #expect(text(mirror.changes(since: begin)) == ["a", "b"])
            #expect(values(mirror) == ["a=2"])
            #expect(compared(mirror, a) == ["9", "9"])
            #expect(compared(mirror, a, over: begin) == nil)
            if isAcknowledgedFirst {
                // What another program has put before that comes later.
                #expect(text(mirror.apply([event("v/c", "1", 8)] + events)) == ["c"])
                #expect(mirror.generation == begin + 2)
                #expect(values(mirror) == ["a=2", "c=1"])
            }
            // The token cannot be its own once more.
            #expect(text(mirror.apply([event("v/a", "3", 10), event("rev", "t", 10)])) == ["a"])
        }
    }

    /// The suite counts on a generation for each commit, whatever it stores.
    @Test func whatOthersChangeBesideAnOwnCommitBeginsOtherGenerations() {
        var mirror = mirror(event("v/a", "1", 5))
        let before = mirror.generation
        mirror.beginCommit(Array("t".utf8))
        let events = [
            event("v/b", "1", 6), event("v/c", "1", 7), event("v/a", "1", 8), event("rev", "t", 8),
            event("v/b", "2", 9), event("v/d", "1", 10),
        ]
        #expect(text(mirror.apply(events)) == ["b", "b", "c", "d"])
        #expect(mirror.generation == before + 3)
        #expect(mirror.endCommit(Array("t".utf8), [(a, Array("1".utf8))], at: 8) == before + 2)
        #expect(text(mirror.changes(since: before)) == ["a", "b", "c", "d"])
        #expect(text(mirror.changes(since: before + 1)) == ["a", "b", "d"])
        #expect(text(mirror.changes(since: before + 2)) == ["b", "d"])
    }

    @Test func aCommitThatTheWriterGaveUpCountsAsOneByOthers() {
        var mirror = mirror()
        mirror.beginCommit(Array("t".utf8))
        #expect(mirror.endCommit(Array("t".utf8)) == nil)
        #expect(text(mirror.apply([event("v/a", "1", 5), event("rev", "t", 5)])) == ["a"])
        mirror.beginCommit(Array("u".utf8))
        _ = mirror.apply([event("v/a", "2", 6), event("rev", "u", 6)])
        #expect(mirror.endCommit(Array("t".utf8)) == nil, "another commit is under way")
        #expect(mirror.endCommit(Array("u".utf8)) == mirror.generation, "the watch knows that it is stored")
    }

    /// Both commits were acknowledged before the watch delivers the first.
    @Test func whatThisProcessHasRemovedDoesNotComeBack() {
        var mirror = mirror()
        for (json, revision) in [(Array("7".utf8), 5), (nil, 6)] as [([UInt8]?, Int64)] {
            mirror.beginCommit(Array("t".utf8))
            _ = mirror.endCommit(Array("t".utf8), [(a, json)], at: revision)
        }
        #expect(mirror.apply([event("v/a", "7", 5), event("rev", "t", 5)]).isEmpty)
        #expect(values(mirror).isEmpty)
        _ = mirror.apply([event("v/a", nil, 6), event("rev", "t", 6)])
        #expect(text(mirror.apply([event("v/a", "8", 7)])) == ["a"])
        #expect(values(mirror) == ["a=8"])
    }

    @Test func anOwnCommitThatWasReadWithAllHasNoGeneration() {
        var mirror = mirror(event("v/a", "1", 5))
        mirror.beginCommit(Array("t".utf8))
        let all = [pair("v/a", "2", 6), pair("rev", "t", 6), pair("v/b", "1", 7)]
        #expect(text(mirror.replace(with: all, at: 7)) == ["a", "b"])
        let generation = mirror.generation
        #expect(mirror.endCommit(Array("t".utf8), [(a, Array("2".utf8))], at: 6) == nil)
        #expect(mirror.apply([event("v/a", "2", 6), event("rev", "t", 6)]).isEmpty)
        #expect(mirror.generation == generation)
    }

    @Test func readingAllNeverGoesBackButToABackup() {
        var mirror = mirror(event("v/a", "1", 5))
        mirror.beginCommit(Array("t".utf8))
        _ = mirror.endCommit(Array("t".utf8), [(a, Array("2".utf8))], at: 9)
        #expect(mirror.replace(with: [pair("v/a", "1", 5)], at: 8).isEmpty, "asked before the commit")
        #expect(values(mirror) == ["a=2"])
        mirror.beginCommit(Array("u".utf8))
        #expect(text(mirror.replace(with: [pair("v/a", "1", 3)], at: 4, isRestored: true)) == ["a"])
        #expect(mirror.endCommit(Array("u".utf8), [(a, Array("3".utf8))], at: 11) == nil, "the backup does not have it")
        #expect(values(mirror) == ["a=1"])
        #expect(compared(mirror, a) == ["0", "3"])
    }

    @Test func readingAllReportsOnlyRealDifferences() {
        var mirror = mirror(event("v/a", "1", 2), event("v/b", "1", 3), event("v/c", "1", 4))
        let all = [pair("v/a", "1", 9), pair("v/b", "2", 8), pair("v/d", "1", 9)]
        #expect(text(mirror.replace(with: all, at: 9)) == ["b", "c", "d"])
        #expect(mirror.revision == 9)
    }

    @Test func aLongHistoryIsForgotten() {
        var mirror = mirror()
        for number in 1...1_200 { _ = mirror.apply([event("v/a", "\(number)", Int64(number))]) }
        #expect(mirror.changes(since: 2) == nil)
        #expect(text(mirror.changes(since: mirror.generation - 5)) == ["a"])
        mirror.beginGeneration(nil)
        #expect(mirror.changes(since: mirror.generation - 5) == nil, "reading began to fail")
        #expect(compared(mirror, a, over: mirror.generation - 1) == nil)
    }
}
