// A commit
// ========
//
//     writer                           file                            readers
//     ------                           ----                            -------
//     beginWrite: flock                ..|record n|                    values up to `committed`
//       look up the name, read records
//     commit: write                    ..|record n|record n + 1|
//             fence, write the word    committed moves           --->  compare, read record n + 1
//     endWrite: unlock
//
// If a write fails, the file is cut off at the committed end again. If the writer dies before it
// writes the word, the next record is written over its own.

extension SettingsFile {
    /// Waits for the file lock and reads the records that other processes have written.
    ///
    /// Balance each call that returns with ``endWrite()``. A read-only file is not locked;
    /// ``commit(_:)`` then throws an error that says why.
    ///
    /// - Parameter deadline: When to stop waiting; `nil` for the timeout from now on.
    /// - Returns: The generation. No other process changes it until the write ends.
    @discardableResult
    package func beginWrite(until deadline: MonotonicTime? = nil) throws(SettingsFileError) -> UInt64? {
        var deadline = deadline
        var pause: UInt32 = 20
        while true {
            if let generation = try lock() { return generation }
            let now = MonotonicTime.now
            let end = deadline ?? now + fileLocation.timeout
            guard try !isFutile(now, until: end) else {
                throw SettingsFileError(
                    .timedOut,
                    reason: "another process has kept \(fileLocation.path) locked for more than"
                        + " \(fileLocation.timeout); it may be suspended, or waiting for a slow or frozen file system")
            }
            deadline = end
            SystemClock.sleep(microseconds: pause)
            // Keep the pause short, because a busy process releases the lock for only a few
            // microseconds.
            pause = min(pause * 2, 200)
        }
    }

    /// Whether other processes kept the file locked until the deadline, or did so within the last
    /// second for a writer of this process and have not written since. The lock is then most likely
    /// held by a stopped process.
    private func isFutile(_ now: MonotonicTime, until deadline: MonotonicTime) throws(SettingsFileError) -> Bool {
        let isOver = !(now < deadline)
        return try withLog { state throws(FileFailure) in
            guard isOver || state.futileWait != nil else { return false }
            try catchUp(&state)
            let generation = state.changes.generation
            if let futile = state.futileWait, now < futile.until, futile.generation == generation { return true }
            state.futileWait = isOver ? (generation, now + .seconds(1)) : nil
            return isOver
        }
    }

    /// Locks the file that has the name. Returns the generation, or `nil` if another process holds
    /// the lock, or if the file is missing and may be there again in a second.
    private func lock() throws(SettingsFileError) -> UInt64? {
        try withLog(creating: true) { state throws(FileFailure) in
            for _ in 0..<100 {
                // The permissions, or those of the file system, may have been changed since.
                guard let open = state.log?.open, open.isWritable || fileLocation.isWritable else {
                    return state.changes.generation
                }
                if open.isWritable {
                    do throws(FileFailure) {
                        state.isLocked = try open.file.tryLock()
                        if try !fileLocation.nameHasMoved(from: open) {
                            guard state.isLocked else { return nil }
                            state.noteUse()
                            try catchUp(&state)
                            return state.changes.generation
                        }
                    } catch {
                        unlock(&state)
                        guard error.isReplaced else { throw error }
                    }
                    unlock(&state)
                }
                // The name refers to another file by now, and a write to this one would be lost.
                guard try self.open(creating: true, &state) else { return nil }
            }
            return nil
        }
    }

    func unlock(_ state: inout State) {
        if exchange(&state.isLocked, with: false) { state.log?.open.file.unlock() }
    }

    /// Releases the file lock.
    package func endWrite() { withState(isShown: false) { unlock(&$0) } }

