import TestSupport
import TypedDefaults

/// A backend that stores the edits of a commit one by one, and can stop after some of them.
final class KeyByKeyBackend: DefaultsBackend {
    private let state: Guarded<(contents: [String: PropertyList], remaining: Int?)>
    private let unreadableKeys: Set<String>
    var traits: BackendTraits { BackendTraits(location: "\(ObjectIdentifier(state))") }

    /// - Parameter unreadableKeys: The keys under which unreadable values are stored.
    init(_ contents: [String: PropertyList], unreadableKeys: Set<String> = []) {
        (state, self.unreadableKeys) = (Guarded((contents, nil)), unreadableKeys)
    }

    /// Creates another object for the storage of the given one.
    init(of other: KeyByKeyBackend) { (state, unreadableKeys) = (other.state, other.unreadableKeys) }

    var contents: [String: PropertyList] { state.withLock { $0.contents } }
    func stop(after count: Int?) { state.withLock { $0.remaining = count } }

    func value(forKey key: String) throws(DefaultsError) -> PropertyList? {
        if unreadableKeys.contains(key) { throw DefaultsError(.unreadable, reason: "a newer version wrote it") }
        return state.withLock { $0.contents[key] }
    }
    func keys() -> [String] { state.withLock { Array($0.contents.keys) } + unreadableKeys }
    func commit(_ edits: BackendEdits, over generation: UInt64?) throws(DefaultsError) -> CommitOutcome {
        for edit in edits {
            let isStopped = state.withLock { state in
                if state.remaining == 0 { return true }
                state.remaining = state.remaining.map { $0 - 1 }
                state.contents[edit.key] = edit.value
                return false
            }
            if isStopped { throw DefaultsError(.unavailable, reason: "the process ended") }
        }
        return .committed()
    }
}
