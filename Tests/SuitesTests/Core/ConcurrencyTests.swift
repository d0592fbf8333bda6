import Foundation
import TestSupport
import Testing
import TypedDefaults

/// Runs under ThreadSanitizer with `.ci/thread-sanitizer`.
struct ConcurrencyTests {
    /// While a commit runs, a cached value may be older than one that the backend already has.
    @Test(arguments: [true, false]) func readersAskTheBackendDuringACommit(isKnown: Bool) throws {
        let backend = SpyBackend()
        let suite = DefaultsSuite(backend: backend)
        let keys = (DefaultKey("a", default: 0), DefaultKey("b", default: 0))
        if isKnown { #expect((suite[keys.0], suite[keys.1]) == (0, 0)) }
        let seen = Guarded<[Int]>([])
        backend.interrupt { call in
            if call == .commit { #expect((suite[keys.0], suite[keys.1]) == (0, 0)) }
            if call == .committed { seen.withLock { $0 = [suite[keys.0], suite[keys.1]] } }
        }
        try suite.update { contents in (contents[keys.0], contents[keys.1]) = (1, 2) }
        #expect(seen.withLock { $0 } == [1, 2])
        backend.interrupt(nil)
        #expect((suite[keys.0], suite[keys.1]) == (1, 2))
    }

    private final class Racy: @unchecked Sendable { var number = 0 }

    /// The control of that script: if this race is not reported, missing reports mean nothing.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["TYPED_DEFAULTS_PLANTED_RACE"] != nil))
    func aPlantedRaceIsCaught() {
        let racy = Racy()
        onThreads(2) { _ in
            for _ in 0..<3_000_000 { racy.number += 1 }
        }
        #expect(racy.number > 0)
    }
}
