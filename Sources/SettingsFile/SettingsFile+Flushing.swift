import Dispatch

extension SettingsFile {
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
        defer { for end in withState({ exchange(&$0.flush, with: nil) }) ?? [] { end.signal() } }
        // Let threads that are about to write go first, so that this flush covers them.
        SystemClock.yield()
        let process = Forks.count
        let due = try withLog { state throws(FileFailure) -> (log: Log, commits: Int)? in
            var isMissing = false
            if let log = state.log, try fileLocation.nameHasMoved(from: log.open) {
                // A writer keeps the file whose lock it holds.
                isMissing = state.isLocked ? false : try !open(creating: false, &state)
                if isMissing || state.isLocked { state.noteLoss() }
            }
            try state.checkLoss(isInBackground)
            guard let log = state.log, log.needsFlush, !isMissing else { return nil }
            return (log, state.commits)
        }
        // A handler of a report may have forked this process. The flush was meant for the file that
        // the parent has open.
        if let due, process == Forks.count {
            do throws(FileFailure) { try flush(due.log) } catch { throw unavailable(error) }
            // The flush may have found that another program has replaced the file.
            _ = try withLog { state throws(FileFailure) in
                try state.checkLoss(isInBackground)
                state.flushedCommits = max(state.flushedCommits, due.commits)
            }
        }
        try compactIfNeeded()
    }

    /// Starts a flush and returns `nil`, or returns a semaphore that is signaled when the flush in
    /// progress ends.
    private func joinOrBeginFlush() -> DispatchSemaphore? {
        withState { state in
            guard state.flush != nil else {
                state.flush = []
                return nil
            }
            let end = DispatchSemaphore(value: 0)
            state.flush?.append(end)
            return end
        }
    }

    private func flush(_ log: Log) throws(FileFailure) {
        var log = log
        var failure = FileFailure("an earlier flush failed")
        // After a failure, the new file is flushed.
        for _ in 0..<2 {
            // Other code of the program may have closed the descriptor, and its number may belong
            // to another file. Such a file is not locked, so it must not be replaced either.
            guard try log.open.file.identity() == log.open.identity else {
                throw FileFailure("its descriptor was closed by other code of this program")
            }
            // Writing the records again is not enough: on ext4, a power cut then lost one of them.
            while log.hasFailedFlush || !log.isProvable {
                do throws(FileFailure) {
                    log = try replacement(of: log)
                } catch let error where error.isPermissionDenied || error.isBusy {
                    // The file cannot be replaced. Its flushes prove nothing to other processes.
                    guard !log.hasFailedFlush else { throw failure }
                    break
                }
            }
            do throws(FileFailure) {
                // Flush the directory first. On Apple platforms, flushing the file also empties the
                // drive's cache, which makes the directory durable on file systems that cannot do
                // so themselves.
                if !log.isNameFlushed { try log.open.directory.flushNames() }
                try log.open.file.flush()
                return note(log) { $0.noteFlush(to: log.end) }
            } catch {
                log.hasFailedFlush = true
                note(log) { $0.hasFailedFlush = true }
                failure = error
            }
        }
        throw failure
    }

    /// Notes something in the log unless another file has been opened since.
    private func note(_ log: Log, _ body: (inout Log) -> Void) {
        withState { state in
            guard var current = state.log, current.open === log.open else { return }
            body(&current)
            state.log = current
        }
    }

    /// Replaces a file whose flushes prove nothing: the new file uses other pages.
    ///
    /// - Returns: The file that has the name now.
    private func replacement(of log: Log) throws(FileFailure) -> Log {
        guard log.open.isWritable else { throw FileFailure.isReadOnly }
        let deadline = MonotonicTime.now + fileLocation.timeout
        while .now < deadline {
            let new = try withState { state throws(FileFailure) -> Log? in
                if state.log?.open === log.open, try !compactAlone(&state) { return log }
                return state.log
            }
            guard let new else { throw FileFailure.isLost }
            if new.open !== log.open { return new }
            SystemClock.sleep(microseconds: 200)
        }
        throw FileFailure("it has to be replaced, but another process keeps it locked")
    }

    /// Compacts a file that grew beyond the size it may keep.
    ///
    /// Does nothing while a thread writes, because that writer flushes too. A failed compaction is
    /// reported, but the flush succeeds, because no record is lost.
    private func compactIfNeeded() throws(SettingsFileError) {
        try withLog { state throws(FileFailure) in
            guard let log = state.log, !state.isLocked, log.open.isWritable,
                log.isDueForCompaction(to: withValues { $0.live }, keeping: RecordFormat.keptSize)
            else { return }
            do throws(FileFailure) { _ = try compactAlone(&state) } catch {
                noteFailedCompaction(error, &state)
            }
        }
    }
}

extension SettingsFile.State {
    /// Records that the file of the commits so far is gone.
    mutating func noteLoss() {
        guard commits > flushedCommits else { return }
        flushedCommits = commits
        hasLostCommits = true
    }

    /// Throws once if commits were lost that no flush has covered.
    fileprivate mutating func checkLoss(_ isInBackground: Bool) throws(FileFailure) {
        guard hasLostCommits, !isInBackground else { return }
        hasLostCommits = false
        throw FileFailure.isLost
    }
}

extension FileFailure {
    static let isLost = Self(
        "another program removed, renamed or replaced it or its folder before the last changes of this process were"
            + " flushed, and these changes may be lost")
}
