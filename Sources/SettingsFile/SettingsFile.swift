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
// The file is a log with one record for each commit (RecordFormat.swift). `FileLog` is one open
// file with its values; `SettingsFileLocation` finds, creates and replaces files.
//
// Committed word: a writer first writes a record behind the committed end, then the word. A reader
// compares the word, through a mapping of the first page, with the one up to which it has read, and
// reads the records in between if they differ. The word also says that another file is about to
// get the name. Then the reader looks the name up.
//
// No process reads behind the committed end. There may be a record whose writer died, or one whose
// word a power cut lost; no caller knows that it was stored. A process that opens the file cuts
// that off, unless a writer is at work. If committed records are damaged, the bytes are first
// copied to a file beside this one.
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
// opens it, and watches its folder.
//
// Unusable files: a process that cannot open the file that has the name now keeps the values it
// knows and reports that once. Writes fail. If a folder or a link is missing, the suite counts as
// empty only after a second look, a second later.
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
        /// The committed end of the file, and its value when all records were read; `nil` if the
        /// name may refer to another file now.
        private let word: HeaderWords.Word?
        private let readWord: UInt64
        /// Whether the name is known to refer to this file.
        let isNameKnown: Bool
        let isInOutage: Bool
        /// The process that opened the file, as counted by ``Forks/count``.
        private let process: Int

        init(
            log: FileLog? = nil, generation: UInt64 = 1, nameMayHaveMoved: Bool = false, isInOutage: Bool = false
        ) {
            self.isInOutage = isInOutage
            (self.log, self.generation, isNameKnown) = (log, generation, !nameMayHaveMoved)
            word = nameMayHaveMoved ? nil : log?.words.word
            readWord = log?.committed.rawValue ?? 0
            process = log?.file.process ?? 0
        }

        /// The generation, or the next one if something may have changed; `nil` if no file is open.
        var currentGeneration: UInt64? {
            // Reads the log's page directly, because each `get` does this, and counting references
            // to the log would take longer than the rest.
            if let word, word.value ^ readWord | UInt64(process ^ Forks.count) == 0 { return generation }
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
        var changes = Changes()
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
        fileprivate var watch: FileWatch?
        /// The process that used this last, as counted by ``Forks/count``.
        private var process = Forks.count
        var hasReportedWatchFailure = false
        /// Why the last compaction failed, which was reported; `nil` after a success.
        var compactionFailure: String?
        /// Why the file of the path cannot be used, while the values of the open one stay in use.
        var outage: SettingsFileError?
        /// When the folder of the file, or a link to it, was first found missing.
        private var missingSince: MonotonicTime?
        /// When to look again for a file that cannot be used, and the pause until then.
        var nextLook = MonotonicTime.now
        private var pause = Duration.zero

        /// Records that the name refers to the open file, which can be used.
        mutating func noteUse() {
            (nameMayHaveMoved, outage, missingSince, pause) = (false, nil, nil, .zero)
        }

        /// Records that the file cannot be used. The next look is after a longer pause.
        mutating func noteOutage(_ error: SettingsFileError, isReported: Bool) {
            nameMayHaveMoved = true
            if outage == nil, isReported { reports.append(error) }
            outage = isReported ? error : outage ?? error
            pause = min(max(pause * 2, .milliseconds(50)), .seconds(2))
            nextLook = .now + pause
        }

        /// Records that the file of the commits so far is gone.
        mutating func noteMissingFile() {
            guard commits > flushedCommits else { return }
            flushedCommits = commits
            hasLostCommits = true
        }

        /// Whether a missing folder or link may return, because the first call for it was less than
        /// a second ago: a program that replaces it may remove it first.
        mutating func mayReturn() -> Bool {
            let start = missingSince ?? .now
            missingSince = start
            return .now < start + .seconds(1)
        }

        /// In a forked child, drops what belongs to the parent.
        mutating func leaveParent() {
            guard process != Forks.count else { return }
            process = Forks.count
            (log, isLocked) = (nil, false)
            noteUse()
            // The parent flushes its commits.
            flushedCommits = commits
            changes.add(nil)
        }
    }

    /// Creates the object of a file. The first write creates the file.
    ///
    /// - Parameter path: An absolute path. Missing folders are created, accessible to the user
    ///   only.
    package convenience init(path: String) { self.init(path: path, timeout: .seconds(2)) }

    /// Creates the object of a file in the user's own folder.
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

    /// Returns a path without the components `.` and `..` and without empty ones. Does not follow
    /// links.
    package static func normalized(_ path: String) -> String { SettingsFileLocation.normalized(path) }

    /// Creates the object of a file.
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

    /// Whether the name refers to the file that the other one has open.
    package func isSameFile(as other: SettingsFile) -> Bool {
        guard let log = other.view.withLock({ $0.log }) else { return false }
        return (try? fileLocation.nameHasMoved(from: log)) == false
    }

    package func bytes(forKey key: String) throws(SettingsFileError) -> [UInt8]? {
        if let log = view.withLock({ $0.log }), log.file.process == Forks.count { return log.bytes(forKey: key) }
        return try withLog { state in state.log?.bytes(forKey: key) }
    }

    /// Why the file cannot be used now, while reading returns the last known values; `nil` if it
    /// can be used.
    package var outage: SettingsFileError? {
        view.withLock({ $0.isInOutage }) ? state.withLock { $0.outage } : nil
    }

    /// Makes the next read look for the file if it could not be used at the last look.
    package func endPause() {
        if view.withLock({ $0.isInOutage }) { state.withLock { $0.nextLook = .now } }
    }

    /// Returns the keys. Throws if the file cannot be used now.
    package func keys() throws(SettingsFileError) -> [String] {
        endPause()
        let keys = try withLog { state throws(FileFailure) -> Result<[String], SettingsFileError> in
            try catchUp(&state)
            return state.outage.map { .failure($0) } ?? .success(state.log?.keys ?? [])
        }
        return try keys.get()
    }

    package var generation: UInt64? { view.withLock { $0.currentGeneration } ?? generationWithoutFile }

    /// The generation while there is no file, or the next one if there may be one now; `nil` if the
    /// place cannot be used. Takes one system call.
    private var generationWithoutFile: UInt64? {
        let generation = view.withLock { $0.log == nil && !$0.isInOutage ? $0.generation : nil }
        return generation.map { File.isMissing(fileLocation.path) ? $0 : $0 &+ 1 }
    }

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
                    log: state.log, generation: state.changes.generation, nameMayHaveMoved: state.nameMayHaveMoved,
                    isInOutage: state.outage != nil)
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
        defer { if hasReports { deliverReports() } }
        return try withState { state throws(SettingsFileError) in
            defer { hasReports = !state.reports.isEmpty }
            state.leaveParent()
            if state.log == nil, !creating, let outage = state.outage, .now < state.nextLook { throw outage }
            do throws(FileFailure) {
                if state.log == nil { try open(creating: creating, &state) }
                return try body(&state)
            } catch { throw unavailable(error) }
        }
    }

    private func open(creating: Bool, _ state: inout State) throws(FileFailure) {
        let log: FileLog?
        do throws(FileFailure) { log = try fileLocation.open(creating: creating) } catch {
            // The caller reports the error.
            if !creating { state.noteOutage(unavailable(error), isReported: false) }
            throw error
        }
        state.noteUse()
        try use(log, &state)
        // Readers that found no file before must read the contents of this one.
        if let log, log.end > RecordFormat.headerLength { state.changes.add(nil) }
    }

    /// Reads the records that other processes have written, in this file and in a file that
    /// replaced it.
    func catchUp(_ state: inout State) throws(FileFailure) {
        guard let log = state.log else { return }
        // Loaded first: what is read after that may be newer, but never older.
        let committed = log.words.committed
        if state.isLocked {
            guard let committed, !committed.isReplaced, log.isSettled else { return try settle(log, &state) }
            if committed != log.committed { try readRecords(of: log, upTo: committed, &state) }
            return
        }
        if committed == log.committed, !state.nameMayHaveMoved { return }
        if state.outage != nil, .now < state.nextLook { return }
        do throws(FileFailure) {
            guard let committed else { return try reopen(&state, creating: false) }
            if state.nameMayHaveMoved || committed.isReplaced, try fileLocation.nameHasMoved(from: log) {
                return try reopen(&state, creating: false)
            }
            do throws(FileFailure) { try readRecords(of: log, upTo: committed, &state) } catch {
                guard error.isReplaced else { throw error }
                return try reopen(&state, creating: false)
            }
            state.noteUse()
        } catch {
            // The open file has the last values that this process knows. What is missing is either
            // there again in a second, or an empty suite.
            state.noteOutage(unavailable(error), isReported: !error.isMissing)
        }
    }

    private func readRecords(
        of log: FileLog, upTo committed: CommittedEnd, _ state: inout State
    ) throws(FileFailure) {
        let changed = try log.readRecords(upTo: committed, sizeLimit: fileLocation.sizeLimit)
        if !changed.isEmpty { state.changes.add(changed) }
    }

    /// Cuts off what a dead writer or a power cut left behind the committed end, and takes back the
    /// end if committed records are missing. The caller holds the file lock.
    private func settle(_ log: FileLog, _ state: inout State) throws(FileFailure) {
        guard let committed = log.words.committed else { throw FileFailure.isOverwritten }
        let flushed = log.words.flushed
        let (end, rest) = try log.scan(upTo: committed.limit(flushed: flushed), sizeLimit: fileLocation.sizeLimit)
        // What is behind the committed end was never read, so no value is missing without it.
        var reason: String?
        if max(UInt64(committed.end), flushed) > UInt64(end) {
            reason = try fileLocation.setAside(rest, from: end, flushed: flushed)
        }
        let changed = try log.settle(at: end, cuts: !rest.isEmpty)
        if !changed.isEmpty { state.changes.add(changed) }
        if let reason { state.reports.append(SettingsFileError(.unreadable, reason: reason)) }
    }

    /// Settles a file that was just opened, unless a writer is at work.
    private func settleIfIdle(_ log: FileLog, _ state: inout State) throws(FileFailure) {
        guard !log.isSettled, log.isWritable else { return }
        let deadline = MonotonicTime.now + .milliseconds(20)
        while try !log.file.tryLock() {
            // Its holder is most likely about to commit a record, or to rename another file.
            guard .now < deadline else { return }
            SystemClock.sleep(microseconds: 200)
        }
        defer { log.file.unlock() }
        guard try !fileLocation.nameHasMoved(from: log) else {
            state.nameMayHaveMoved = true
            return
        }
        do throws(FileFailure) { try settle(log, &state) } catch {
            // The valid records can still be read.
            state.reports.append(unavailable(error))
        }
    }

    /// Sets the open file, which may be in another folder than the last one.
    private func use(_ log: FileLog?, _ state: inout State) throws(FileFailure) {
        if let log { try settleIfIdle(log, &state) }
        state.log = log
        state.watch?.renew()
    }

    /// Opens the file that has the name now. If that fails, the next call tries again.
    func reopen(_ state: inout State, creating: Bool) throws(FileFailure) {
        state.nameMayHaveMoved = true
        let old = state.log
        let log = try fileLocation.open(creating: creating)
        if log == nil, let old {
            guard try fileLocation.nameHasMoved(from: old) else {
                throw FileFailure("another program has emptied it; the last known values stay in use")
            }
            if try fileLocation.hasLostWay(to: old), state.mayReturn() { throw FileFailure.isGone }
        }
        state.noteUse()
        state.changes.add(nil)
        try use(log, &state)
        // A process that replaces a file copies its records to a file of a later epoch. Any other
        // file comes from another program and may lack them.
        if let old, log.map({ $0.epoch <= old.epoch && !$0.contains(old) }) ?? true { state.noteMissingFile() }
    }
}

