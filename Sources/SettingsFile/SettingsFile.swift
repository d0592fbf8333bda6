// The settings file
// =================
//
// A settings file is a log: a header, then one record for each commit, then zeros. Each record has
// a checksum that also covers the checksum of the record before it, so a record is valid only at
// its own offset. RecordFormat.swift describes the bytes. `FileLog` is one open file, `FileIndex`
// maps each key to its current value, and `SettingsFileLocation` finds, creates and replaces files.
//
// Invariants
// ----------
// 1. Under the file lock, all bytes from the end of the records to the size of the file are zeros.
//    The first eight of them exist and are allocated: readers touch them through a mapping, where a
//    hole on a full tmpfs raises SIGBUS.
// 2. No reader is beyond the end of the committed records. A record becomes valid with its last
//    byte that is not zero. If a write fails after that byte, it has succeeded. If it fails before,
//    the part that was written is erased, and no reader has accepted it.
// 3. Each write checks the name after it has locked the file, and each `set` of an equal value
//    checks it too. Both behave as if they happened at the moment of that check. Later changes to
//    the file by other programs are noticed by the next such check, or by the one that
//    `synchronize` makes.
//
// Append
// ------
// `beginWrite` locks the file (`flock`), checks that the name still refers to this file, and reads
// the records of other processes. `commit` writes one record with one call. `endWrite` unlocks the
// file.
//
// External changes
// ----------------
// The file is mapped, and readers touch one page of the mapping: a reader loads the word where the
// next record will start. Zero means that nothing has changed. This takes no system call and no
// file lock. `ReadSnapshot` holds what the check and the lookup of a value need, so that a reader
// does not wait for the state lock while this process replaces the file. It is published after a
// commit, not after each access. If the word is not zero, `catchUp` reads the new records and
// applies them to the index. An incomplete record stays unread, because its writer may be in the
// middle of the call.
//
// Compaction and the seal
// -----------------------
// When superseded values take more space than live ones, the writing process creates a new file
// under a temporary name, flushes it, appends a seal to the old file, and renames the new file into
// place. The seal makes every process that has the old file open check the name again. If the
// writer dies between seal and rename, the next process that locks the file removes the seal. A
// process may rename the temporary file only while it holds the locks of both the temporary file
// and the old file, so no commit is lost between the two.
//
// Repair
// ------
// Bytes after the last valid record are an unfinished write or damage. A process that can lock the
// file erases an unfinished record. It copies damage to a file whose name ends in `.damaged-` and
// its checksum, and then replaces the settings file. If the folder is not writable, damage stays as
// it is. If records disappear after this process has read them, every value counts as changed, and
// the error says so.
//
// Flushes
// -------
// One caller flushes on behalf of all waiting callers. The system reports a failed flush once to
// each open file and then treats the lost pages as written. A flush by a process that opened the
// file later therefore proves nothing about earlier records. Before such a flush counts, the
// records are read back from the disk where the system allows that. Otherwise the file is replaced
// by a new one, because this process has seen every flush of the new file. After a failed flush,
// the file is also replaced, or its records are written again.
//
// Forks
// -----
// A child closes the descriptors that its parent has opened, and opens the file again by its name
// when it reads or writes: see `Forks` and `State.leaveParent`.
//
// The table of locks is in SuiteCore.swift. The order here is `flushing`, then `state`, then
// `snapshot` or `FileLog.lookup`.

