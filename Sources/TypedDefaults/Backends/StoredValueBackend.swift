import SettingsFile

/// A backend in memory or in a settings file, which takes and returns values in the suite's own
/// form: as bytes or as a tree. No other writer commits to it between `beginWrite` and `endWrite`.
// It exists only for speed: with ``DefaultsBackend/commit(_:)``, each `set` would decode and encode
// the value again.
package protocol StoredValueBackend: DefaultsBackend {
    /// Returns the stored value, in the form that takes the least work.
    func storedValue(forKey key: String) throws(DefaultsError) -> StoredValue?

    /// Does the same as ``DefaultsBackend/commit(_:)``, with values in either form.
    func commit(_ edits: [Edit]) throws(DefaultsError)
}

extension StoredValueBackend {
    package func commit(_ commit: BackendCommit) throws(DefaultsError) -> BackendCommit.Outcome {
        let generation = generation
        try self.commit(commit.edits.map { Edit($0.key, tree: $0.value) })
        return .committed(generation: generation)
    }
}
