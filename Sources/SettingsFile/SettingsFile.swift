// The settings file
// =================
//
// A settings file is a log. A header comes first, then one record for each commit, then zeros. Each
// record has a checksum that covers the checksum of the record before it, so a record is valid only
// in its place. RecordFormat.swift describes the bytes. `FileLog` is one open file, `FileIndex`
// knows where the last value of each key is, and `SettingsFileLocation` finds, creates and replaces
// files.
//
// Append
// ------
// `beginWrite` locks the file (`flock`), makes sure that the name still means this file, and reads
// what other processes wrote. `commit` writes one record with one call. Zeros for the word behind
// the record are there before the record is. A write that fails is erased. `endWrite` unlocks the
// file.
//
// Read on
// -------
// The file is mapped, one page of it is touched: a reader looks at the word where the next record
// goes. Zero means that nothing has changed, which takes no system call and no lock of the file.
// `ReadSnapshot` holds what this needs. It is published after a commit, not after each access. If
// something is there, `catchUp` reads the new records and applies them to the index. A record that
// is not complete stays unread: its writer may be in the middle of the call.
//
// Compaction and the seal
// -----------------------
// When old values take more room than live ones, the process that writes makes a new file under a
// temporary name, flushes it, appends a seal to the old file, and renames the new file into place.
// The seal tells all processes that have the old file open to look at the name again. If the writer
// dies between seal and rename, the next one that locks the file takes the seal back. Only the
// process that has the temporary file locked may rename it, and only while it has the old file
// locked, so no commit is lost between two files.
//
// Repair
// ------
// Bytes behind the last valid record are damage, or a write that never finished. A process that can
// lock the file copies them aside under a name that ends in `.damaged-` and their checksum, and
// replaces the file. Where the folder cannot be written, it erases an unfinished record and leaves
// everything else as it is. Records that disappear after they were read are a loss: every value
// counts as changed, and the error says so.
//
// Flushes
// -------
// One caller flushes for all that wait. The system reports a failed flush once to each open file
// and then treats the lost pages as written. So a flush by a process that opened the file later
// proves nothing about earlier records. Before such a flush counts, the records are read back from
// the disk where the system allows that. Otherwise the file is replaced by a new one, whose flushes
// this process has all seen. After a failed flush the file is replaced as well, or its records are
// written again.
//
// Forks
// -----
// A lock of a file belongs to the open file description, which a child shares with its parent. So a
// child closes inherited descriptors and opens the file when it needs it: `State.leaveParent`. The
// locks of this class are held while the process is forked, so the child finds the state whole.
//
// The table of locks is in SuiteCore.swift. Here: `flushing`, then `state`, then `snapshot`.

