import Testing
import TypedDefaults

@testable import TypedDefaultsEtcd

@Suite struct MirrorTests {
    let names = Names(prefix: "p/", writer: "me")

    func event(_ key: String, _ value: String?, _ revision: Int64) -> EtcdMirror.Event {
        EtcdMirror.Event(name: Array("p/\(key)".utf8), value: value.map { Array($0.utf8) }, revision: revision)
    }
    func text(_ keys: [[UInt8]]?) -> [String]? { keys?.map { String(decoding: $0, as: UTF8.self) }.sorted() }
    func mirror(_ events: EtcdMirror.Event...) -> EtcdMirror {
        var mirror = EtcdMirror(names: names)
        _ = mirror.apply(events)
        return mirror
    }
    func pair(_ key: String, _ value: String, _ revision: Int) -> KeyValue {
        KeyValue(key: base64("p/\(key)".utf8), value: base64(value.utf8), mod_revision: "\(revision)")
    }

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
    }

    @Test func theSameValueOnceMoreIsNoChange() {
        var mirror = mirror(event("v/a", "1", 5))
        let generation = mirror.generation
        #expect(mirror.apply([event("v/a", "1", 6)]).isEmpty)
        #expect(mirror.generation == generation)
        #expect(mirror.comparisons(edited: [Array("a".utf8)], reads: [])?.first?.mod_revision == "6")
    }

    @Test func aRemovedWriterKeyIsComparedWithZero() {
        var mirror = mirror(event("w/me", "id", 5))
        #expect(mirror.writerRevision == 5)
        _ = mirror.apply([event("w/me", nil, 6)])
        #expect(mirror.writerRevision == 0)
    }

    @Test func eventsThatWereSeenAreIgnored() {
        var mirror = mirror(event("v/a", "2", 6))
        #expect(mirror.apply([event("v/a", "1", 5), event("v/b", "1", 6)]).isEmpty)
        #expect(mirror.entries[Array("a".utf8)]?.json == Array("2".utf8))
    }

    @Test func anOwnCommitBeginsAGeneration() {
        var mirror = mirror()
        mirror.beginCommit(Array("id".utf8))
        #expect(mirror.apply([event("v/a", "1", 5), event("w/me", "id", 5)]).isEmpty, "it is not reported")
        #expect(mirror.generation == 2)
        #expect(text(mirror.changes(since: 1)) == ["a"])
        #expect(mirror.writerRevision == 5)
        #expect(mirror.endCommit(Array("id".utf8)) == 2)
        // Another commit with the same number cannot be its own once more.
        #expect(text(mirror.apply([event("v/a", "2", 6), event("w/me", "id", 6)])) == ["a"])
    }

    @Test func aCommitThatTheWriterGaveUpCountsAsOneByOthers() {
        var mirror = mirror()
        mirror.beginCommit(Array("id".utf8))
        #expect(mirror.endCommit(Array("id".utf8)) == nil)
        #expect(text(mirror.apply([event("v/a", "1", 5), event("w/me", "id", 5)])) == ["a"])
        #expect(mirror.endCommit(Array("id".utf8)) == nil)
    }

    @Test func whatOthersChangeBesideAnOwnCommitBeginsOtherGenerations() {
        var mirror = mirror(event("v/a", "1", 5))
        let before = mirror.generation
        mirror.beginCommit(Array("id".utf8))
        let events = [
            event("v/b", "1", 6), event("v/c", "1", 7), event("v/a", "2", 8), event("w/me", "id", 8),
            event("v/b", "2", 9), event("v/d", "1", 10),
        ]
        #expect(text(mirror.apply(events)) == ["b", "b", "c", "d"])
        #expect(mirror.generation == before + 3)
        #expect(mirror.endCommit(Array("id".utf8)) == before + 2)
        #expect(text(mirror.changes(since: before)) == ["a", "b", "c", "d"])
        #expect(text(mirror.changes(since: before + 1)) == ["a", "b", "d"])
        #expect(text(mirror.changes(since: before + 2)) == ["b", "d"])
    }

    /// The suite counts on a generation for each commit, whatever it stores.
    @Test func anOwnCommitOfTheSameValuesBeginsAGeneration() {
        var mirror = mirror(event("v/a", "1", 5))
        let (a, before) = (Array("a".utf8), mirror.generation)
        mirror.beginCommit(Array("1".utf8))
        #expect(mirror.apply([event("v/a", "1", 6), event("w/me", "1", 6)]).isEmpty)
        #expect(mirror.endCommit(Array("1".utf8)) == before + 1)
        mirror.beginCommit(Array("2".utf8))
        mirror.overlay([(a, Array("1".utf8))], of: Array("2".utf8), at: 7)
        #expect(mirror.endCommit(Array("2".utf8)) == before + 2)
        #expect(text(mirror.changes(since: before + 1)) == ["a"])
        #expect(mirror.generation == before + 2)
    }

    @Test func anAcknowledgedCommitBeginsOneGeneration() {
        var mirror = mirror(event("v/a", "1", 5))
        let before = mirror.generation
        mirror.beginCommit(Array("id".utf8))
        #expect(text(mirror.apply([event("v/b", "1", 6)])) == ["b"])
        mirror.overlay([(Array("a".utf8), Array("2".utf8))], of: Array("id".utf8), at: 9)
        #expect(mirror.endCommit(Array("id".utf8)) == before + 2)
        // Its event is no change, and the next commit in the same batch begins a generation.
        mirror.beginCommit(Array("next".utf8))
        let events = [
            event("v/a", "7", 8), event("v/a", "2", 9), event("w/me", "id", 9), event("v/a", "3", 10),
            event("w/me", "next", 10),
        ]
        #expect(mirror.apply(events).isEmpty)
        #expect(mirror.endCommit(Array("next".utf8)) == before + 3)
        #expect(mirror.generation == before + 3)
    }

    @Test func anOwnCommitThatWasReadWithAllHasNoGeneration() {
        var mirror = mirror(event("v/a", "1", 5))
        let before = mirror.generation
        mirror.beginCommit(Array("id".utf8))
        #expect(text(mirror.replace(with: [pair("v/a", "2", 6), pair("v/b", "1", 7)], at: 7)) == ["a", "b"])
        mirror.overlay([(Array("a".utf8), Array("2".utf8))], of: Array("id".utf8), at: 6)
        #expect(mirror.endCommit(Array("id".utf8)) == nil)
        #expect(mirror.generation == before + 1)
        // Its event comes late.
        #expect(mirror.apply([event("v/a", "2", 6), event("w/me", "id", 6)]).isEmpty)
        #expect(mirror.generation == before + 1)
    }

    @Test func anAcknowledgedCommitIsReadUntilItsEventComes() {
        var mirror = mirror(event("v/a", "1", 5), event("v/b", "1", 5))
        func values() -> [String] {
            mirror.keys.map { String(decoding: $0 + "=".utf8 + mirror[$0]!.json, as: UTF8.self) }.sorted()
        }
        let (a, b) = (Array("a".utf8), Array("b".utf8))
        mirror.beginCommit(Array("id".utf8))
        mirror.overlay([(a, Array("2".utf8)), (b, nil)], of: Array("id".utf8), at: 9)
        mirror.endCommit(Array("id".utf8))
        #expect(values() == ["a=2"])
        #expect(text(mirror.changes(since: 1)) == ["a", "b"])
        #expect(mirror.comparisons(edited: [a], reads: [b])?.map(\.mod_revision) == ["9", "0"])
        let generation = mirror.generation
        // What others have changed before that is hidden, and what they have changed elsewhere not.
        #expect(text(mirror.apply([event("v/b", "7", 7), event("v/c", "1", 8)])) == ["c"])
        #expect(values() == ["a=2", "c=1"])
        #expect(mirror.apply([event("v/a", "2", 9), event("v/b", nil, 9), event("w/me", "id", 9)]).isEmpty)
        #expect(values() == ["a=2", "c=1"])
        #expect(text(mirror.changes(since: generation)) == ["c"])
        #expect(text(mirror.apply([event("v/a", "3", 10)])) == ["a"])
        #expect(values() == ["a=3", "c=1"])
        // Nothing to hide.
        mirror.overlay([(a, Array("2".utf8))], of: Array("id".utf8), at: 9)
        #expect(values() == ["a=3", "c=1"])
    }

    @Test func readingAllEndsWhatLiesOverTheValues() {
        var mirror = mirror(event("v/a", "1", 5))
        let edits = ["a", "b"].map { (key: Array($0.utf8), json: Array("2".utf8) as [UInt8]?) }
        mirror.beginCommit(Array("id".utf8))
        mirror.overlay(edits, of: Array("id".utf8), at: 9)
        mirror.beginWrite()
        #expect(text(mirror.replace(with: [pair("v/a", "2", 9)], at: 10)) == ["b"])
        #expect(mirror.comparisons(edited: [Array("a".utf8)], reads: []) != nil, "it was known")
        mirror.overlay([(Array("a".utf8), Array("3".utf8))], of: Array("id".utf8), at: 11)
        #expect(text(mirror.replace(with: [pair("v/a", "1", 5)], at: 6, isRestored: true)) == ["a"])
        #expect(mirror[Array("a".utf8)]?.json == Array("1".utf8))
        // The commit waited for its event when the cluster was restored.
        mirror.overlay([(Array("a".utf8), Array("3".utf8))], of: Array("id".utf8), at: 11)
        #expect(mirror[Array("a".utf8)]?.json == Array("1".utf8))
    }

    @Test func anEarlierEventDoesNotChangeTheRevisionOfTheWriter() {
        var mirror = mirror()
        mirror.writerRevision = 9
        _ = mirror.apply([event("w/me", "id", 7)])
        #expect(mirror.writerRevision == 9)
    }

    @Test func readingAllReportsOnlyRealDifferences() {
        var mirror = mirror(event("v/a", "1", 2), event("v/b", "1", 3), event("v/c", "1", 4))
        let all = [pair("v/a", "1", 9), pair("v/b", "2", 8), pair("v/d", "1", 9)]
        #expect(text(mirror.replace(with: all, at: 9)) == ["b", "c", "d"])
        #expect(mirror.replace(with: [], at: 8).isEmpty, "an older answer")
        #expect(mirror.revision == 9)
        #expect(text(mirror.replace(with: [pair("v/a", "0", 3)], at: 4, isRestored: true)) == ["a", "b", "d"])
        #expect(mirror.revision == 4)
    }

    @Test func anUnwrittenKeyIsComparedWithZero() {
        let mirror = mirror(event("v/a", "1", 5))
        let comparisons = mirror.comparisons(edited: [Array("b".utf8)], reads: [Array("a".utf8)])
        #expect(comparisons?.map(\.mod_revision) == ["0", "5"])
        #expect(comparisons?.allSatisfy { $0.result == "EQUAL" } == true)
    }

    @Test func whatChangedInTheWriteIsFoundWithoutACall() {
        var mirror = mirror(event("v/a", "1", 5))
        mirror.beginWrite()
        _ = mirror.apply([event("v/b", "1", 6)])
        #expect(mirror.comparisons(edited: [Array("a".utf8)], reads: []) != nil)
        #expect(mirror.comparisons(edited: [Array("b".utf8)], reads: []) == nil)
        #expect(mirror.comparisons(edited: [], reads: nil) == nil)
        _ = mirror.replace(with: [pair("v/b", "1", 6)], at: 7)
        #expect(mirror.comparisons(edited: [Array("a".utf8)], reads: []) == nil, "it was removed")
    }

    @Test func moreKeysThanATransactionComparesAreComparedAsARange() {
        var mirror = mirror()
        let events = (0..<200).map { event("v/\($0)", "1", Int64($0 + 1)) }
        _ = mirror.apply(events)
        let few = (0..<126).map { Array("\($0)".utf8) }
        let many = (0..<199).map { Array("\($0)".utf8) }
        #expect(mirror.comparisons(edited: [Array("199".utf8)], reads: few)?.count == 127)
        #expect(mirror.comparisons(edited: [Array("199".utf8)], reads: few)?.last?.range_end == nil)
        let comparisons = mirror.comparisons(edited: [Array("199".utf8)], reads: many)
        #expect(comparisons?.count == 127)
        #expect(comparisons?.first?.key == base64("p/v/199".utf8))
        #expect(comparisons?.last?.result == "LESS")
        #expect(comparisons?.last?.mod_revision == "201")
        #expect(comparisons?.last?.range_end == base64("p/x".utf8))
        #expect(mirror.comparisons(edited: [], reads: nil)?.last?.result == "LESS")
    }

    @Test func aLongHistoryIsForgotten() {
        var mirror = mirror()
        for number in 1...1_200 { _ = mirror.apply([event("v/a", "\(number)", Int64(number))]) }
        #expect(mirror.changes(since: 2) == nil)
        #expect(text(mirror.changes(since: mirror.generation - 5)) == ["a"])
        mirror.beginGeneration(nil)
        #expect(mirror.changes(since: mirror.generation - 5) == nil, "reading began to fail")
    }
}
