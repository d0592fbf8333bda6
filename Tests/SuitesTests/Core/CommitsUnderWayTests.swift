import TestSupport
import Testing
import TypedDefaults

/// Tests what observers receive of a commit during which other code writes.
struct CommitsUnderWayTests {
    private let a = DefaultKey("a", default: 0)
    private let b = DefaultKey("b", default: 0)

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
}