/// Settings in a file of this library's own format, which any number of processes and threads may use at once.
///
/// The file is a log: each commit is one record behind the last one, whole or not there. Reading
/// needs no file lock and, until another process writes, no system call. Writers lock the file, and
/// the system releases the lock of a process that dies.
///
/// - Important: Replace such a file by renaming another one over it. To write over it in place, or to cut it short, may end the
///   processes that have it open.
package final class SettingsFile: Sendable {
    package let location: String?
    let place: SettingsFileLocation
    /// What else one can do where the user's own folder cannot be used.
    private let waysOut: String
    let state = Locked(State())
    private let snapshot = Locked(ReadSnapshot())
    /// The flush that is under way.
    let flushing = Locked<Flush?>(nil)
    private let locks: Locks

    struct State {
        /// The file that is open in this process.
        enum OpenFile {
            case none
            case unlocked(FileLog)
            /// A writer of this process has its lock.
            case locked(FileLog)
        }

        private(set) var openFile = OpenFile.none
        /// Whether the name may mean another file by now, other than after a seal.
        var doubtsName = false
        var changes = ExternalChanges()
        /// How often records that were known here were found to be gone.
        private(set) var losses = 0
        /// Errors that are to be reported when no lock is held.
        var reports: [SettingsFileError] = []
        var report: @Sendable (SettingsFileError) -> Void = { _ in }
        var watch: FileWatch?
        var hasReportedRefusal = false
        /// The snapshot that readers see; `nil` to publish it in any case.
        fileprivate var published: ReadSnapshot? = ReadSnapshot()

        var log: FileLog? {
            switch openFile {
            case .none: nil
            case .unlocked(let log), .locked(let log): log
            }
        }

        var isLocked: Bool {
            if case .locked = openFile { true } else { false }
        }

        /// Notes whether a writer of this process has the lock of the file.
        mutating func noteLock(_ isLocked: Bool) {
            guard let log else { return }
            openFile = isLocked ? .locked(log) : .unlocked(log)
        }

        /// Goes on with another file. A writer that has the lock of the old one has that of the new one.
        mutating func use(_ log: FileLog?) {
            openFile = log.map { isLocked ? .locked($0) : .unlocked($0) } ?? .none
        }

        /// Runs `body`, which may find out that records are gone that were known here.
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

        /// In a process that was forked: opens the file again, since the descriptor and its lock are the parent's.
        mutating func leaveParent() {
            guard let process = log?.file.process, process != Forks.count else { return }
            openFile = .none
            changes.add(nil)
        }
    }

    /// Creates a backend on a file, which is made when it is first written.
    ///
    /// - Parameters:
    ///   - path: An absolute path. Missing folders are made, for the user alone.
    package convenience init(path: String) {
        self.init(path: path, patience: .seconds(2))
    }

    /// A backend on a file in the user's own folder; a missing path if there is none, and all is unavailable.
    package convenience init(namedPath path: String?) {
        self.init(
            path: path, patience: .seconds(2),
            waysOut: "; set XDG_CONFIG_HOME to a folder, or use DefaultsSuite(file:) or DefaultsSuite.inMemory()")
    }

    /// The limits of the format, in bytes.
    package static var keyLimit: Int { RecordFormat.keyLimit }
    package static var valueLimit: Int { RecordFormat.valueLimit }

    /// Returns why a file of that name cannot be a settings file, or `nil` if it can.
    package static func problem(ofName name: String) -> String? { SettingsFileLocation.problem(ofName: name) }

    /// - Parameter sizeLimit: The same in all processes that use the file.
    init(
        path: String?, patience: Duration, sizeLimit: Int = RecordFormat.sizeLimit,
        waysOut: String = ""
    ) {
        place = SettingsFileLocation(path: path ?? "", sizeLimit: sizeLimit, patience: patience)
        location = path
        self.waysOut = waysOut
        locks = Locks(flushing: flushing, state: state, snapshot: snapshot)
        Forks.hold(locks, .backend)
    }

    deinit { Forks.release(locks) }

    /// The backend's locks while the process is forked, in the order in which they are taken.
    private final class Locks: ForkLock {
        let flushing: Locked<Flush?>
        let state: Locked<State>
        let snapshot: Locked<ReadSnapshot>

        init(flushing: Locked<Flush?>, state: Locked<State>, snapshot: Locked<ReadSnapshot>) {
            (self.flushing, self.state, self.snapshot) = (flushing, state, snapshot)
        }

        func lock() {
            flushing.lock()
            state.lock()
            snapshot.lock()
        }

        func unlock() {
            snapshot.unlock()
            state.unlock()
            flushing.unlock()
        }

        /// Makes the next `get` of the child open the file again.
        func unlockInChild() {
            snapshot.withHeldLock { $0.nameMayHaveMoved = true }
            state.withHeldLock { $0.published = nil }
            unlock()
        }
    }
}

// Reading.
extension SettingsFile {
    package func bytes(forKey key: String) throws(SettingsFileError) -> ArraySlice<UInt8>? {
        try withLog { state throws(FileFailure) in try state.log?.bytes(forKey: key) }
    }

    package func keys() throws(SettingsFileError) -> [String] {
        try withLog { state throws(FileFailure) in
            try catchUp(&state)
            return state.log?.index.keys ?? []
        }
    }

    package var generation: UInt64? { snapshot.withLock { $0.currentGeneration } }

