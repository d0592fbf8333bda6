import Dispatch

// The settings file
// =================
//
//      0          40          48         64                      committed            size
//      +----------+-----------+----------+----------+--  --+----------+---------------+
//      |  header  | committed | flushed  | record 1 |  ..  | record n |     zeros     |
//      +----------+-----------+----------+----------+--  --+----------+---------------+
//                  end of the  end of those          each checksum continues from the last
//                  records     known to be on disk
//
// The file is a log with one record for each commit (RecordFormat.swift). `Log` is how far this
// process has read one open file; `SettingsFileLocation` finds, creates and replaces files.
//
// Committed word: a writer first writes a record behind the committed end, then the word. A reader
// compares the word, through a mapping of the first page, with the one up to which it has read, and
// reads the records in between if they differ. The word also says that another file is about to
// get the name. Then the reader looks the name up.
//
// No process reads behind the committed end. There may be a record whose writer died, or one whose
// word a power cut lost; no caller knows that it was stored. The next writer cuts that off. If
// committed records are damaged, it first copies the bytes to a file beside this one.
//
// Compaction: when superseded values take three times the space of live ones, a writer or a flush
// writes the values to a new file, flushes it, and renames it into place. It holds the locks of
// both files, so no commit is lost between the two.
//
// Flushes: after a failed flush, the system treats the lost pages as written, and reports the error
// once to each descriptor that was open. So a process replaces the file after a failed flush, and
// also if it opened the file with records beyond the flushed word. Their flush may have failed, but
// the new file uses other pages. Only a successful flush moves the word, so a dead process or
// another program's `fsync` cannot make it claim too much.
//
// Looks: `SettingsFileLocation.nameHasMoved` resolves the path, links included. A process looks
// when it opens the file, before each write and equal `set`, for a flush, after an event of the
// watch, and every two seconds while there are observers. If that finds another file, the process
// opens it. If it finds none, the last values stay, and writes wait, until a look a second later.
//
// Two locks: that of `state` is held during system calls; that of `shown`, never. Readers need only
// the second. `withState` is the one way to the state, and the one place that shows a result. The
// table of all locks is in SuiteCore.swift.

/// Settings in a file of this library's own format. Any number of processes and threads may use the
/// same file at once.
///
/// - Important: Replace such a file by renaming another file over it.
package final class SettingsFile: Sendable {
    package let location: String?
    let fileLocation: SettingsFileLocation
    /// Appended to errors if the user's own folder cannot be used.
    private let recoverySuggestion: String
    private let state = Locked(State())
    private let shown = Locked(Shown())

    struct State {
        /// The open file; `nil` if there is none. A file that replaces a locked one is locked too.
        var log: Log?
        /// Whether a writer of this process holds the file lock.
        var isLocked = false
        /// The process that used this last, as counted by ``Forks/count``.
        var process = Forks.count
        /// Whether the name may refer to another file now.
        var nameMayHaveMoved = false
        var outage: Outage?
        var changes = Changes()
        /// What readers do not see yet.
        var news: News?
        /// The number of commits of this process, and how many of them a flush has covered.
        var commits = 0
        var flushedCommits = 0
        /// Whether commits that were not flushed are in a file which another program has removed or
        /// replaced. The next `synchronize()` throws.
        var hasLostCommits = false
        /// The callers that wait for the flush in progress; `nil` if there is none.
        var flush: [DispatchSemaphore]?
        /// The generation at which a writer timed out waiting for the file lock, and the time
        /// before which other writers do not wait.
        var futileWait: (generation: UInt64, until: MonotonicTime)?
        /// Why the last compaction failed, which was reported; `nil` after a success.
        var compactionFailure: String?
        var watch: FileWatch?
        var hasReportedWatchFailure = false
        /// Errors to report once no lock is held.
        var reports: [SettingsFileError] = []
        var report: @Sendable (SettingsFileError) -> Void = { _ in }

        enum News {
            case all(KeyTable)
            case records(Records)
        }

        /// The file of the path cannot be used, while the values of the open one stay in use.
        struct Outage {
            let error: SettingsFileError
            /// When the open file was first found missing; `nil` if another one is in its place.
            let missingSince: MonotonicTime?
            /// Until when readers do not try again.
            var end = MonotonicTime.now + .milliseconds(200)
        }

        /// In a forked child, drops what belongs to the parent: a file lock belongs to the open
        /// file, which both share, and the parent flushes its commits.
        fileprivate mutating func leaveParent() {
            (process, log, isLocked, flush, news) = (Forks.count, nil, false, nil, .all(KeyTable()))
            noteUse()
            flushedCommits = commits
            changes.add(nil)
        }

        /// Since when the open file was missing at each look; `nil` if it was there, or if the last
        /// look was long ago.
        var missingSince: MonotonicTime? { outage.flatMap { .now < $0.end + .seconds(2) ? $0.missingSince : nil } }

        /// Records that the name refers to the open file, which can be used.
        mutating func noteUse() { (nameMayHaveMoved, outage) = (false, nil) }

        /// Records that the file cannot be used.
        mutating func noteOutage(_ error: SettingsFileError, isMissing: Bool = false, isReported: Bool = true) {
            nameMayHaveMoved = log != nil
            if isReported, outage == nil || outage?.missingSince != nil { reports.append(error) }
            outage = Outage(error: error, missingSince: isMissing ? missingSince ?? .now : nil)
        }
    }

    /// What a reader needs to detect a change and to look up a value.
    private struct Shown {
        /// The open file, which keeps its mapping alive; `nil` if there is none.
        var open: OpenFile?
        var values = KeyTable()
        var generation: UInt64 = 1
        /// The committed end of the file, and its value when all records were read; `nil` if the
        /// name may refer to another file now.
        var word: HeaderWords.Word?
        var readWord: UInt64 = 0
        /// The process that opened the file, as counted by ``Forks/count``.
        var process = Forks.count
        var outage: SettingsFileError?
        var isDamaged = false

        /// Whether nothing has changed since all records were read.
        var isCurrent: Bool {
            // Reads the page directly, because each `get` does this, and counting references to the
            // file would take longer than the rest.
            guard let word else { return false }
            return word.value ^ readWord | UInt64(process ^ Forks.number) == 0
        }
    }

    /// Creates the object of a file in the user's own folder.
    ///
    /// - Parameter path: The path of the file, or `nil` if the user has no such folder. Then every
    ///   call throws.
    package convenience init(namedPath path: String?) {
        self.init(
            path: path,
            recoverySuggestion:
                "; set XDG_CONFIG_HOME to a folder, or use DefaultsSuite(file:) or DefaultsSuite.inMemory()")
    }

    /// Creates the object of a file. The first write creates the file.
    ///
    /// - Parameters:
    ///   - path: An absolute path; `nil` makes every call throw. Missing folders are created,
    ///     accessible to the user only.
    ///   - timeout: How long to wait for other processes.
    ///   - sizeLimit: The largest size of the file. All processes that use the file must pass the
    ///     same limit.
    ///   - recoverySuggestion: Text to append to errors.
    package init(
        path: String?, timeout: Duration = .seconds(2), sizeLimit: Int = RecordFormat.sizeLimit,
        recoverySuggestion: String = ""
    ) {
        fileLocation = SettingsFileLocation(path: path ?? "", sizeLimit: sizeLimit, timeout: timeout)
        location = path
        self.recoverySuggestion = recoverySuggestion
        _ = Forks.counting
    }

    package func attach(report: @escaping @Sendable (SettingsFileError) -> Void) {
        // Release the old closure after unlocking, because it may hold objects of the program.
        let old = withState { exchange(&$0.report, with: report) }
        withExtendedLifetime(old) {}
    }
}