    /// Appends a commit, completely or not at all. The caller must have called ``beginWrite()``,
    /// and know the changes up to the generation that it has returned.
    ///
    /// - Returns: The generation that the commit begins.
    @discardableResult
    package func commit(_ record: inout RecordWriter) throws(SettingsFileError) -> UInt64 {
        try withLog { state throws(FileFailure) in
            guard let open = state.log?.open else {
                throw FileFailure("it does not exist, and its folder is not writable")
            }
            guard open.isWritable else { throw FileFailure.isReadOnly }
            guard state.isLocked else {
                throw FileFailure(
                    "the write began before the file was created or the process was forked; try it again")
            }
            try makeRoom(for: record, &state)
            // Compaction has replaced the log.
            if let records = try state.log?.append(&record) {
                state.changes.add(commit: records.bytes, record.payload)
                state.news = .records(records)
            }
            state.commits += 1
            return state.changes.generation
        }
    }

    /// Compacts the file if a record makes that due. If compaction fails or would not help, the
    /// file may still grow up to its limit.
    private func makeRoom(for record: borrowing RecordWriter, _ state: inout State) throws(FileFailure) {
        let limit = fileLocation.sizeLimit
        let live = withValues { $0.live }
        func hasRoom(_ record: borrowing RecordWriter, _ log: Log?) -> Bool {
            let excess = (log?.end ?? 0) + record.length - limit
            guard excess > 0 else { return true }
            // A record that makes the values smaller may use the reserve, so that a full file can
            // be emptied.
            let edits = record.withBytes { Records(bytes: Array($0), payloads: [8..<$0.count]) }
            var values = withValues { $0 }
            values.apply(edits)
            return excess <= RecordFormat.reserve && values.live < live
        }
        let isDue = state.log?.isDueForCompaction(
            appending: record.length, to: live, keeping: RecordFormat.busySize, limit: limit)
        if isDue == true {
            do throws(FileFailure) { try compact(&state) } catch {
                guard !error.isReplaced, hasRoom(record, state.log),
                    try !fileLocation.nameHasMoved(from: state.log?.open)
                else { throw error }
                noteFailedCompaction(error, &state)
            }
        }
        guard hasRoom(record, state.log) else {
            throw FileFailure("it would be larger than \(limit >> 20) MiB", isLimit: true)
        }
    }

    /// Replaces the file by one without superseded values. The caller holds the file lock.
    func compact(_ state: inout State) throws(FileFailure) {
        guard let log = state.log else { return }
        show(&state)
        let edits = withValues { $0.edits }
        state.log = try fileLocation.replace(log, with: RecordFormat.file(epoch: log.open.epoch &+ 1, edits))
        state.compactionFailure = nil
    }

    /// Compacts the file under its lock, or opens the one that has the name now.
    ///
    /// - Returns: False if another process holds the lock.
    func compactAlone(_ state: inout State) throws(FileFailure) -> Bool {
        guard let log = state.log else { return true }
        let isWriter = state.isLocked
        if !isWriter {
            guard try log.open.file.tryLock() else { return false }
            state.isLocked = true
        }
        defer { if !isWriter { unlock(&state) } }
        if try fileLocation.nameHasMoved(from: log.open) {
            // A writer keeps the file whose lock it holds.
            guard !isWriter else { throw FileFailure.isLost }
            unlock(&state)
            try open(creating: false, &state)
        } else {
            try catchUp(&state)
            try compact(&state)
        }
        return true
    }

    /// Postpones the next attempt, and reports once why compaction fails, because the file may grow
    /// until writes fail. On a full disk, writes fail at once, and space may become free at any
    /// moment.
    func noteFailedCompaction(_ error: FileFailure, _ state: inout State) {
        guard !error.isReplaced, !error.isDiskFull else { return }
        state.log?.noteFailedCompaction()
        guard state.compactionFailure != error.reason else { return }
        state.compactionFailure = error.reason
        let problem = "cannot be replaced by a compacted one in its folder, so it may grow until writes fail"
        state.reports.append(
            SettingsFileError(
                .unavailable, reason: "the settings file \(fileLocation.path) \(problem): \(error.reason)"))
    }
}
