import SettingsFile

/// Stores property lists in a settings file. ``SettingsFile`` stores the bytes.
package final class FileBackend: DefaultsBackend {
    let file: SettingsFile
    package let traits: BackendTraits

    /// - Parameters:
    ///   - path: An absolute path. Missing folders are created, accessible to the user only.
    ///   - flushDelay: How long after a commit the file is flushed; zero means immediately.
    package convenience init(path: String, flushDelay: Duration = .milliseconds(300)) {
        self.init(SettingsFile(path: path), location: path, flushDelay: flushDelay)
    }

    /// Creates a backend for a file in the user's own folder. Without a path, every call throws.
    convenience init(namedPath path: String?) {
        self.init(SettingsFile(namedPath: path), location: path)
    }

    init(
        _ file: SettingsFile, location: String?, flushDelay: Duration = .milliseconds(300),
        writeTimeout: Duration = .seconds(2)
    ) {
        self.file = file
        traits = BackendTraits(
            location: location, keyLimit: RecordFormat.keyLimit, writeTimeout: writeTimeout,
            synchronizationDelay: flushDelay)
    }

    package func value(forKey key: String) throws(DefaultsError) -> PropertyList? {
        try Self.value(of: storedBytes(forKey: key), key)
    }

    /// Returns the value of the generation that this process knows. Others may have stored another.
    func knownValue(forKey key: String) throws(DefaultsError) -> PropertyList? {
        try Self.value(of: file.knownBytes(forKey: key), key)
    }

    private static func value(of bytes: [UInt8]?, _ key: String) throws(DefaultsError) -> PropertyList? {
        guard let bytes else { return nil }
        guard let value = bytes.withUnsafeBytes(ByteReader.wholeValue) else { throw .unreadableBytes(key) }
        return value
    }

    /// Returns the stored bytes, even if they are not a value that this version can read.
    func storedBytes(forKey key: String) throws(DefaultsError) -> [UInt8]? {
        try translating { () throws(SettingsFileError) in try file.bytes(forKey: key) }
    }

    package func keys() throws(DefaultsError) -> [String] {
        try translating { () throws(SettingsFileError) in try file.keys() }
    }

    /// Why the file cannot be used now, while reading returns the last known values; `nil` if it
    /// can be used.
    var outage: DefaultsError? { file.outage.map { DefaultsError($0) } }

    /// Whether records of the file that had been flushed are damaged or missing, until the next
    /// write.
    var isDamaged: Bool { file.isDamaged }

    package var generation: UInt64? { file.generation }

    package func changes(since generation: UInt64) throws(DefaultsError) -> (keys: [String]?, generation: UInt64) {
        try translating { () throws(SettingsFileError) in try file.changes(since: generation) }
    }

    package func write(_ body: () throws(DefaultsError) -> Void) throws(DefaultsError) {
        try write(until: nil) { _ throws(DefaultsError) in try body() }
    }

    /// Does the same, and passes the generation to the body.
    ///
    /// - Parameter deadline: When to stop waiting for other processes; `nil` for the timeout of the
    ///   file.
    func write(
        until deadline: MonotonicTime?, _ body: (UInt64?) throws(DefaultsError) -> Void
    ) throws(DefaultsError) {
        let generation = try translating { () throws(SettingsFileError) in try file.beginWrite(until: deadline) }
        defer { file.endWrite() }
        try body(generation)
    }

    package func commit(_ edits: BackendEdits, over _: UInt64?) throws(DefaultsError) -> CommitOutcome {
        .committed(generation: try commit(edits.map { Edit($0.key, $0.value) }))
    }

    /// Does the same, and copies values that this version cannot read.
    ///
    /// - Returns: The generation that the commit began; `nil` if there are no edits.
    func commit(_ edits: [Edit]) throws(DefaultsError) -> UInt64? {
        guard !edits.isEmpty else { return nil }
        var record = RecordWriter()
        for edit in edits {
            try edit.checkKey()
            var length = 0
            switch edit.action {
            case .remove: record.append(removalOf: edit.key)
            case .copy(let bytes):
                record.append(edit.key, raw: bytes[...])
                length = bytes.count
            case .store(let tree):
                guard let count = record.append(edit.key, { $0.append(tree) }) else {
                    throw DefaultsError(
                        .refused, key: edit.key, reason: PropertyList.tooDeep)
                }
                length = count
            }
            guard length <= RecordFormat.valueLimit else {
                throw DefaultsError(.refused, key: edit.key, reason: "the value is larger than 16 MiB")
            }
        }
        do throws(SettingsFileError) { return try file.commit(&record) } catch { throw DefaultsError(error) }
    }

    package func synchronize() throws(DefaultsError) {
        try translating { () throws(SettingsFileError) in try file.synchronize() }
    }

    /// Does the same as ``synchronize()`` while no caller waits for it.
    func flushInBackground() throws(DefaultsError) {
        try translating { () throws(SettingsFileError) in try file.synchronize(isInBackground: true) }
    }

    @discardableResult
    package func watch(_ subject: WatchedSubject, _ handler: (@Sendable (BackendEvent) -> Void)?) -> Bool {
        switch subject {
        case .failures: file.attach { error in handler?(.failed(DefaultsError(error))) }
        // The generation shows which keys changed. If all of them counted as changed, each change
        // of another process would make the suite read everything that is observed.
        case .changes:
            let onChange: @Sendable () -> Void = { handler?(.changed(keys: [])) }
            file.watch(handler == nil ? nil : onChange)
        case .key: break
        }
        return false
    }

    private func translating<Result>(
        _ body: () throws(SettingsFileError) -> Result
    ) throws(DefaultsError) -> Result {
        do throws(SettingsFileError) { return try body() } catch { throw DefaultsError(error) }
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

    package static func unreadableBytes(_ key: String) -> DefaultsError {
        DefaultsError(.unreadable, key: key, reason: "the stored bytes are not a value that this version can read")
    }
}

extension FileBackend: CustomReflectable {
    /// Empty, so that `dump` shows no stored value.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
