import SettingsFile

/// Memory or a settings file, where values are taken and returned as the suite has them: as bytes
/// or as a tree. No other writer commits there between `beginWrite` and `endWrite`.
// For speed alone: with ``DefaultsBackend/commit(_:)`` each set would decode and encode again.
package protocol StoredValueBackend: DefaultsBackend {
    /// Returns the stored value, in the form that takes least work.
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
