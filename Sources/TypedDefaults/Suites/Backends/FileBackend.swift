package import SettingsFile

/// Stores property lists in a settings file. ``SettingsFile`` stores the bytes.
package final class FileBackend: SystemBackend {
    package let location: String?
    let file: SettingsFile
    package let synchronizationDelay: Duration?

    /// - Parameter path: An absolute path. Missing folders are created, accessible to the user
    ///   only.
    package convenience init(path: String, durability: DefaultsSuite.Durability = .process) {
        self.init(SettingsFile(path: path), location: path, durability: durability)
    }

    /// Creates a backend for a file in the user's own folder. Without a path, every call throws.
    convenience init(namedPath path: String?) {
        self.init(SettingsFile(namedPath: path), location: path, durability: .process)
    }

    init(
        _ file: SettingsFile, location: String?, durability: DefaultsSuite.Durability,
        flushDelay: Duration = .milliseconds(300)
    ) {
        (self.file, self.location) = (file, location)
        synchronizationDelay = durability == .immediate ? .zero : flushDelay
    }

    package func value(forKey key: String) throws(DefaultsError) -> PropertyList? {
        try bytes(forKey: key).map { bytes throws(DefaultsError) in try tree(of: bytes, forKey: key) }
    }

    package func storedValue(forKey key: String) throws(DefaultsError) -> StoredValue? {
        guard let bytes = try bytes(forKey: key) else { return nil }
        if bytes.withUnsafeBytes(ByteReader.isSearchable) { return .bytes(Array(bytes)) }
        return .tree(try tree(of: bytes, forKey: key))
    }

    private func bytes(forKey key: String) throws(DefaultsError) -> ArraySlice<UInt8>? {
        try translating { () throws(SettingsFileError) in try file.bytes(forKey: key) }
    }

    private func tree(of bytes: ArraySlice<UInt8>, forKey key: String) throws(DefaultsError) -> PropertyList {
        guard let value = bytes.withUnsafeBytes(ByteReader.wholeValue) else {
            throw DefaultsError(
                .unreadable, key: key, reason: "the stored bytes are not a value that this version can read")
        }
        return value
    }

    package func keys() throws(DefaultsError) -> [String] {
        try translating { () throws(SettingsFileError) in try file.keys() }
    }

    package var generation: UInt64? { file.generation }

    package func changes(since generation: UInt64) throws(DefaultsError) -> (keys: [String]?, generation: UInt64) {
        try translating { () throws(SettingsFileError) in try file.changes(since: generation) }
    }

    package func beginWrite() throws(DefaultsError) { _ = try beginWriteReturningGeneration(until: nil) }

    package func endWrite() { file.endWrite() }

    package func commit(_ edits: [(key: String, value: PropertyList?)]) throws(DefaultsError) {
        try commit(stored: edits.map { ($0.key, $0.value.map(StoredValue.tree)) })
    }

    package func commit(stored edits: [(key: String, value: StoredValue?)]) throws(DefaultsError) {
        guard !edits.isEmpty else { return }
        var record = RecordWriter()
        for (key, value) in edits {
            guard key.utf8.count <= SettingsFile.keyLimit else {
                throw DefaultsError(
                    .refused, key: key, reason: "a key is at most \(SettingsFile.keyLimit) bytes")
            }
            guard let value else {
                record.append(removalOf: key)
                continue
            }
            let length: Int
            switch value {
            case .bytes(let bytes):
                record.append(key, raw: bytes[...])
                length = bytes.count
            case .tree(let tree):
                guard let count = record.append(key, { $0.append(tree) }) else {
                    throw DefaultsError(
                        .refused, key: key, reason: "nested deeper than \(PropertyList.depthLimit) levels")
                }
                length = count
            }
            guard length <= SettingsFile.valueLimit else {
                throw DefaultsError(.refused, key: key, reason: "a value is at most 16 MiB")
            }
        }
        do throws(SettingsFileError) { try file.commit(&record) } catch { throw DefaultsError(error) }
    }

    package func synchronize() throws(DefaultsError) {
        try translating { () throws(SettingsFileError) in try file.synchronize() }
    }

    package func flushInBackground() throws(DefaultsError) {
        try translating { () throws(SettingsFileError) in try file.synchronize(isInBackground: true) }
    }

    package func attach(report: @escaping @Sendable (DefaultsError) -> Void) {
        file.attach { report(DefaultsError($0)) }
    }

    package func watch(_ onChange: (@Sendable (_ keys: [String]?) -> Void)?) {
        // The generation tells which keys changed. If all of them counted as changed, each change
        // of another process would make the suite read everything that is observed.
        guard let onChange else { return file.watch(nil) }
        file.watch { _ in onChange([]) }
    }

    private func translating<Result>(
        _ body: () throws(SettingsFileError) -> Result
    ) throws(DefaultsError) -> Result {
        do throws(SettingsFileError) { return try body() } catch { throw DefaultsError(error) }
    }
}

extension FileBackend: SettingsFileBackend {
    package func beginWriteReturningGeneration(until deadline: MonotonicTime?) throws(DefaultsError) -> UInt64? {
        try translating { () throws(SettingsFileError) in try file.beginWrite(until: deadline) }
    }

    package var isInPlace: Bool { file.isInPlace }

    package func copyRawValue(
        forKey key: String, to first: String, else second: String
    ) throws(DefaultsError) -> String {
        do throws(SettingsFileError) {
            return try file.copyValue(forKey: key, to: first, else: second)
        } catch {
            throw DefaultsError(error).about(key: key)
        }
    }
}

extension DefaultsError {
    init(_ error: SettingsFileError) {
        let kind: Kind =
            switch error.kind {
            case .unreadable: .unreadable
            case .unavailable: .unavailable
            case .refused: .refused
            case .timedOut: .timedOut
            }
        self.init(kind, reason: error.reason)
    }
}

extension FileBackend: CustomReflectable {
    /// Empty, so that `dump` shows no stored value.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
