// The settings file
// =================
//
//      0          40        48         64                                   end          size
//      +----------+---------+----------+----------+----------+--  --+----------+---------+
//      |  header  | changes | flushed  | record 1 | record 2 |  ..  | record n |  zeros  |
//      +----------+---------+----------+----------+----------+--  --+----------+---------+
//                  odd during   end of the records
//                  a change     known to be on disk     each checksum continues from the last
//
// The file is a log with one record for each commit (RecordFormat.swift). `FileLog` is one open
// file with its values; `SettingsFileLocation` finds, creates and replaces files.
//
// Change counter: each change makes it odd, and even again when it is complete. A reader compares
// it, through a mapping of the first page, with the count up to which it has read. If they differ,
// the reader reads the new records. If the count is odd, the name may refer to another file, so the
// reader looks it up. A count that a dead writer left odd is ended under the file lock.
//
// Writing: SettingsFile+Writing.swift draws a commit. A process that can lock the file copies bytes
// after the last record that are not zeros to a file beside it, and cuts them off.
//
// Compaction: when superseded values take three times the space of live ones, a writer or a flush
// writes the values to a new file, flushes it, and renames it into place. It holds the locks of both
// files, so no commit is lost between the two. The old file's count becomes odd and stays so.
//
// Flushes: after a failed flush, the system treats the lost pages as written, and reports the error
// once to each descriptor that was open. So a process replaces the file after a failed flush, and
// also if it opened the file with records beyond the flushed word. Their flush may have failed, but
// the new file uses other pages. Only a successful flush moves the word, so a dead process or
// another program's `fsync` cannot make it claim too much.
//
// Unusable files: a process that cannot open the file that has the name now keeps the values it
// knows and reports that once. Writes fail.
//
// The table of locks is in SuiteCore.swift. The order here is `flushing`, then `state`, then `view`
// and the contents of a `FileLog`. The state lock is held during system calls such as a flush of a
// new file; readers do not wait for it.