// The state, and what readers see of it.
extension SettingsFile {
    /// Runs `body`, then shows its result to readers and reports errors.
    ///
    /// - Parameter isShown: False if readers see the result already.
    func withState<Result, Failure: Error>(
        isShown: Bool = true, _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var reports: [SettingsFileError] = []
        var report: (@Sendable (SettingsFileError) -> Void)?
        defer { for error in reports { report?(error) } }
        return try state.withLock { state throws(Failure) in
            if state.process != Forks.count { state.leaveParent() }
            defer {
                if isShown { show(&state) }
                // Other processes wait while the file is locked. The next call reports the errors.
                if !state.isLocked, !state.reports.isEmpty {
                    (reports, report) = (exchange(&state.reports, with: []), state.report)
                }
            }
            return try body(&state)
        }
    }

    /// Opens the log if necessary and runs `body`. The state has no log if the file does not exist
    /// and was not created.
    func withLog<Result>(
        creating: Bool = false, _ body: (inout State) throws(FileFailure) -> Result
    ) throws(SettingsFileError) -> Result {
        try withState { state throws(SettingsFileError) in
            if state.log == nil, !creating, let outage = state.outage, .now < outage.end { throw outage.error }
            do throws(FileFailure) {
                if state.log == nil {
                    do throws(FileFailure) { try open(creating: creating, &state) } catch {
                        // The caller reports the error.
                        if !creating { state.noteOutage(unavailable(error), isReported: false) }
                        throw error
                    }
                }
                return try body(&state)
            } catch { throw unavailable(error) }
        }
    }

    /// Shows the state to readers.
    func show(_ state: inout State) {
        let news = exchange(&state.news, with: nil)
        let old = shown.withLock { shown in
            switch news {
            case .all(let values): shown.values = values
            case .records(let records): shown.values.apply(records)
            case nil: break
            }
            (shown.generation, shown.process) = (state.changes.generation, state.process)
            shown.word = state.nameMayHaveMoved ? nil : state.log?.open.words.word
            (shown.readWord, shown.outage) = (state.log?.committed.rawValue ?? 0, state.outage?.error)
            shown.isDamaged = state.log?.lacksFlushedRecords ?? false
            return exchange(&shown.open, with: state.log?.open)
        }
        // Release the old file after unlocking, because this may be the last reference.
        withExtendedLifetime(old) {}
    }

