import SettingsFile

/// Stores settings in memory, for tests, previews, and settings that should not be saved.
package final class MemoryBackend: DefaultsBackend {
    private let contents: Locked<[ByteString: PropertyList]>

    /// Creates a backend with the given values.
    package init(_ contents: some Sequence<(key: String, value: PropertyList)> = [String: PropertyList]()) {
        self.contents = Locked(Dictionary(uniqueKeysWithValues: contents.map { (ByteString($0.key), $0.value) }))
    }

    package func value(forKey key: String) -> PropertyList? { contents.withLock { $0[ByteString(key)] } }

    package func keys() -> [String] { contents.withLock { $0.keys.map(\.string) } }

    package func commit(_ commit: BackendCommit) throws(DefaultsError) -> BackendCommit.Outcome {
        for edit in commit.edits { try Edit(edit.key, edit.value).checkKey() }
        // Released after unlocking: data may have a deallocator of the program.
        let old = contents.withLock { contents in
            commit.edits.map { edit in
                defer { contents[ByteString(edit.key)] = edit.value }
                return contents[ByteString(edit.key)]
            }
        }
        withExtendedLifetime(old) {}
        return .committed(generation: 0)
    }

    /// Always 0, because no other code can change this memory.
    package var generation: UInt64? { 0 }

    package func changes(since generation: UInt64) -> (keys: [String]?, generation: UInt64) { ([], 0) }

    package func synchronize() {}
}

extension MemoryBackend: CustomReflectable {
    /// Empty, so that `dump` shows no stored value.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