/// Settings in a file of this library's own format. Any number of processes and threads may use the
/// same file at once.
///
/// The file is a log: each commit is one record, which is appended completely or not at all.
/// Reading needs no file lock and, until another process writes, no system call. Writers lock the
/// file, and the system releases the lock of a process that dies.
///
/// - Important: Replace such a file by renaming another file over it. Overwriting or truncating it
///   in place may crash the processes that have it open.
package final class SettingsFile: Sendable {
    package let location: String?
    let fileLocation: SettingsFileLocation
    /// Appended to errors if the user's own folder cannot be used.
    private let recoverySuggestion: String
    let state = Locked(State())
    private let snapshot = Locked(ReadSnapshot())
    /// The flush in progress.
    let flushing = Locked<Flush?>(nil)

    struct State {
        /// The open file; `nil` if there is none. A file that replaces a locked one is locked too.
        var log: FileLog?
        /// Whether a writer of this process holds the file lock.
        var isLocked = false
        /// Whether the name may refer to another file now. A seal has its own flag.
        var nameMayHaveMoved = false
        var changes = ExternalChanges()
        /// The number of times that records known to this process were found to be missing.
        private(set) var losses = 0
        /// The number of commits of this process, and how many of them a flush has covered.
        var commits = 0
        var flushedCommits = 0
        /// Whether commits that were not flushed are in a file which another program has removed or
        /// replaced. The next `synchronize()` throws.
        var hasLostCommits = false
        /// The generation at which a writer timed out waiting for the file lock, and the time
        /// before which other writers do not wait.
        var failedWait: (generation: UInt64, until: MonotonicTime)?
        /// Errors to report once no lock is held.
        var reports: [SettingsFileError] = []
        var report: @Sendable (SettingsFileError) -> Void = { _ in }
        fileprivate var watch: (watch: FileWatch, onChange: @Sendable ([String]?) -> Void)?
        /// The process that used this last, as counted by ``Forks/count``.
        private var process = Forks.count
        var hasReportedWatchFailure = false
        var hasReportedExhaustion = false
        /// The snapshot that readers see.
        fileprivate var publishedSnapshot = ReadSnapshot()

        /// Runs `body`, and counts a loss if `body` throws after the log moved its end.
        mutating func noticingLoss<Result>(
            of log: FileLog, _ body: () throws(FileFailure) -> Result
        ) throws(FileFailure) -> Result {
            let end = log.end
            do throws(FileFailure) { return try body() } catch {
                if log.end != end {
                    losses += 1
                    changes.add(nil)
                }
                throw error
            }
        }

        /// Records that the file of the commits so far is gone.
        mutating func noteMissingFile() {
            guard commits > flushedCommits else { return }
            losses += 1
            flushedCommits = commits
            hasLostCommits = true
        }

        /// In a forked child, drops what belongs to the parent.
        ///
        /// - Returns: The handler of the parent's watch. The child needs a watch of its own.
        mutating func leaveParent() -> (@Sendable ([String]?) -> Void)? {
            guard process != Forks.count else { return nil }
            process = Forks.count
            (log, isLocked) = (nil, false)
            // The parent flushes its commits.
            flushedCommits = commits
            changes.add(nil)
            return watch?.onChange
        }
    }

    /// Creates a backend for a file. The first write creates the file.
    ///
    /// - Parameter path: An absolute path. Missing folders are created, accessible to the user
    ///   only.
    package convenience init(path: String) {
        self.init(path: path, timeout: .seconds(2))
    }

    /// Creates a backend for a file in the user's own folder.
    ///
    /// - Parameter path: The path of the file, or `nil` if the user has no such folder. Then every
    ///   call throws.
    package convenience init(namedPath path: String?) {
        self.init(
            path: path, timeout: .seconds(2),
            recoverySuggestion:
                "; set XDG_CONFIG_HOME to a folder, or use DefaultsSuite(file:) or DefaultsSuite.inMemory()")
    }

    package static var keyLimit: Int { RecordFormat.keyLimit }
    package static var valueLimit: Int { RecordFormat.valueLimit }

    /// Returns why a file of that name cannot be a settings file, or `nil` if it can.
    package static func problem(ofName name: String) -> String? { SettingsFileLocation.problem(ofName: name) }

    /// Creates a backend for a file.
    ///
    /// - Parameters:
    ///   - path: An absolute path; `nil` makes every call throw.
    ///   - timeout: How long to wait for other processes.
    ///   - sizeLimit: The largest size of the file. All processes that use the file must pass the
    ///     same limit.
    ///   - recoverySuggestion: Text to append to errors.
    init(
        path: String?, timeout: Duration, sizeLimit: Int = RecordFormat.sizeLimit,
        recoverySuggestion: String = ""
    ) {
        fileLocation = SettingsFileLocation(path: path ?? "", sizeLimit: sizeLimit, timeout: timeout)
        location = path
        self.recoverySuggestion = recoverySuggestion
    }
}

extension SettingsFile {
    /// Whether no write can succeed, because of the place or the rights of this process.
    package var isReadOnly: Bool { fileLocation.isReadOnly }

    /// Whether the name refers to the file that readers use. Takes one system call.
    package var isInPlace: Bool {
        guard let log = snapshot.withLock({ $0.log }) else { return false }
        return (try? fileLocation.nameHasMoved(from: log)) == false
    }

    package func bytes(forKey key: String) throws(SettingsFileError) -> ArraySlice<UInt8>? {
        // Avoid the state lock, which is held during system calls such as a compaction's flush.
        guard let log = snapshot.withLock({ $0.log }), log.file.process == Forks.count else {
            return try withLog { state throws(FileFailure) in try state.log?.bytes(forKey: key) }
        }
        do throws(FileFailure) { return try log.bytes(forKey: key) } catch { throw unavailable(error) }
    }

