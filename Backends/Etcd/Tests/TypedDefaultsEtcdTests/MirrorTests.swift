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
        #expect(mirror.apply([event("v/a", "1", 5), event("w/me", "id", 5)]).isEmpty)
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
        mirror.endCommit(Array("id".utf8))
        #expect(text(mirror.apply([event("v/a", "1", 5), event("w/me", "id", 5)])) == ["a"])
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
