import Testing
import TypedDefaults

@testable import TypedDefaultsEtcd

@Suite struct MirrorTests {
    let a = Array("a".utf8)

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

    @Test func whatAReadOfEverythingShowsIsComparedToo() {
        var mirror = mirror(event("v/a", "1", 5), event("rev", "x", 5))
        let begin = mirror.generation
        #expect(mirror.replace(with: [pair("v/a", "1", 5), pair("rev", "y", 6)], at: 9).isEmpty)
        #expect(compared(mirror, a, over: begin) == nil)
        #expect(compared(mirror, a) == ["6", "5"])
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
