package import TypedDefaults

/// A backend in memory that records its calls, can be made to fail, and can be changed without the
/// suite.
package final class SpyBackend: DefaultsBackend {
    package struct State {
        package var contents: [String: PropertyList] = [:]
        package var commits: [[String: PropertyList?]] = []
        package var reads = 0
        package var synchronizations = 0
        package var onSynchronize: (@Sendable () -> Void)?
        package var failure: DefaultsError?
        package var changes: [(generation: UInt64, key: String)] = []
        package var generation: UInt64 = 1
        package var handler: (@Sendable (BackendEvent) -> Void)?
        package var isWatched = false
        /// How often each key was followed, less how often that ended.
        package var followed: [String: Int] = [:]
        /// Called before a call returns its result to the suite, before a commit takes effect, and
        /// after that.
        package var interruption: (@Sendable (Call) -> Void)?
    }
    package enum Call { case value, commit, committed, changes }
    package let state: Guarded<State>
    package let traits: BackendTraits
    private let hasGenerations: Bool

    package init(
        _ contents: [String: PropertyList] = [:], hasGenerations: Bool = true, synchronizationDelay: Duration? = nil
    ) {
        state = Guarded(State(contents: contents))
        traits = BackendTraits(
            location: "\(ObjectIdentifier(state))", synchronizationDelay: synchronizationDelay)
        self.hasGenerations = hasGenerations
    }

    package var commits: [[String: PropertyList?]] { state.withLock { $0.commits } }
    package var reads: Int { state.withLock { $0.reads } }
    package var contents: [String: PropertyList] { state.withLock { $0.contents } }

    package func fail(with failure: DefaultsError?) { state.withLock { $0.failure = failure } }

    /// Lets other threads come between the suite and its backend.
    package func interrupt(_ body: (@Sendable (Call) -> Void)?) { state.withLock { $0.interruption = body } }

    private func interrupted(_ call: Call) { state.withLock { $0.interruption }?(call) }

    /// Changes a value as another process would.
    package func write(_ value: PropertyList?, forKey key: String) {
        state.withLock { state in
            state.contents[key] = value
            state.generation += 1
            state.changes.append((state.generation, key))
        }
        state.withLock { $0.handler }?(.changed(keys: [key]))
    }

    package func value(forKey key: String) throws(DefaultsError) -> PropertyList? {
        let (value, failure) = state.withLock { state in
            state.reads += 1
            return (state.contents[key], state.failure)
        }
        interrupted(.value)
        if let failure { throw failure }
        return value
    }

    package func keys() throws(DefaultsError) -> [String] {
        if let failure = state.withLock({ $0.failure }) { throw failure }
        return state.withLock { Array($0.contents.keys) }
    }

    package func commit(_ edits: BackendEdits, over generation: UInt64?) throws(DefaultsError) -> CommitOutcome {
        if let failure = state.withLock({ $0.failure }) { throw failure }
        interrupted(.commit)
        let generation = state.withLock { state in
            state.generation += 1
            for edit in edits {
                state.contents[edit.key] = edit.value
                state.changes.append((state.generation, edit.key))
            }
            state.commits.append(Dictionary(uniqueKeysWithValues: edits.map { ($0.key, $0.value) }))
            return state.generation
        }
        interrupted(.committed)
        return .committed(generation: hasGenerations ? generation : nil)
    }

    package var generation: UInt64? { hasGenerations ? state.withLock { $0.generation } : nil }

    package func changes(since generation: UInt64) -> (keys: [String]?, generation: UInt64) {
        let changes = state.withLock { state in
            (state.changes.filter { $0.generation > generation }.map(\.key), state.generation)
        }
        interrupted(.changes)
        return changes
    }

    package func synchronize() throws(DefaultsError) {
        let (failure, onSynchronize) = state.withLock { state in
            state.synchronizations += 1
            return (state.failure, state.onSynchronize)
        }
        onSynchronize?()
        if let failure { throw failure }
    }

    package var isWatched: Bool { state.withLock { $0.isWatched } }

    package func watch(_ subject: WatchedSubject, _ handler: (@Sendable (BackendEvent) -> Void)?) -> Bool {
        state.withLock { state in
            switch subject {
            case .failures: state.handler = handler
            case .changes: state.isWatched = handler != nil
            case .key(let key): state.followed[key, default: 0] += handler != nil ? 1 : -1
            }
        }
        return false
    }
}