extension SettingsFile {
    package func watch(_ onChange: (@Sendable () -> Void)?) {
        let new = onChange.map { onChange in
            FileWatch(fileLocation) { [weak self] in
                self?.hasMoved == true
            } onChange: { [weak self] in
                self?.withState { ($0.nameMayHaveMoved, $0.nextLook) = (true, .now) }
                if self?.isEmptied == false { onChange() }
            }
        }
        // Release the old watch after unlocking, because its deinit may run code of the program.
        let old = state.withLock { state in
            let old = exchange(&state.watch, with: new)
            guard let failure = new?.failure, !state.hasReportedWatchFailure else { return old }
            state.hasReportedWatchFailure = true
            state.reports.append(
                SettingsFileError(
                    .unavailable,
                    reason: "the system cannot report changes by other processes: \(failure.reason)"))
            return old
        }
        withExtendedLifetime(old) { deliverReports() }
    }

    package func attach(report: @escaping @Sendable (SettingsFileError) -> Void) {
        // Release the old closure after unlocking, because it may hold objects of the program.
        let old = state.withLock { exchange(&$0.report, with: report) }
        withExtendedLifetime(old) {}
    }

    /// Whether the name may refer to another file than the open one, or to a usable one again.
    private var hasMoved: Bool {
        let (log, isKnown) = view.withLock { ($0.log, $0.isNameKnown) }
        return log != nil && !isKnown || (try? fileLocation.nameHasMoved(from: log)) != false
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
