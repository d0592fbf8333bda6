import TestSupport
import TypedDefaults
import TypedDefaultsTesting

/// A machine that breaks one law of storage that lags and keeps all others. It receives the changes
/// of the other machines each millisecond.
final class WrongLaggingBackend: BackendDecorator {
    private struct State {
        var reads = 0
        /// The generation when the current write began.
        var begin: UInt64?
        var isDeaf = false
        var value: PropertyList?
        var hasLost = false
    }

    private let law: BackendLaw?
    private let lagging: LaggingBackend
    private let news: Task<Void, Never>
    private let state = Guarded(State())
    var base: any DefaultsBackend { lagging }

    /// - Parameter law: The law that the backend breaks; `nil` for none.
    convenience init(breaking law: BackendLaw?) { self.init(law, LaggingBackend()) }

    private init(_ law: BackendLaw?, _ lagging: LaggingBackend) {
        (self.law, self.lagging) = (law, lagging)
        news = Task.detached { [state] in
            while !Task.isCancelled {
                if state.withLock({ !$0.isDeaf }) { lagging.catchUp() }
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
    }

    deinit { news.cancel() }

    /// Returns another machine, with the same fault.
    func peer() -> WrongLaggingBackend { WrongLaggingBackend(law, lagging.peer()) }

    func value(forKey key: String) -> PropertyList? {
        let value = lagging.value(forKey: key)
        return state.withLock { state in
            switch (law, key) {
            // It reads only what it has written itself.
            case (.machinesConverge?, "last"): return state.value
            // Each third read returns the initial state, in which the value is missing.
            case (.readsNeverGoBack?, "second"):
                state.reads += 1
                return state.reads % 3 == 0 ? nil : value
            // A read returns what was stored before this machine wrote it.
            case (.aMachineReadsItsOwnCommit?, "own") where state.hasLost: return state.value
            // A read returns the value that the previous read found.
            case (.commitsAreSeenInTheirOrder?, "first"): return exchange(&state.value, with: value)
            default: return value
            }
        }
    }

    /// The fault of an equal write shows while no changes of the other machine arrive.
    func write(_ body: () throws(DefaultsError) -> Void) throws(DefaultsError) {
        state.withLock { ($0.isDeaf, $0.begin) = (law == .anEqualWriteIsNotBlind, lagging.generation) }
        defer { state.withLock { $0.isDeaf = false } }
        try body()
    }

    /// None if reads are wrong, so that each read of a setting reads the backend.
    var generation: UInt64? {
        law == .readsNeverGoBack || law == .commitsAreSeenInTheirOrder ? nil : lagging.generation
    }

    func commit(_ edits: BackendEdits, over generation: UInt64?) throws(DefaultsError) -> CommitOutcome {
        var generation = generation ?? state.withLock { $0.begin }
        switch law {
        case .updatesAreStoredOnce? where !edits.isEmpty:
            // As if nothing had changed since the write began.
            lagging.catchUp()
            generation = lagging.generation
        case .anEqualWriteIsNotBlind? where edits.isEmpty: return .committed(generation: generation)
        case .aMachineReadsItsOwnCommit? where edits.contains { $0.key == "own" }:
            let old = lagging.value(forKey: "own")
            state.withLock { ($0.value, $0.hasLost) = (old, true) }
        default: break
        }
        let outcome = lagging.commit(edits, over: generation)
        if law == .machinesConverge, let last = edits.first(where: { $0.key == "last" }) {
            state.withLock { $0.value = last.value }
        }
        return outcome
    }
}