    package func keys() throws(SettingsFileError) -> [String] {
        try withLog { state throws(FileFailure) in
            try catchUp(&state)
            return state.log?.index.keys ?? []
        }
    }

    package var generation: UInt64? { snapshot.withLock { $0.currentGeneration } }

    /// Runs `body`, then publishes a new snapshot for readers if it differs.
    func withState<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try state.withLock { state throws(Failure) in
            defer { publishSnapshot(of: &state) }
            return try body(&state)
        }
    }

    /// A commit changes the snapshot once. Most other steps of a write leave it unchanged.
    private func publishSnapshot(of state: inout State) {
        let new = ReadSnapshot(
            of: state.log, generation: state.changes.generation, nameMayHaveMoved: state.nameMayHaveMoved)
        guard state.publishedSnapshot != new else { return }
        state.publishedSnapshot = new
        // Release the old snapshot after unlocking, because it may hold the last reference to a
        // mapping.
        let old = snapshot.withLock { exchange(&$0, with: new) }
        withExtendedLifetime(old) {}
    }

    package func changes(since generation: UInt64) throws(SettingsFileError) -> (keys: [String]?, generation: UInt64) {
        try withLog { state throws(FileFailure) in
            try catchUp(&state)
            return (state.changes.take(since: generation), state.changes.generation)
        }
    }

    /// Opens the log if necessary and runs `body`. The state has no log if the file does not exist
    /// and was not created.
    func withLog<Result>(
        creating: Bool = false, _ body: (inout State) throws(FileFailure) -> Result
    ) throws(SettingsFileError) -> Result {
        var hasReports = false
        var parentsOnChange: (@Sendable ([String]?) -> Void)?
        defer {
            if let parentsOnChange { watch(parentsOnChange) }
            if hasReports { deliverReports() }
        }
        do throws(FileFailure) {
            return try withState { state throws(FileFailure) in
                defer { hasReports = !state.reports.isEmpty }
                parentsOnChange = state.leaveParent()
                if state.log == nil {
                    state.log = try fileLocation.open(creating: creating, reports: &state.reports)
                    // Readers that found no file before must read the contents of this one.
                    if let log = state.log, log.end > RecordFormat.headerLength { state.changes.add(nil) }
                }
                return try body(&state)
            }
        } catch {
            throw unavailable(error)
        }
    }

    /// Reads the records that other processes have written, in this file and in a file that
    /// replaced it.
    func catchUp(_ state: inout State) throws(FileFailure) {
        if let log = state.log, log.hasPendingRecord {
            let failure = try compactIfDue(&state, hasPendingRecord: true) { _, isStopped in isStopped }
            if let failure, log.noteFailedRepair() { state.reports.append(unavailable(failure)) }
        }
        // A writer keeps the file whose lock it holds.
        guard let log = state.log, log.isSealed || state.nameMayHaveMoved, !state.isLocked else { return }
        do throws(FileFailure) {
            if try fileLocation.nameHasMoved(from: log) { try reopen(&state, creating: false) }
            state.nameMayHaveMoved = false
            state.hasReportedExhaustion = false
        } catch let error where error.isExhaustion {
            // The open file has the last values that this process knows. The next call tries again.
            state.nameMayHaveMoved = true
            if !state.hasReportedExhaustion { state.reports.append(unavailable(error)) }
            state.hasReportedExhaustion = true
        }
    }

    /// Opens the file that has the name now. If that fails, the next call tries again.
    func reopen(_ state: inout State, creating: Bool) throws(FileFailure) {
        state.nameMayHaveMoved = true
        let old = state.log
        let log = try fileLocation.open(creating: creating, reports: &state.reports)
        // The process that seals a file copies its records to a file of a later epoch. Any other
        // file comes from another program and may lack them.
        if let old, old.identity != log?.identity {
            _ = try? old.readNewRecords()
            if !old.isSealed || log.map({ $0.epoch <= old.epoch }) ?? true { state.noteMissingFile() }
        }
        state.log = log
        state.nameMayHaveMoved = false
        state.changes.add(nil)
    }

    /// Reads new records, and compacts the file if this is due, both before and after the file is
    /// locked.
    ///
    /// Does nothing if another process holds the lock, because that process is writing the
    /// incomplete record, or will compact the file itself.
    ///
    /// - Parameters:
    ///   - hasPendingRecord: Whether the caller has just seen a record in the mapping.
    ///   - isDue: Returns whether compaction is due. It receives whether reading stopped at bytes
    ///     that are neither a record nor zeros.
    /// - Returns: Why the compaction failed. It throws only for a writer: the valid records can
    ///   still be read.
    @discardableResult
    func compactIfDue(
        _ state: inout State, hasPendingRecord: Bool = false, _ isDue: (FileLog, _ isStopped: Bool) -> Bool
    ) throws(FileFailure) -> FileFailure? {
        guard let log = state.log else { return nil }
        func refresh(_ state: inout State) throws(FileFailure) -> Bool {
            let isStopped = try readNewRecords(log, &state, hasPendingRecord: hasPendingRecord)
            // Leave the seal of a dead process to the next writer.
            return !log.isSealed && isDue(log, isStopped)
        }
        guard try refresh(&state) else { return nil }
        let isWriter = state.isLocked
        if !isWriter {
            guard !log.isRepairPaused, try log.file.tryLock() else { return nil }
        }
        defer { if !isWriter { unlock(&state, log.file) } }
        guard try refresh(&state), try !fileLocation.nameHasMoved(from: log) else { return nil }
        do throws(FileFailure) {
            guard log.isWritable else { throw FileFailure("its last bytes are damaged, and it is read-only") }
            try compact(&state)
            return nil
        } catch {
            if isWriter { throw error }
            return error
        }
    }

    /// Releases the lock of the file, and of a replacement, which is created locked.
    func unlock(_ state: inout State, _ file: File) {
        file.unlock()
        if let log = state.log, log.file !== file { log.file.unlock() }
        state.isLocked = false
    }

    /// Reads the records that were appended since the last call.
    ///
    /// - Parameter hasPendingRecord: Whether the caller has just seen a record in the mapping.
    /// - Returns: Whether reading stopped at bytes that are neither a record nor zeros.
    func readNewRecords(
        _ log: FileLog, _ state: inout State, hasPendingRecord: Bool = false
    ) throws(FileFailure) -> Bool {
        let end = log.end
        let progress: FileLog.Progress
        do throws(FileFailure) {
            progress = try log.readNewRecords(hasPendingRecord: hasPendingRecord)
        } catch {
            if log.end != end { state.changes.add(nil) }
            throw error
        }
        if !progress.changed.isEmpty { state.changes.add(progress.changed) }
        return progress.isStopped
    }

    /// Replaces the file with a compacted one after copying damage aside. Counts a loss if known
    /// records are missing.
    func compact(_ state: inout State) throws(FileFailure) {
        guard let log = state.log else { return }
        var reports = state.reports
        defer { state.reports = reports }
        state.log = try state.noticingLoss(of: log) { () throws(FileFailure) in
            do throws(FileFailure) { return try fileLocation.salvage(log, reports: &reports) } catch {
                // Retry soon: space may become free at any moment, and the file must not reach its
                // limit before it is compacted.
                if !error.isDiskFull { log.noteFailedCompaction() }
                throw error
            }
        }
    }

    package func watch(_ onChange: (@Sendable (_ keys: [String]?) -> Void)?) {
        let new = onChange.map { onChange in
            let watch = fileLocation.watch { [weak self] isName in
                if isName { self?.withState { $0.nameMayHaveMoved = true } }
                onChange(nil)
            }
            return (watch: watch, onChange: onChange)
        }
        // Release the old watch after unlocking, because its deinit may run code of the program.
        let old = state.withLock { state in
            let old = exchange(&state.watch, with: new)
            guard let failure = new?.watch.failure, !state.hasReportedWatchFailure else { return old }
            state.hasReportedWatchFailure = true
            state.reports.append(
                SettingsFileError(
                    .unavailable,
                    reason:
                        "the system does not report changes by other processes, so they are polled ten times a second:"
                        + " \(failure.reason)"))
            return old
        }
        withExtendedLifetime(old) { deliverReports() }
    }

    package func attach(report: @escaping @Sendable (SettingsFileError) -> Void) {
        // Release the old closure after unlocking, because it may hold objects of the program.
        let old = state.withLock { exchange(&$0.report, with: report) }
        withExtendedLifetime(old) {}
    }

    func deliverReports() {
        // Other processes wait while the file is locked. The next call delivers the errors.
        let (reports, report) = state.withLock { state in
            (state.isLocked ? [] : exchange(&state.reports, with: []), state.report)
        }
        for error in reports { report(error) }
    }

    func unavailable(_ failure: FileFailure) -> SettingsFileError {
        let subject = location.map { "the settings file \($0) cannot be used" } ?? "there is no folder for settings"
        return failure.isLimit
            ? SettingsFileError(.refused, reason: "\(subject): \(failure.reason)")
            : SettingsFileError(.unavailable, reason: "\(subject): \(failure.reason)\(recoverySuggestion)")
    }
}

extension SettingsFile: CustomReflectable {
    /// Empty, so that `dump` shows no stored value.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
