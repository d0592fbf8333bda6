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
// writes the word, the next record is written over its own, or a process that opens the file cuts
// that off.

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
            guard isOver || state.failedWait != nil else { return false }
            try catchUp(&state)
            let generation = state.changes.generation
            if let failed = state.failedWait, now < failed.until, failed.generation == generation { return true }
            state.failedWait = isOver ? (generation, now + .seconds(1)) : nil
            return isOver
        }
    }

    /// Locks the file that has the name. Returns the generation, or `nil` if another process holds
    /// the lock.
    private func lock() throws(SettingsFileError) -> UInt64? {
        try withLog(creating: true) { state throws(FileFailure) in
            for _ in 0..<100 {
                guard let log = state.log else { return state.changes.generation }
                guard log.isWritable else {
                    // Its permissions, or those of its file system, may have been changed since.
                    guard fileLocation.isWritable else { return state.changes.generation }
                    guard try find(&state) else { return nil }
                    continue
                }
                if try log.file.tryLock() {
                    state.isLocked = true
                    do throws(FileFailure) {
                        if try !fileLocation.nameHasMoved(from: log) {
                            state.noteUse()
                            try catchUp(&state)
                            return state.changes.generation
                        }
                    } catch {
                        unlock(&state, log.file)
                        guard error.isReplaced else { throw error }
                        guard try find(&state) else { return nil }
                        continue
                    }
                    unlock(&state, log.file)
                } else if try !fileLocation.nameHasMoved(from: log) {
                    return nil
                }
                // The name refers to another file by now, and a write to this one would be lost.
                guard try find(&state) else { return nil }
            }
            return nil
        }
    }

    /// Opens the file that has the name now, or creates it. Returns `false` if its folder or a link
    /// to it is missing and may return within a second.
    private func find(_ state: inout State) throws(FileFailure) -> Bool {
        if let log = state.log, try fileLocation.hasLostWay(to: log), state.mayReturn() { return false }
        try reopen(&state, creating: true)
        return true
    }

    /// Releases the lock of the file, and of a replacement, which is created locked.
    func unlock(_ state: inout State, _ file: File) {
        file.unlock()
        if let log = state.log, log.file !== file { log.file.unlock() }
        state.isLocked = false
    }

    /// Releases the file lock.
    package func endWrite() {
        // Shows nothing to readers, because unlocking changes nothing that they see.
        let hasReports = state.withLock { state in
            if state.isLocked, let log = state.log { unlock(&state, log.file) }
            return !state.reports.isEmpty
        }
        if hasReports { deliverReports() }
    }

    /// Appends a commit, completely or not at all. The caller must have called ``beginWrite()``,
    /// and know the changes up to the generation that it has returned.
    ///
    /// - Returns: The generation that the commit begins.
    @discardableResult
    package func commit(_ record: inout RecordWriter) throws(SettingsFileError) -> UInt64 {
        try withLog { state throws(FileFailure) in
            guard let log = state.log else { throw FileFailure("it does not exist, and its folder is not writable") }
            guard log.isWritable else {
                let status = try log.file.status()
                throw FileFailure(
                    status.isOfThisUser
                        ? "it is read-only"
                        : "it is read-only for this process, because it \(status.ownership(of: fileLocation.path))")
            }
            guard state.isLocked else {
                throw FileFailure(
                    "the write began before the file was created or the process was forked; try it again")
            }
            try makeRoom(for: record, log, &state)
            // Compaction has replaced the log.
            if let bytes = try state.log?.append(&record) { state.changes.add(commit: bytes, record.payload) }
            state.commits += 1
            return state.changes.generation
        }
    }

    /// Compacts the file if a record makes that due. If compaction fails or would not help, the
    /// file may still grow up to its limit.
    private func makeRoom(
        for record: borrowing RecordWriter, _ log: FileLog, _ state: inout State
    ) throws(FileFailure) {
        let limit = fileLocation.sizeLimit
        // A record that makes the values smaller may use the reserve, so that a full file can be
        // emptied.
        func hasRoom(in log: FileLog, _ record: borrowing RecordWriter) -> Bool {
            let size = log.end + record.length
            return size <= limit || size <= limit + RecordFormat.reserve && log.shrinks(by: record)
        }
        if log.isDueForCompaction(appending: record.length, keeping: RecordFormat.busySize, limit: limit) {
            do throws(FileFailure) { try compact(&state) } catch {
                guard !error.isReplaced, hasRoom(in: log, record), try !fileLocation.nameHasMoved(from: log) else {
                    throw error
                }
                reportFailedCompaction(error, &state)
            }
        }
        guard let log = state.log, hasRoom(in: log, record) else {
            throw FileFailure("it would be larger than \(limit >> 20) MiB", isLimit: true)
        }
    }

    /// Replaces the file by one without superseded values. The caller holds the file lock.
    func compact(_ state: inout State) throws(FileFailure) {
        guard let log = state.log else { return }
        do throws(FileFailure) {
            state.log = try fileLocation.compact(log)
            state.compactionFailure = nil
        } catch {
            // Retry soon if the disk is full: space may become free at any moment.
            if !error.isDiskFull { log.noteFailedCompaction() }
            throw error
        }
    }

    /// Reports once why compaction fails, because the file may grow until writes fail. On a full
    /// disk, writes fail at once.
    func reportFailedCompaction(_ error: FileFailure, _ state: inout State) {
        guard !error.isReplaced, !error.isDiskFull, state.compactionFailure != error.reason else { return }
        state.compactionFailure = error.reason
        let problem = "cannot be replaced by a compacted one in its folder, so it may grow until writes fail"
        state.reports.append(
            SettingsFileError(
                .unavailable, reason: "the settings file \(fileLocation.path) \(problem): \(error.reason)"))
    }
}
