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
            switch try lock() {
            case .locked(let generation): return generation
            case .readOnly: return generation
            case .busy: break
            }
            let now = MonotonicTime.now
            let end = deadline ?? now + fileLocation.timeout
            guard try !isFutile(now, until: end) else {
                throw SettingsFileError(
                    .timedOut,
                    reason: "other processes keep \(fileLocation.path) locked for over \(fileLocation.timeout)")
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

    private enum LockResult {
        case locked(generation: UInt64)
        case busy, readOnly
    }

    private func lock() throws(SettingsFileError) -> LockResult {
        try withLog(creating: true) { state throws(FileFailure) in
            for _ in 0..<100 {
                guard let log = state.log else { return .readOnly }
                guard log.isWritable else {
                    // Its permissions, or those of its file system, may have been changed since.
                    guard fileLocation.isWritable else { return .readOnly }
                    try reopen(&state, creating: true)
                    continue
                }
                guard try log.file.tryLock() else {
                    // The process that replaced the file may still hold the lock of the old one.
                    guard try fileLocation.nameHasMoved(from: log) else { return .busy }
                    try reopen(&state, creating: true)
                    continue
                }
                state.isLocked = true
                do throws(FileFailure) {
                    // The name may refer to another file by now, and a write to this file would be
                    // lost.
                    if try !fileLocation.nameHasMoved(from: log) {
                        try catchUp(&state)
                        try prepareForWriting(&state)
                        return .locked(generation: state.changes.generation)
                    }
                } catch {
                    unlock(&state, log.file)
                    throw error
                }
                unlock(&state, log.file)
                try reopen(&state, creating: true)
            }
            return .busy
        }
    }

    /// Makes sure that the next record follows a valid one.
    private func prepareForWriting(_ state: inout State) throws(FileFailure) {
        guard let log = state.log else { return }
        // The process that sealed the file died before the rename; otherwise it would hold the
        // lock.
        if log.isSealed { try log.unseal() }
        if try log.isDamaged() {
            try compact(&state)
        } else if !log.holdsLastChecksum {
            try state.noticingLoss(of: log) { () throws(FileFailure) in _ = try log.checkedBytes() }
        }
    }

    /// Releases the file lock.
    package func endWrite() {
        // Publishes no snapshot, because unlocking changes nothing that readers see.
        let hasReports = state.withLock { state in
            if state.isLocked, let log = state.log { unlock(&state, log.file) }
            return !state.reports.isEmpty
        }
        if hasReports { deliverReports() }
    }

    /// Appends a commit, completely or not at all. The caller must have called ``beginWrite()``.
    package func commit(_ record: inout RecordWriter) throws(SettingsFileError) {
        try withLog { state throws(FileFailure) in try append(&record, to: &state) }
    }

    private func append(_ record: inout RecordWriter, to state: inout State) throws(FileFailure) {
        guard let log = state.log else {
            throw FileFailure("it does not exist, and its folder is not writable")
        }
        guard log.isWritable else { throw FileFailure("it is read-only") }
        guard state.isLocked else {
            throw FileFailure("the write began before the file was created or the process was forked; begin it again")
        }
        // A flush may have detected the loss after the file was locked.
        if log.hasLostRecords { try compact(&state) } else { try makeRoom(for: record, log, &state) }
        try state.log?.append(&record)
        state.commits += 1
    }

    /// Compacts the file if a record makes that due. If compaction fails or would not help, the
    /// file may still grow up to its limit.
    private func makeRoom(
        for record: borrowing RecordWriter, _ log: FileLog, _ state: inout State
    ) throws(FileFailure) {
        guard log.isDueForCompaction(appending: record.length, keeping: RecordFormat.busySize) else { return }
        guard log.hasRoomOnceCompacted(for: record) else {
            guard log.hasRoom(for: record) else { throw log.sizeFailure }
            return
        }
        do throws(FileFailure) { try compact(&state) } catch {
            let isSound = !log.hasLostRecords && !log.isSealed && !error.isReplaced
            guard isSound, log.hasRoom(for: record), try !fileLocation.nameHasMoved(from: log) else { throw error }
        }
    }
}
