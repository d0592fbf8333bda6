import Dispatch

extension SettingsFile {
    /// A flush in progress.
    struct Flush {
        /// The process that flushes, as counted by ``Forks/count``.
        let process: Int
        /// The callers that wait for the flush to end.
        var waiting: [DispatchSemaphore] = []
    }

    /// What a caller wants flushed.
    private struct Target {
        /// The process of the caller, as counted by ``Forks/count``.
        let process = Forks.count
        let end: Int
        /// The value of `State.losses` when the caller asked. If it has grown, the caller's records
        /// may be lost.
        let losses: Int
    }

    /// Flushes the file that the name refers to.
    ///
    /// Throws if this process has written since its last flush and another program has removed or
    /// replaced that file. The next call uses the file that has the name then.
    ///
    /// - Parameter isInBackground: Whether no caller waits for the flush. A removed or replaced
    ///   file is then no error, but the next call for a caller throws.
    package func synchronize(isInBackground: Bool = false) throws(SettingsFileError) {
        let target = try withLog { state throws(FileFailure) in
            if let log = state.log, try fileLocation.nameHasMoved(from: log) {
                // A writer keeps the file whose lock it holds.
                if state.isLocked { state.noteMissingFile() } else { try reopen(&state, creating: false) }
            }
            guard !state.hasLostCommits || isInBackground else {
                state.hasLostCommits = false
                throw FileFailure(
                    "another program removed, renamed or replaced it or its folder before the last changes of this"
                        + " process were flushed, and these changes may be lost")
            }
            return state.log.map { Target(end: $0.end, losses: state.losses) }
        }
        guard let target else { return }
        // A handler of a report may have forked this process.
        guard target.process == Forks.count else { return try synchronize(isInBackground: isInBackground) }
        do throws(FileFailure) { try flush(target) } catch { throw unavailable(error) }
        try compactIfNeeded()
    }

    /// Flushes on behalf of all waiting callers. A caller that arrives during a flush usually finds
    /// that the next flush covers its writes.
    private func flush(_ target: Target) throws(FileFailure) {
        while let end = joinOrBeginFlush() {
            end.wait()
            guard try withState({ state throws(FileFailure) in try isDue(target, in: state) }) else { return }
        }
        defer {
            let waiting = flushing.withLock { exchange(&$0, with: nil) }!.waiting
            // Wake all callers at once. Waking them one after the other takes longer than the disk.
            for end in waiting { end.signal() }
        }
        // Let threads that are about to write go first, so that this flush covers them.
        SystemClock.yield()
        do throws(FileFailure) {
            guard try !flushOnce(target) else { return }
            try compactUnproven()
            _ = try flushOnce(target, acceptsUnproven: true)
        } catch {
            // Another file uses other disk blocks, which may work. If no file can be created,
            // writing the records again may succeed.
            try withState { state throws(FileFailure) in
                _ = try? compactIfDue(&state) { log, _ in log.flushState == .failed }
                guard let log = state.log, log.flushState == .failed else { return }
                guard log.isWritable else { throw error }
                try state.noticingLoss(of: log) { () throws(FileFailure) in try log.rewrite() }
            }
            guard try flushOnce(target) else { throw error }
        }
    }

    /// Starts a flush and returns `nil`, or returns a semaphore that is signaled when the flush in
    /// progress ends.
    private func joinOrBeginFlush() -> DispatchSemaphore? {
        flushing.withLock { flush in
            // A flush that a thread of the parent had started does not continue in a child.
            guard flush?.process == Forks.count else {
                flush = Flush(process: Forks.count)
                return nil
            }
            let end = DispatchSemaphore(value: 0)
            flush!.waiting.append(end)
            return end
        }
    }

    /// Returns whether the target still needs a flush. Throws if no flush can make it durable.
    private func isDue(_ target: Target, in state: State) throws(FileFailure) -> Bool {
        guard let log = state.log else { return false }
        guard state.losses == target.losses, !log.hasLostRecords else { throw FileFailure(FileLog.lossReason) }
        return log.flushed < target.end || !log.isNameFlushed
    }