    /// Runs `body`, and publishes the snapshot for readers if it has changed.
    func withState<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try state.withLock { state throws(Failure) in
            defer { publishSnapshot(of: &state) }
            return try body(&state)
        }
    }

    /// A commit changes the snapshot once. The rest of a write mostly leaves it as it is.
    private func publishSnapshot(of state: inout State) {
        let new = ReadSnapshot(of: state.log, generation: state.changes.generation, nameMayHaveMoved: state.doubtsName)
        guard state.published != new else { return }
        state.published = new
        // The old snapshot may hold the last reference to a mapping of a file that was replaced.
        let old = snapshot.withLock { snapshot in
            defer { snapshot = new }
            return snapshot
        }
        withExtendedLifetime(old) {}
    }

    package func changes(since generation: UInt64) throws(SettingsFileError) -> (keys: [String]?, generation: UInt64) {
        try withLog { state throws(FileFailure) in
            try catchUp(&state)
            return (state.changes.take(since: generation), state.changes.generation)
        }
    }

    /// Runs `body` with the log opened, if there is a file or one shall and can be made.
    func withLog<Result>(
        making: Bool = false, _ body: (inout State) throws(FileFailure) -> Result
    ) throws(SettingsFileError) -> Result {
        var hasReports = false
        defer { if hasReports { deliverReports() } }
        do throws(FileFailure) {
            return try withState { state throws(FileFailure) in
                defer { hasReports = !state.reports.isEmpty }
                state.leaveParent()
                if state.log == nil {
                    let log = try place.open(making: making, reports: &state.reports)
                    state.use(log)
                    // Readers that found no file before must read what it holds.
                    if let log, log.end > RecordFormat.headerLength { state.changes.add(nil) }
                }
                return try body(&state)
            }
        } catch {
            throw unavailable(error)
        }
    }

    /// Reads what others have written, in this file and in one that has taken its place.
    func catchUp(_ state: inout State) throws(FileFailure) {
        if let log = state.log, log.hasMore {
            try repair(&state) { state, log throws(FileFailure) in try readOn(log, &state, isLookedAt: true) }
        }
        // A writer stays with the file that it has the lock of.
        guard let log = state.log, log.isSealed || state.doubtsName, !state.isLocked else { return }
        if try place.isElsewhere(log) { try reopen(&state, making: false) }
        state.doubtsName = false
    }

    /// Opens the file that now has the name. If that fails, the next call tries again.
    func reopen(_ state: inout State, making: Bool) throws(FileFailure) {
        state.doubtsName = true
        state.use(try place.open(making: making, reports: &state.reports))
        state.doubtsName = false
        state.changes.add(nil)
    }

    /// Replaces the file if that is due, also when it is asked again with the lock, and no other process has that: it is writing what is
    /// only half there, or will do this in its turn.
    func repair(
        _ state: inout State, if isDue: (inout State, FileLog) throws(FileFailure) -> Bool
    ) throws(FileFailure) {
        guard let log = state.log, try isDue(&state, log) else { return }
        if state.isLocked {
            // What is good can be read; a writer cannot go on.
            if try canRepair(log, &state, isDue) { try repair(&state) }
        } else if try log.file.tryLock() {
            defer { unlock(&state, log.file) }
            if try canRepair(log, &state, isDue) { try? repair(&state) }
        }
    }

    /// Whether the file is still due for a repair now that it is locked.
    private func canRepair(
        _ log: FileLog, _ state: inout State, _ isDue: (inout State, FileLog) throws(FileFailure) -> Bool
    ) throws(FileFailure) -> Bool {
        guard try isDue(&state, log), log.isWritable else { return false }
        return try !place.isElsewhere(log)
    }

    /// Releases the lock of the file, and of a successor, which comes with its lock.
    func unlock(_ state: inout State, _ file: File) {
        file.unlock()
        if let log = state.log, log.file !== file { log.file.unlock() }
        state.noteLock(false)
    }

    /// Applies what was added; whether it stopped at something that is neither a record nor nothing.
    ///
    /// - Parameter isLookedAt: Whether something was just seen to be there, through the window.
    func readOn(
        _ log: FileLog, _ state: inout State, isLookedAt: Bool = false
    ) throws(FileFailure) -> Bool {
        let end = log.end
        let progress: FileLog.Progress
        do throws(FileFailure) {
            progress = try log.readOn(isLookedAt: isLookedAt)
        } catch {
            if log.end != end { state.changes.add(nil) }
            throw error
        }
        if !progress.changed.isEmpty { state.changes.add(progress.changed) }
        return progress.isStopped
    }

    /// Replaces the file after copying damage aside, and tells everybody if some of what was known is lost.
    func repair(_ state: inout State) throws(FileFailure) {
        guard let log = state.log else { return }
        var reports = state.reports
        defer { state.reports = reports }
        let successor = try state.noticingLoss(of: log) { () throws(FileFailure) in
            do throws(FileFailure) { return try place.repair(log, reports: &reports) } catch {
                // Room may appear at any moment, and the file must not fill it before it shrinks.
                if !error.isDiskFull { log.noteFailedReplacement() }
                throw error
            }
        }
        state.use(successor)
    }

    package func watch(_ news: (@Sendable (_ keys: [String]?) -> Void)?) {
        let watch = news.map { news in
            place.watch { [weak self] isName in
                if isName { self?.withState { $0.doubtsName = true } }
                news(nil)
            }
        }
        // Release the old watch after unlocking, because its deinit may run code of the program.
        var before: FileWatch?
        state.withLock { state in
            (before, state.watch) = (state.watch, watch)
            guard let refusal = watch?.refusal, !state.hasReportedRefusal else { return }
            state.hasReportedRefusal = true
            state.reports.append(
                SettingsFileError(
                    .unavailable,
                    reason:
                        "the system does not tell of changes by other processes, so they are looked for ten times a second:"
                        + " \(refusal.reason)"))
        }
        withExtendedLifetime(before) { deliverReports() }
    }

    package func attach(report: @escaping @Sendable (SettingsFileError) -> Void) {
        // Release the old closure after unlocking: it may hold objects of the program.
        let old = state.withLock { state in
            defer { state.report = report }
            return state.report
        }
        withExtendedLifetime(old) {}
    }

    func deliverReports() {
        let (reports, report) = state.withLock {
            state -> ([SettingsFileError], @Sendable (SettingsFileError) -> Void) in
            // Not while other processes wait for this one: the next call delivers them.
            guard !state.isLocked else { return ([], state.report) }
            defer { state.reports = [] }
            return (state.reports, state.report)
        }
        for error in reports { report(error) }
    }

    func unavailable(_ failure: FileFailure) -> SettingsFileError {
        let subject = location.map { "the settings file \($0) cannot be used" } ?? "there is no place for settings"
        return failure.isLimit
            ? SettingsFileError(.refused, reason: "\(subject): \(failure.reason)")
            : SettingsFileError(.unavailable, reason: "\(subject): \(failure.reason)\(waysOut)")
    }
}

extension SettingsFile: CustomReflectable {
    /// Empty: what is stored never shows in a `dump`.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