    func withValues<Result>(_ body: (KeyTable) -> Result) -> Result { shown.withLock { body($0.values) } }

    func unavailable(_ failure: FileFailure) -> SettingsFileError {
        let subject = location.map { "the settings file \($0) cannot be used" } ?? "there is no folder for settings"
        return failure.isLimit
            ? SettingsFileError(.refused, reason: "\(subject): \(failure.reason)")
            : SettingsFileError(.unavailable, reason: "\(subject): \(failure.reason)\(recoverySuggestion)")
    }
}

// Reading.
extension SettingsFile {
    /// Whether no write can succeed, because of the place or the rights of this process.
    package var isReadOnly: Bool { fileLocation.isReadOnly }

    /// Whether the name refers to the file that readers use. Takes one system call.
    package var isInPlace: Bool { isSameFile(as: self) }

    /// Whether the name refers to the file that the other one has open.
    package func isSameFile(as other: SettingsFile) -> Bool {
        guard let open = other.shown.withLock({ $0.open }) else { return false }
        return (try? fileLocation.nameHasMoved(from: open)) == false
    }

    /// Why the file cannot be used now, while reading returns the last known values; `nil` if it
    /// can be used.
    package var outage: SettingsFileError? { shown.withLock { $0.outage } }

    /// Whether records of the open file that had been flushed are damaged or missing, until the
    /// next write.
    package var isDamaged: Bool { shown.withLock { $0.isDamaged } }

    /// Makes the next read look for the file if it could not be used at the last look.
    package func endPause() { if outage != nil { withState { $0.outage?.end = .now } } }

    package func bytes(forKey key: String) throws(SettingsFileError) -> [UInt8]? {
        let (isOpen, isCurrent, bytes) = shown.withLock { ($0.open != nil, $0.isCurrent, $0.values.value(forKey: key)) }
        if isCurrent { return bytes }
        // Other processes see a commit of this one before it is shown here, so waits for that.
        do throws(SettingsFileError) { try withLog { state throws(FileFailure) in try catchUp(&state) } } catch {
            // Known values stay.
            guard isOpen else { throw error }
        }
        return withValues { $0.value(forKey: key) }
    }

    /// The value at `knownGeneration`.
    package func knownBytes(forKey key: String) -> [UInt8]? { withValues { $0.value(forKey: key) } }

    /// The generation of the values that this process has.
    package var knownGeneration: UInt64 { shown.withLock { $0.generation } }

    /// Returns the keys. Throws if the file cannot be used now.
    package func keys() throws(SettingsFileError) -> [String] {
        endPause()
        try withLog { state throws(FileFailure) in try catchUp(&state) }
        if let outage { throw outage }
        return withValues { $0.keys }
    }

    /// The generation of the values that this process has, which is marked if they may have changed
    /// since. The next generation has another number, so the values are the same for as long as
    /// this is. Takes one system call if there is no file, and else none.
    package var generation: UInt64 {
        let (isOpen, generation, isCurrent) = shown.withLock { ($0.open != nil, $0.generation, $0.isCurrent) }
        return isCurrent || !isOpen && File.isMissing(fileLocation.path) ? generation : generation | Self.changeMark
    }

    private static let changeMark: UInt64 = 1 << 63

    package func changes(since generation: UInt64) throws(SettingsFileError) -> (keys: [String]?, generation: UInt64) {
        try withLog { state throws(FileFailure) in
            try catchUp(&state)
            return (state.changes.take(since: generation & ~Self.changeMark), state.changes.generation)
        }
    }

    package func watch(_ onChange: (@Sendable () -> Void)?) {
        let new = onChange.map { onChange in
            FileWatch { [fileLocation] in
                fileLocation.place
            } hasMoved: { [weak self] in
                guard let self else { return false }
                let (open, isKnown) = shown.withLock { ($0.open, $0.word != nil) }
                return open != nil && !isKnown || (try? fileLocation.nameHasMoved(from: open)) != false
            } onChange: { [weak self] in
                guard let self else { return }
                withState { state in
                    state.nameMayHaveMoved = state.log != nil
                    state.outage?.end = .now
                }
                // Another program that has truncated the file most likely writes it again at once,
                // and the next event reports that. Until then, an access to the mapping raises
                // SIGBUS.
                if (try? shown.withLock { $0.open }?.file.status().size) != 0 { onChange() }
            }
        }
        // Release the old watch after unlocking, because its deinit may run code of the program.
        let old = withState { state in
            if let failure = new?.failure, !exchange(&state.hasReportedWatchFailure, with: true) {
                state.reports.append(
                    SettingsFileError(
                        .unavailable,
                        reason: "the system cannot report changes by other processes: \(failure.reason)"))
            }
            return exchange(&state.watch, with: new)
        }
        withExtendedLifetime(old) {}
    }
}

extension SettingsFile: CustomReflectable {
    /// Empty, so that `dump` shows no stored value.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