/// Settings in a file of this library's own format. Any number of processes and threads may use the
/// same file at once.
///
/// - Important: Replace such a file by renaming another file over it.
package final class SettingsFile: Sendable {
    package let location: String?
    let fileLocation: SettingsFileLocation
    /// Appended to errors if the user's own folder cannot be used.
    private let recoverySuggestion: String
    let state = Locked(State())
    private let view = Locked(View())
    /// The flush in progress.
    let flushing = Locked<Flush?>(nil)

    /// What a reader needs to detect a change and to look up a value.
    ///
    /// It has a lock of its own, because the state lock is held during system calls.
    private struct View {
        /// The open file; `nil` if there is none.
        let log: FileLog?
        let generation: UInt64
        /// The counter of the file, and its value when all records were read; `nil` if there are
        /// bytes that are not a record, or if the name may refer to another file now.
        private let counter: ChangeCounter.Word?
        private let count: UInt64
        /// The process that opened the file, as counted by ``Forks/count``.
        private let process: Int

        init(log: FileLog? = nil, generation: UInt64 = 1, nameMayHaveMoved: Bool = false) {
            (self.log, self.generation) = (log, generation)
            let known = nameMayHaveMoved ? nil : log?.count
            (counter, count) = (known.flatMap { _ in log?.counter.word }, known ?? 0)
            process = log?.file.process ?? 0
        }

        /// The generation, or the next one if something may have changed; `nil` if no file is open.
        var currentGeneration: UInt64? {
            // Reads the log's page directly, because each `get` does this, and counting references
            // to the log would take longer than the rest.
            if let counter, counter.value ^ count | UInt64(process ^ Forks.count) == 0 { return generation }
            return log == nil ? nil : generation &+ 1
        }
    }

    struct State {
        /// The open file; `nil` if there is none. A file that replaces a locked one is locked too.
        var log: FileLog?
        /// Whether a writer of this process holds the file lock.
        var isLocked = false
        /// Whether the name may refer to another file now.
        var nameMayHaveMoved = false
        var changes = ExternalChanges()
        /// The number of commits of this process, and how many of them a flush has covered.
        var commits = 0
        var flushedCommits = 0
        /// Whether commits that were not flushed are in a file which another program has removed or
        /// replaced. The next `synchronize()` throws.
        var hasLostCommits = false
        /// The generation at which a writer timed out waiting for the file lock, and the time
        /// before which other writers do not wait.
        var failedWait: (generation: UInt64, until: MonotonicTime)?
        /// An odd count, and the time until which its writer may be at work.
        var unfinished: (count: UInt64?, until: MonotonicTime)?
        /// The time before which readers do not try again what failed, while the file has this count
        /// of changes.
        var pause: (count: UInt64?, end: MonotonicTime)?
        /// Errors to report once no lock is held.
        var reports: [SettingsFileError] = []
        var report: @Sendable (SettingsFileError) -> Void = { _ in }
        fileprivate var watch: (watch: FileWatch, onChange: @Sendable ([String]?) -> Void)?
        /// The process that used this last, as counted by ``Forks/count``.
        private var process = Forks.count
        var hasReportedWatchFailure = false
        var hasReportedLookup = false
        /// Where the last open file was, and whether that is not what is watched.
        var place: (folder: File.Identity, name: String)?
        var isWatchOutdated = false

        /// Records that the file of the commits so far is gone.
        mutating func noteMissingFile() {
            guard commits > flushedCommits else { return }
            flushedCommits = commits
            hasLostCommits = true
        }

        /// In a forked child, drops what belongs to the parent.
        mutating func leaveParent() {
            guard process != Forks.count else { return }
            process = Forks.count
            (log, isLocked) = (nil, false)
            // The parent flushes its commits.
            flushedCommits = commits
            changes.add(nil)
            isWatchOutdated = true
        }
    }

    /// Creates a backend for a file. The first write creates the file.
    ///
    /// - Parameter path: An absolute path. Missing folders are created, accessible to the user
    ///   only.
    package convenience init(path: String) { self.init(path: path, timeout: .seconds(2)) }

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

// Reading.
extension SettingsFile {
    /// Whether no write can succeed, because of the place or the rights of this process.
    package var isReadOnly: Bool { fileLocation.isReadOnly }

    /// Whether the name refers to the file that readers use. Takes one system call.
    package var isInPlace: Bool {
        guard let log = view.withLock({ $0.log }) else { return false }
        return (try? fileLocation.nameHasMoved(from: log)) == false
    }

    package func bytes(forKey key: String) throws(SettingsFileError) -> ArraySlice<UInt8>? {
        if let log = view.withLock({ $0.log }), log.file.process == Forks.count { return log.bytes(forKey: key) }
        return try withLog { state in state.log?.bytes(forKey: key) }
    }

    package func keys() throws(SettingsFileError) -> [String] {
        try withLog { state throws(FileFailure) in
            try catchUp(&state)
            return state.log?.keys ?? []
        }
    }

    package var generation: UInt64? { view.withLock { $0.currentGeneration } }

    package func changes(since generation: UInt64) throws(SettingsFileError) -> (keys: [String]?, generation: UInt64) {
        try withLog { state throws(FileFailure) in
            try catchUp(&state)
            return (state.changes.take(since: generation), state.changes.generation)
        }
    }

    /// Runs `body`, then shows its result to readers.
    func withState<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try state.withLock { state throws(Failure) in
            defer {
                let new = View(
                    log: state.log, generation: state.changes.generation, nameMayHaveMoved: state.nameMayHaveMoved)
                // Release the old log after unlocking, because it may be the last reference.
                withExtendedLifetime(view.withLock { exchange(&$0, with: new) }) {}
            }
            return try body(&state)
        }
    }

    /// Opens the log if necessary and runs `body`. The state has no log if the file does not exist
    /// and was not created.
    func withLog<Result>(
        creating: Bool = false, _ body: (inout State) throws(FileFailure) -> Result
    ) throws(SettingsFileError) -> Result {
        var hasReports = false
        var onChangeOfNewWatch: (@Sendable ([String]?) -> Void)?
        defer {
            if let onChangeOfNewWatch { watch(onChangeOfNewWatch) }
            if hasReports { deliverReports() }
        }
        do throws(FileFailure) {
            return try withState { state throws(FileFailure) in
                defer {
                    hasReports = !state.reports.isEmpty
                    if exchange(&state.isWatchOutdated, with: false) { onChangeOfNewWatch = state.watch?.onChange }
                }
                state.leaveParent()
                if state.log == nil {
                    try use(fileLocation.open(creating: creating), &state)
                    // Readers that found no file before must read the contents of this one.
                    if let log = state.log, log.end > RecordFormat.headerLength { state.changes.add(nil) }
                    try catchUp(&state)
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
        guard let log = state.log else { return }
        // Loaded first: what is read after that may be newer, but never older.
        let count = log.counter.value
        if let count, count == log.count, !state.nameMayHaveMoved { return }
        if !state.isLocked, let pause = state.pause, pause.count == count, .lastTick < pause.end { return }
        log.count = nil
        if state.isLocked {
            guard count != nil else { throw FileFailure.isOverwritten }
            if try readNewRecords(log, &state) { log.count = count }
            return
        }
        do throws(FileFailure) {
            let mayHaveMoved = state.nameMayHaveMoved || count.map { !$0.isMultiple(of: 2) } ?? true
            if mayHaveMoved {
                let hasMoved = try fileLocation.nameHasMoved(from: log)
                if hasMoved || count == nil { return try reopen(&state, creating: false) }
            }
            do throws(FileFailure) { if try readNewRecords(log, &state) { log.count = count } } catch {
                guard error.isReplaced else { throw error }
                return try reopen(&state, creating: false)
            }
            (state.nameMayHaveMoved, state.hasReportedLookup) = (false, false)
        } catch {
            // The open file has the last values that this process knows. The next call tries again.
            state.nameMayHaveMoved = true
            state.pause = (count, .lastTick + .milliseconds(100))
            if !state.hasReportedLookup { state.reports.append(unavailable(error)) }
            state.hasReportedLookup = true
        }
    }

    /// Returns whether only zeros follow the last record, and no writer is at work.
    private func readNewRecords(_ log: FileLog, _ state: inout State) throws(FileFailure) -> Bool {
        let count = log.counter.value
        let isUnfinished = count.map { !$0.isMultiple(of: 2) } ?? true
        if try readRecords(log, &state) {
            if !isUnfinished || state.isLocked { return true }
            // Give the writer time. If it has died, each read would be slow until the next write.
            if state.unfinished?.count != count { state.unfinished = (count, .lastTick + .milliseconds(100)) }
            guard let unfinished = state.unfinished, unfinished.until < .lastTick else { return false }
        }
        // What follows is a record in progress, unless no process can be writing it.
        if !state.isLocked {
            guard log.isWritable, try log.file.tryLock() else { return false }
        }
        defer { if !state.isLocked { log.file.unlock() } }
        do throws(FileFailure) {
            // The writer may have replaced the file. Its count then stays odd.
            let hasMoved = try state.isLocked ? false : fileLocation.nameHasMoved(from: log)
            guard !hasMoved else { throw FileFailure("it was replaced in the meantime", isReplaced: true) }
            if try !readRecords(log, &state) { try fileLocation.repair(log, reports: &state.reports) }
        } catch {
            if state.isLocked || error.isReplaced { throw error }
            // The valid records can still be read.
            if state.pause == nil { state.reports.append(unavailable(error)) }
            state.pause = (count, .lastTick + .seconds(1))
            return false
        }
        // Its writer died before it could do this.
        if isUnfinished, !state.isLocked { log.counter.end() }
        return !isUnfinished || state.isLocked
    }

    /// Returns whether only zeros follow the last record.
    private func readRecords(_ log: FileLog, _ state: inout State) throws(FileFailure) -> Bool {
        let (changed, isComplete) = try log.readRecords(sizeLimit: fileLocation.sizeLimit)
        if !changed.isEmpty { state.changes.add(changed) }
        return isComplete
    }

    /// Sets the open file. If it is in another place than the last one, it needs another watch.
    private func use(_ log: FileLog?, _ state: inout State) throws(FileFailure) {
        if let log {
            let folder = try log.directory.identity()
            if state.place.map({ $0 != (folder, log.name) }) ?? true { state.isWatchOutdated = true }
            state.place = (folder, log.name)
        }
        state.log = log
    }

    /// Opens the file that has the name now. If that fails, the next call tries again.
    func reopen(_ state: inout State, creating: Bool) throws(FileFailure) {
        state.nameMayHaveMoved = true
        let old = state.log
        let log = try fileLocation.open(creating: creating)
        if log == nil, let old, try !fileLocation.nameHasMoved(from: old) {
            throw FileFailure("another program has emptied it; the values that are known stay in use")
        }
        // A process that replaces a file copies its records to a file of a later epoch. Any other
        // file comes from another program and may lack them.
        if let old, log.map({ $0.epoch <= old.epoch }) ?? true { state.noteMissingFile() }
        try use(log, &state)
        (state.nameMayHaveMoved, state.hasReportedLookup) = (false, false)
        state.changes.add(nil)
        try catchUp(&state)
    }
}

// Reports and the watch.
extension SettingsFile {
    package func watch(_ onChange: (@Sendable (_ keys: [String]?) -> Void)?) {
        let new = onChange.map { onChange in
            let watch = fileLocation.watch { [weak self] isName in
                if isName { self?.withState { $0.nameMayHaveMoved = true } }
                if self?.isEmptied == true { return }
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

    /// Whether another program has truncated the file. It most likely writes it again at once, and
    /// the next event reports that. Until then, an access to the mapping raises SIGBUS.
    private var isEmptied: Bool { (try? view.withLock { $0.log }?.file.status().size) == 0 }

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
