import Dispatch

extension SettingsFile {
    struct Flush {
        /// The process that flushes, as counted by ``Forks/count``.
        let process: Int
        /// The callers that wait for the flush to end.
        var waiting: [DispatchSemaphore] = []
    }

    /// Flushes the file that the name refers to.
    ///
    /// Throws if this process has written since its last flush and another program has removed or
    /// replaced that file. The next call uses the file that has the name then.
    ///
    /// - Parameter isInBackground: Whether no caller waits for the flush. A removed or replaced
    ///   file is then no error, but the next call for a caller throws.
    package func synchronize(isInBackground: Bool = false) throws(SettingsFileError) {
        // One caller flushes on behalf of all that wait.
        while let end = joinOrBeginFlush() { end.wait() }
        defer {
            // A handler of a report may have forked this process.
            let waiting = flushing.withLock { exchange(&$0, with: nil) }?.waiting ?? []
            for end in waiting { end.signal() }
        }
        // Let threads that are about to write go first, so that this flush covers them.
        SystemClock.yield()
        let process = Forks.count
        let due = try withLog { state throws(FileFailure) -> (log: FileLog, end: Int, commits: Int)? in
            if let log = state.log, try fileLocation.nameHasMoved(from: log) {
                // A writer keeps the file whose lock it holds.
                if state.isLocked {
                    state.noteMissingFile()
                } else {
                    do throws(FileFailure) { try reopen(&state, creating: false) } catch let error where error.isMissing
                    {
                        state.noteMissingFile()
                        try state.checkLostCommits(isInBackground)
                        return nil
                    }
                }
            }
            try state.checkLostCommits(isInBackground)
            guard let log = state.log, log.needsFlush else { return nil }
            return (log, log.end, state.commits)
        }
        // A handler of a report may have forked this process. The flush was meant for the file that
        // the parent has open.
        if let due, process == Forks.count {
            do throws(FileFailure) { try flush(due.log, to: due.end) } catch { throw unavailable(error) }
            // The flush may have found that another program has replaced the file.
            do throws(FileFailure) {
                try state.withLock { state throws(FileFailure) in
                    try state.checkLostCommits(isInBackground)
                    state.flushedCommits = max(state.flushedCommits, due.commits)
                }
            } catch { throw unavailable(error) }
        }
        try compactIfNeeded()
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

    private func flush(_ log: FileLog, to end: Int) throws(FileFailure) {
        var (log, end) = (log, end)
        var failure = FileFailure("an earlier flush failed")
        // After a failure, the new file is flushed.
        for _ in 0..<2 {
            // Other code of the program may have closed the descriptor, and its number may belong
            // to another file. Such a file is not locked, so it must not be replaced either.
            guard try log.file.identity() == log.identity else {
                throw FileFailure("its descriptor was closed by other code of this program")
            }
            // Writing the records again is not enough: on ext4, a power cut then lost one of them.
            while log.hasFailedFlush || !isProvable(log) {
                guard let new = try replacement(of: log) else { break }
                (log, end) = (new, new.end)
            }
            guard !log.hasFailedFlush else { throw failure }
            do throws(FileFailure) {
                // Flush the directory first. On Apple platforms, flushing the file also empties the
                // drive's cache, which makes the directory durable on file systems that cannot do
                // so themselves.
                if !log.isNameFlushed { try log.directory.flushNames() }
                try log.file.flush()
                return log.noteFlush(to: end, andName: true)
            } catch {
                log.hasFailedFlush = true
                failure = error
            }
        }
        throw failure
    }

    /// Returns whether a flush proves that all records are on the disk. First gives the writer of
    /// records that were in the file some time, because it is most likely about to flush them.
    private func isProvable(_ log: FileLog) -> Bool {
        let deadline = MonotonicTime.now + .milliseconds(20)
        while !log.isProvable, .now < deadline { SystemClock.sleep(microseconds: 200) }
        return log.isProvable
    }

    /// Replaces a file whose flushes prove nothing: the new file uses other pages.
    ///
    /// - Returns: The file that has the name now; `nil` if the file cannot be replaced, because of
    ///   its permissions, those of its folder, or because it is a mount point.
    private func replacement(of log: FileLog) throws(FileFailure) -> FileLog? {
        let deadline = ContinuousClock.now + fileLocation.timeout
        guard log.isWritable else { return log.giveUpProof() }
        while true {
            let new: FileLog?
            do throws(FileFailure) {
                new = try withState { state throws(FileFailure) in
                    if state.log === log, try !compactAlone(log, &state) { try reopen(&state, creating: false) }
                    return state.log
                }
            } catch let error where error.isPermissionDenied || error.isBusy { return log.giveUpProof() }
            guard let new else { throw FileFailure.isRemoved }
            if new !== log { return new }
            guard ContinuousClock.now < deadline else {
                throw FileFailure("it has to be replaced, but another process keeps it locked")
            }
            SystemClock.sleep(microseconds: 200)
        }
    }

    /// Compacts a file that grew beyond the size it may keep.
    ///
    /// Does nothing while a thread writes, because that writer flushes too. A failed compaction is
    /// reported, but the flush succeeds, because no record is lost.
    private func compactIfNeeded() throws(SettingsFileError) {
        try withLog { state throws(FileFailure) in
            guard let log = state.log, !state.isLocked, log.isWritable,
                log.isDueForCompaction(keeping: RecordFormat.keptSize)
            else { return }
            do throws(FileFailure) { _ = try compactAlone(log, &state) } catch {
                reportFailedCompaction(error, &state)
            }
        }
    }

    /// Compacts the file under its lock. Does nothing if another process holds the lock.
    ///
    /// - Returns: False if the name refers to another file.
    private func compactAlone(_ log: FileLog, _ state: inout State) throws(FileFailure) -> Bool {
        let isWriter = state.isLocked
        if !isWriter {
            guard try log.file.tryLock() else { return true }
            state.isLocked = true
        }
        defer { if !isWriter { unlock(&state, log.file) } }
        guard try !fileLocation.nameHasMoved(from: log) else {
            // A writer keeps the file whose lock it holds.
            guard !isWriter else { throw FileFailure.isRemoved }
            return false
        }
        try catchUp(&state)
        try compact(&state)
        return true
    }
}

extension SettingsFile.State {
    /// Throws once if commits were lost that no flush has covered.
    fileprivate mutating func checkLostCommits(_ isInBackground: Bool) throws(FileFailure) {
        guard hasLostCommits, !isInBackground else { return }
        hasLostCommits = false
        throw FileFailure.isRemoved
    }
}

extension FileFailure {
    fileprivate static let isRemoved = Self(
        "another program removed, renamed or replaced it or its folder before the last changes of this process were"
            + " flushed, and these changes may be lost")
}
