import Dispatch

extension SettingsFile {
    /// A flush that is under way.
    struct Flush {
        /// In which of the processes that came from each other by a fork.
        let process: Int
        /// The callers that wait for its end.
        var waiting: [DispatchSemaphore] = []
    }

    /// What a caller wants to be flushed.
    private struct Target {
        let end: Int
        /// How often records had been lost. After one more loss, what the caller wrote may be among them.
        let losses: Int
    }

    package func synchronize() throws(SettingsFileError) {
        let target = try withLog { state throws(FileFailure) in
            if let log = state.log, try place.isReplaced(log) {
                state.doubtsName = true
                try catchUp(&state)
            }
            return state.log.map { Target(end: $0.end, losses: state.losses) }
        }
        guard let target else { return }
        do throws(FileFailure) { try flush(target) } catch { throw unavailable(error) }
        try shrink()
    }

    /// One caller flushes for all that wait: a caller that comes during a flush mostly finds that the next one covers its writes.
    private func flush(_ target: Target) throws(FileFailure) {
        while let end = endOfFlush() {
            end.wait()
            guard try withState({ state throws(FileFailure) in try isDue(target, in: state) }) else { return }
        }
        defer {
            let waiting = flushing.withLock { flush in
                defer { flush = nil }
                return flush!.waiting
            }
            // All at once: if each woke the next, that would take longer than the disk does.
            for end in waiting { end.signal() }
        }
        // Let threads that are about to write go first, so that this flush covers them.
        SystemClock.yield()
        do throws(FileFailure) {
            guard try !flushOnce(target) else { return }
            try replaceUnproven()
            _ = try flushOnce(target, acceptsUnproven: true)
        } catch {
            // Other blocks of the disk may be good. Where no new file can be made, these may be good again.
            if !replaceIfFlushFailed() {
                try withState { state throws(FileFailure) in
                    guard let log = state.log, log.isWritable else { throw error }
                    try state.noticingLoss(of: log) { () throws(FileFailure) in try log.rewrite() }
                }
            }
            guard try flushOnce(target) else { throw error }
        }
    }

    /// Begins a flush, unless one is under way: then its end.
    private func endOfFlush() -> DispatchSemaphore? {
        flushing.withLock { flush in
            // The thread of a parent does not go on in a child.
            guard flush?.process == Forks.count else {
                flush = Flush(process: Forks.count)
                return nil
            }
            let end = DispatchSemaphore(value: 0)
            flush!.waiting.append(end)
            return end
        }
    }

    /// Whether something must be flushed before the target is safe. Throws if no flush can make it so.
    private func isDue(_ target: Target, in state: State) throws(FileFailure) -> Bool {
        guard let log = state.log else { return false }
        guard state.losses == target.losses, !log.hasLostRecords else { throw FileFailure(FileLog.lossReason) }
        return log.flushed < target.end || !log.isNameFlushed
    }

    /// Flushes what is due. Returns false if an earlier flush of another process may have failed and the system cannot show
    /// what the disk holds.
    private func flushOnce(_ target: Target, acceptsUnproven: Bool = false) throws(FileFailure) -> Bool {
        guard let due = try beginFlush(target) else { return true }
        do throws(FileFailure) {
            // Other code of the program may have closed the descriptor, and its number may be another file's by now.
            guard try due.file.identity() == due.log.identity else {
                throw FileFailure("its descriptor was closed by other code of this program")
            }
            // Names first: on Apple platforms flushing the file empties the drive's cache, and takes them along where the file system can
            // flush a directory no further than that.
            try due.directory?.flushNames()
            try due.file.flush()
            if let (start, bytes) = due.unproven {
                let isOnDisk = try due.file.bytesOnDisk(in: start..<(start + bytes.count)).map { $0[...] == bytes }
                if isOnDisk == nil, !due.hasFailed {
                    guard acceptsUnproven else { return false }
                } else {
                    guard isOnDisk == true else { throw FileFailure("an earlier flush has failed") }
                }
            }
        } catch {
            state.withLock { _ in due.log.noteFailedFlush() }
            throw error
        }
        state.withLock { _ in due.log.noteFlush(to: due.end, andName: true) }
        return true
    }

    /// What a flush takes: a log, which is touched under the lock of the state only, and parts of it.
    private struct Due {
        let log: FileLog
        let file: File
        let end: Int
        let directory: File?
        let unproven: (start: Int, bytes: ArraySlice<UInt8>)?
        /// Whether a flush of this process has failed.
        let hasFailed: Bool
    }

    private func beginFlush(_ target: Target) throws(FileFailure) -> Due? {
        try withState { state throws(FileFailure) in
            guard try isDue(target, in: state), let log = state.log else { return nil }
            let unproven = try state.noticingLoss(of: log) { () throws(FileFailure) in try log.unprovenRecords() }
            return Due(
                log: log, file: log.file, end: log.end, directory: log.isNameFlushed ? nil : log.directory,
                unproven: unproven, hasFailed: log.flushState == .failed)
        }
    }

    /// Replaces a file of which the system cannot show what the disk holds, after waiting for other writers. Where no file can take
    /// its place, it stays.
    private func replaceUnproven() throws(FileFailure) {
        let deadline = ContinuousClock.now + place.patience
        while try !tryToReplaceUnproven() {
            guard ContinuousClock.now < deadline else {
                throw FileFailure("other processes left no turn to replace it for \(place.patience)")
            }
            SystemClock.sleep(microseconds: 200)
        }
    }

    /// Returns false if another process is writing the file.
    private func tryToReplaceUnproven() throws(FileFailure) -> Bool {
        try withState { state throws(FileFailure) in
            guard let log = state.log, log.isWritable, log.flushState == .unknown else { return true }
            if state.isLocked {
                try replaceUnproven(log, &state)
            } else {
                guard try log.file.tryLock() else { return false }
                defer { unlock(&state, log.file) }
                try replaceUnproven(log, &state)
            }
            return true
        }
    }

    private func replaceUnproven(_ log: FileLog, _ state: inout State) throws(FileFailure) {
        guard try !place.isElsewhere(log) else { return }
        _ = try readOn(log, &state)
        // The writer that sealed the file died before it could replace it.
        if log.isSealed { try log.unseal() }
        do throws(FileFailure) { try repair(&state) } catch {
            guard error.isForbidden || error.isBusy else { throw error }
        }
    }

    /// Replaces the file if a flush of it has failed, unless another process is writing it. Returns whether there is another file now.
    private func replaceIfFlushFailed() -> Bool {
        withState { state in
            do throws(FileFailure) {
                try repair(&state) { state, log throws(FileFailure) in
                    guard log.flushState == .failed else { return false }
                    _ = try readOn(log, &state)
                    // The next writer removes the seal of a process that died.
                    return !log.isSealed
                }
            } catch {
                // The caller says why the flush failed.
                return false
            }
            return state.log?.flushState != .failed
        }
    }

    /// Replaces a file that has grown while much was written, unless a thread is writing, which will flush it in its turn. What cannot be
    /// made smaller holds no less.
    private func shrink() throws(SettingsFileError) {
        try withLog { state throws(FileFailure) in
            guard let log = state.log, !state.isLocked, !log.hasLostRecords else { return }
            try repair(&state) { state, log throws(FileFailure) in
                _ = try readOn(log, &state)
                // A seal whose writer died is taken back by the next writer.
                return !log.isSealed && log.isDueForReplacement(keeping: RecordFormat.keptSize)
            }
            // That was found out only now.
            if log.hasLostRecords { throw FileFailure(FileLog.lossReason) }
        }
    }
}