    /// Flushes what the target needs.
    ///
    /// - Returns: False if an earlier flush of another process may have failed and the system
    ///   cannot show what the disk holds.
    private func flushOnce(_ target: Target, acceptsUnproven: Bool = false) throws(FileFailure) -> Bool {
        guard let due = try beginFlush(target) else { return true }
        do throws(FileFailure) {
            // Other code of the program may have closed the descriptor, and its number may belong
            // to another file.
            guard try due.file.identity() == due.log.identity else {
                throw FileFailure("its descriptor was closed by other code of this program")
            }
            // Flush the directory first. On Apple platforms, flushing the file also empties the
            // drive's cache, which makes the directory durable on file systems that cannot do so
            // themselves.
            try due.directory?.flushNames()
            try due.file.flush()
            if let (start, bytes) = due.unprovenRecords {
                let isOnDisk = try due.file.hasOnDisk(bytes, at: start)
                if isOnDisk == nil, !due.hasFailed {
                    guard acceptsUnproven else { return false }
                } else {
                    guard isOnDisk == true else { throw FileFailure("an earlier flush failed") }
                }
            }
        } catch {
            state.withLock { _ in due.log.noteFailedFlush() }
            throw error
        }
        state.withLock { state in
            due.log.noteFlush(to: due.end, andName: true)
            state.flushedCommits = max(state.flushedCommits, due.commits)
        }
        return true
    }

    /// The input of one flush: parts of a log that may be used without the lock. Only the log
    /// itself needs the lock.
    private struct Due {
        let log: FileLog
        let file: File
        let end: Int
        /// The number of this process's commits so far.
        let commits: Int
        let directory: File?
        let unprovenRecords: (start: Int, bytes: ArraySlice<UInt8>)?
        /// Whether a flush by this process has failed.
        let hasFailed: Bool
    }

    private func beginFlush(_ target: Target) throws(FileFailure) -> Due? {
        try withState { state throws(FileFailure) in
            guard try isDue(target, in: state), let log = state.log else { return nil }
            let unprovenRecords = try state.noticingLoss(of: log) { () throws(FileFailure) in try log.unprovenRecords()
            }
            return Due(
                log: log, file: log.file, end: log.end, commits: state.commits,
                directory: log.isNameFlushed ? nil : log.directory, unprovenRecords: unprovenRecords,
                hasFailed: log.flushState == .failed)
        }
    }

    /// Compacts a file if the system cannot show what the disk holds. Waits for other writers.
    /// Keeps the file if it cannot be replaced.
    private func compactUnproven() throws(FileFailure) {
        let deadline = ContinuousClock.now + fileLocation.timeout
        while try !withState({ state throws(FileFailure) in try compactUnproven(&state) }) {
            guard ContinuousClock.now < deadline else {
                throw FileFailure("other processes kept it locked for \(fileLocation.timeout)")
            }
            SystemClock.sleep(microseconds: 200)
        }
    }

    /// Returns false if another process is writing the file.
    private func compactUnproven(_ state: inout State) throws(FileFailure) -> Bool {
        guard let log = state.log, log.isWritable, log.flushState == .unknown else { return true }
        let isWriter = state.isLocked
        guard try isWriter ? true : log.file.tryLock() else { return false }
        defer { if !isWriter { unlock(&state, log.file) } }
        guard try !fileLocation.nameHasMoved(from: log) else { return true }
        _ = try readNewRecords(log, &state)
        // The writer that sealed the file died before it could replace it.
        if log.isSealed { try log.unseal() }
        do throws(FileFailure) { try compact(&state) } catch {
            guard error.isPermissionDenied || error.isBusy else { throw error }
        }
        return true
    }

    /// Compacts a file that grew beyond the size it may keep.
    ///
    /// Does nothing while a thread writes, because that writer flushes too. A failed compaction is
    /// not an error, because no record is lost.
    private func compactIfNeeded() throws(SettingsFileError) {
        try withLog { state throws(FileFailure) in
            guard let log = state.log, !state.isLocked, !log.hasLostRecords else { return }
            try compactIfDue(&state) { log, _ in log.isDueForCompaction(keeping: RecordFormat.keptSize) }
            // The attempt to compact may have detected the loss.
            if log.hasLostRecords { throw FileFailure(FileLog.lossReason) }
        }
    }
}
