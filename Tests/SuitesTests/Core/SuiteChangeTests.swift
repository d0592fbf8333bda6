import Dispatch
import Foundation
import TestSupport
import Testing
import TypedDefaultsTesting

@testable import TypedDefaults

struct SuiteChangeTests {
    /// Sorted like the keys of contents. `<` compares composed characters.
    @Test func keysAreSortedByTheirBytes() throws {
        let suite = DefaultsSuite.inMemory()
        let changes = Heard { note in suite.observeAll { note($0.keys) } }
        try suite.update { ($0["f"], $0["e\u{301}"]) = (1, 2) }
        let sorted = try suite.contents().keys
        #expect(sorted.map { Array($0.utf8) } == [Array("e\u{301}".utf8), Array("f".utf8)])
        #expect(try suite.keys().map { Array($0.utf8) } == sorted.map { Array($0.utf8) })
        #expect(changes.all.map { $0.map { Array($0.utf8) } } == [sorted.map { Array($0.utf8) }])
    }

    @Test(arguments: [
        (ChangeOrigin.local, ChangeOrigin.local, ChangeOrigin.local), (.local, .external, .external),
        (.external, .local, .external), (.external, .external, .external),
    ])
    func changesThatAreCombinedAreExternalIfOneIs(first: ChangeOrigin, second: ChangeOrigin, both: ChangeOrigin) {
        let one = SuiteChange(keys: ["b", "a"], origin: first).merged(
            with: SuiteChange(keys: ["c", "a"], origin: second))
        #expect(one == SuiteChange(keys: ["a", "b", "c"], origin: both))
        let change = DefaultChange(oldValue: 1, newValue: 2, kind: .set, origin: first)
            .merged(with: DefaultChange(oldValue: 2, newValue: nil, kind: .removed, origin: second))
        #expect(change.origin == both)
        #expect(change.oldValue == 1 && change.newValue == nil && change.kind == .removed)
    }

    private let name = DefaultKey("name", default: "")
    private let count = DefaultKey("count", default: 0)

    private func record(
        _ suite: DefaultsSuite, prefix: String = ""
    ) -> (received: Guarded<[SuiteChange]>, token: ObservationToken) {
        let received = Guarded<[SuiteChange]>([])
        let note: @Sendable (SuiteChange) -> Void = { change in received.withLock { $0.append(change) } }
        return (received, suite.observeAll(prefix: prefix, note))
    }

    @Test func onlyKeysWithThePrefixAreReported() throws {
        let backend = SpyBackend()
        let suite = DefaultsSuite(backend: backend)
        suite[DefaultKey("app.used", default: 0)] = 1
        let (prefixed, first) = record(suite, prefix: "app.")
        let (all, second) = record(suite)
        backend.write(1, forKey: "app.unused")
        backend.write(2, forKey: "app.used")
        backend.write(1, forKey: "elsewhere")
        suite[count] = 5
        suite.remove(["elsewhere", "app.used", "missing"])
        suite.waitForHandlers()
        #expect(prefixed.withLock { $0.map(\.keys) } == [["app.unused"], ["app.used"], ["app.used"]])
        #expect(prefixed.withLock { $0.map(\.origin) } == [.external, .external, .local])
        #expect(
            all.withLock { $0.map(\.keys) } == [
                ["app.unused"], ["app.used"], ["elsewhere"], ["count"], ["app.used", "elsewhere"],
            ])
        for token in [first, second] { token.cancel() }
        #expect(!backend.isWatched)
    }

    /// The suite reads a commit of another process key by key, and must not report part of it while
    /// the next one is written.
    @Test(.ownFile) func anExternalCommitIsOneEvent() throws {
        let file = URL(filePath: ownFile)
        let suite = try DefaultsSuite(file: file)
        let other = DefaultsSuite(backend: FileBackend(path: file.path))
        let keys = (0..<20).map { "key\($0)" }
        for key in keys { other[DefaultKey(key, default: 0)] = 1 }
        let received = Guarded<[SuiteChange]>([])
        let didChange = DispatchSemaphore(value: 0)
        let token = suite.observeAll(prefix: "") { change in
            received.withLock { $0.append(change) }
            didChange.signal()
        }
        try other.removeAll()
        #expect(didChange.wait(timeout: .now() + 10) == .success)
        let backend = FileBackend(path: file.path)
        for round in 2...50 {
            try backend.write(keys.map { ($0, .integer(.init(round))) })
            #expect(didChange.wait(timeout: .now() + 10) == .success)
        }
        #expect(received.withLock { $0 }.count == 50)
        #expect(received.withLock { $0 }.allSatisfy { $0.keys == keys.sorted() && $0.origin == .external })
        token.cancel()
    }

    @Test func aSlowConsumerLosesNoKey() async throws {
        let suite = DefaultsSuite.inMemory()
        var changes = suite.allChanges(prefix: "").makeAsyncIterator()
        suite[name] = "kai"
        suite[count] = 1
        suite[count] = 2
        #expect(await changes.next()?.keys == ["count", "name"])
        suite[count] = 3
        #expect(await changes.next()?.keys == ["count"])
    }
}
