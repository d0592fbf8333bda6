import SettingsFile

/// Stores settings in memory, for tests, previews, and settings that should not be saved.
package final class MemoryBackend: StoredValueBackend {
    private let contents: Locked<[ByteString: StoredValue]>

    /// Creates a backend with the given values.
    package init(_ contents: some Sequence<(key: String, value: PropertyList)> = [String: PropertyList]()) {
        self.contents = Locked(
            Dictionary(uniqueKeysWithValues: contents.map { (ByteString($0.key), .tree($0.value)) }))
    }

    package func value(forKey key: String) -> PropertyList? { storedValue(forKey: key)?.tree }

    package func storedValue(forKey key: String) -> StoredValue? { contents.withLock { $0[ByteString(key)] } }

    package func keys() -> [String] { contents.withLock { $0.keys.map(\.string) } }

    package func commit(_ edits: [Edit]) throws(DefaultsError) {
        for edit in edits { try edit.checkKey() }
        // Released after unlocking: freeing `Data` may call a deallocator of the program. Usually
        // there is only one value, which needs no array.
        var released: (first: StoredValue?, others: [StoredValue]) = (nil, [])
        contents.withLock { contents in
            for edit in edits {
                let key = ByteString(edit.key)
                let old =
                    if let new = edit.value { contents.updateValue(new, forKey: key) } else {
                        contents.removeValue(forKey: key)
                    }
                guard let old, old.mayHoldData else { continue }
                if released.first == nil { released.first = old } else { released.others.append(old) }
            }
        }
        withExtendedLifetime(released) {}
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

extension StoredValue {
    fileprivate var mayHoldData: Bool {
        switch self {
        case .tree(.data), .tree(.array), .tree(.dictionary): true
        default: false
        }
    }
}
