import Dispatch
import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

/// Tests what other threads find while a commit is under way.
struct CommitsUnderWayTests {
    /// A backend whose generation changes before it shows a commit, as with a settings file.
    private final class LateBackend: DefaultsBackend {
        private struct State {
            var values: [String: PropertyList] = ["a": 1, "b": 1, "stored": 5]
            var generation: UInt64 = 1
            var mayHaveChanged = false
        }
        private let state = Guarded(State())
        private let committing = NSLock()
        let hasBegun = DispatchSemaphore(value: 0)
        private let wasRead = DispatchSemaphore(value: 0)
        private let isShown = DispatchSemaphore(value: 0)
        /// The number of reads that the commit waits for, unless they wait for the commit.
        private let reads: Int
        private let hasGenerations: Bool
        init(reads: Int, hasGenerations: Bool) { (self.reads, self.hasGenerations) = (reads, hasGenerations) }

        /// The last of the reads returns after the commit.
        func value(forKey key: String) -> PropertyList? {
            let value = state.withLock { $0.values[key] }
            wasRead.signal()
            if reads == 1 { _ = isShown.wait(timeout: .now() + 0.1) }
            return value
        }
        func keys() -> [String] { state.withLock { Array($0.values.keys) } }
        func commit(_ edits: BackendEdits, over _: UInt64?) -> CommitOutcome {
            committing.withLock {
                state.withLock { $0.mayHaveChanged = true }
                while wasRead.wait(timeout: .now()) == .success {}
                hasBegun.signal()
                let deadline = DispatchTime.now() + 0.3
                for _ in 0..<reads { _ = wasRead.wait(timeout: deadline) }
                state.withLock { state in
                    for edit in edits { state.values[edit.key] = edit.value }
                    (state.generation, state.mayHaveChanged) = (state.generation + 1, false)
                }
                isShown.signal()
                // Shown, but not returned: one more read.
                _ = wasRead.wait(timeout: deadline)
            }
            return .committed(generation: generation)
        }
        var generation: UInt64? {
            guard hasGenerations else { return nil }
            return state.withLock { $0.mayHaveChanged ? 1_000 + $0.generation : $0.generation }
        }
        func changes(since generation: UInt64) -> (keys: [String]?, generation: UInt64) {
            committing.withLock { (nil, state.withLock { $0.generation }) }
        }
    }
    private let a = DefaultKey("a", default: 0)
    private let b = DefaultKey("b", default: 0)

    /// Returns a suite whose values of both keys become 2.
    private func committingSuite(
        reads: Int, hasGenerations: Bool = true
    ) -> (suite: DefaultsSuite, ended: DispatchGroup) {
        let backend = LateBackend(reads: reads, hasGenerations: hasGenerations)
        let suite = DefaultsSuite(backend: backend)
        #expect(suite[a] == 1 && suite[b] == 1)
        let ended = onThread { [a, b] in
            try? suite.update { contents in (contents[a], contents[b]) = (2, 2) }
        }
        backend.hasBegun.wait()
        return (suite, ended)
    }

    @Test(.ownThreads, arguments: [true, false]) func severalKeysAreOfOneCommit(hasGenerations: Bool) throws {
        let (suite, ended) = committingSuite(reads: 1, hasGenerations: hasGenerations)
        let (a, b) = try suite.read(a, b)
        #expect(a == b)
        ended.wait()
    }

    @Test func anObserverBeginsWithWhatIsStored() {
        let (suite, ended) = committingSuite(reads: 1_000)
        let heard = Heard { note in
            suite.observe(DefaultKey("stored", default: 0), initial: true) { note($0.newValue) }
        }
        ended.wait()
        #expect(heard.all == [5])
    }

    /// Other code changes a value between the begin of a write and its commit.
    @Test(arguments: [true, false])
    func anObserverHearsNoEditWithoutWhatWasBeforeIt(namesGeneration: Bool) {
        let spy = SpyBackend(["a": 1, "b": 1])
        let backend: any DefaultsBackend = namesGeneration ? spy : NamelessBackend(base: spy)
        let suite = DefaultsSuite(backend: backend)
        let pairs = Heard { note in suite.observe(a, b) { a, b in note([a, b]) } }
        spy.interrupt { if case .commit = $0 { spy.write(2, forKey: "b") } }
        suite[a] = 2
        pairs.wait { !$0.isEmpty }
        #expect(pairs.all == [[2, 2]])
    }

    /// A backend that does not say which generation a commit began.
    private final class NamelessBackend: BackendDecorator {
        let base: any DefaultsBackend
        init(base: any DefaultsBackend) { self.base = base }
        func commit(_ edits: BackendEdits, over generation: UInt64?) throws(DefaultsError) -> CommitOutcome {
            _ = try base.commit(edits, over: generation)
            return .committed()
        }
    }

    /// Other processes change both keys in each commit; here, threads with a file of their own.
    @Test func observersOfSeveralKeysNeverHearHalfOfACommit() throws {
        try Backend.file.withSuite { [a, b] suite in
            let path = try #require(suite.location)
            try suite.update { ($0[a], $0[b]) = (0, 0) }
            let (torn, writers) = (Guarded<[String]>([]), Guarded(4))
            let tokens = [
                suite.observe(a, b) { a, b in if a != b { torn.withLock { $0.append("\(a) and \(b)") } } },
                suite.observeAll { change in
                    if change.keys != ["a", "b"] { torn.withLock { $0.append("\(change.keys)") } }
                },
            ]
            onThreads(5) { index in
                guard index < 4 else {
                    while writers.withLock({ $0 }) > 0 { _ = (suite[a], suite[b]) }
                    return
                }
                let other = DefaultsSuite(backend: FileBackend(path: path))
                for _ in 0..<1_000 {
                    #expect(throws: Never.self) {
                        try other.update { contents in
                            contents[a] += 1
                            contents[b] += 1
                        }
                    }
                }
                writers.withLock { $0 -= 1 }
            }
            suite.waitForHandlers()
            #expect(torn.withLock { $0 } == [])
            for token in tokens { token.cancel() }
        }
    }
}
