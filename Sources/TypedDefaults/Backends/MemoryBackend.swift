import SettingsFile

/// Stores settings in memory, for tests, previews, and settings that should not be saved.
package final class MemoryBackend: DefaultsBackend {
    private struct Contents {
        var values: [ByteString: PropertyList]
        /// The edits of the last commit.
        var last: [(key: String, value: PropertyList?)] = []
    }
    private let contents: Locked<Contents>
    /// The number of commits, plus 1. Changed only while the contents are locked. A `get` reads it,
    /// where a lock would take a sixth of the time.
    private let commits = SharedNumber(1)

    /// Creates a backend with the given values.
    package init(_ contents: some Sequence<(key: String, value: PropertyList)> = [String: PropertyList]()) {
        let values = Dictionary(uniqueKeysWithValues: contents.map { (ByteString($0.key), $0.value) })
        self.contents = Locked(Contents(values: values))
    }

    package func value(forKey key: String) -> PropertyList? { contents.withLock { $0.values[ByteString(key)] } }

    package func keys() -> [String] { contents.withLock { $0.values.keys.map(\.string) } }

    package func commit(_ edits: BackendEdits, over _: UInt64?) throws(DefaultsError) -> CommitOutcome {
        for edit in edits { try Edit(edit.key, edit.value).checkKey() }
        // Released after unlocking: data may have a deallocator of the program.
        let (old, generation) = contents.withLock { contents in
            commits.increment()
            contents.last = edits
            let old = edits.map { edit in
                defer { contents.values[ByteString(edit.key)] = edit.value }
                return contents.values[ByteString(edit.key)]
            }
            return (old, commits.value)
        }
        withExtendedLifetime(old) {}
        return .committed(generation: generation)
    }

    package var generation: UInt64? { commits.value }

    package func changes(since generation: UInt64) -> (keys: [String]?, generation: UInt64) {
        contents.withLock { contents in
            let last = commits.value
            return switch last &- generation {
            case 0: ([], last)
            case 1: (contents.last.map(\.key), last)
            default: (nil, last)
            }
        }
    }
}

extension MemoryBackend: CustomReflectable {
    /// Empty, so that `dump` shows no stored value.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
