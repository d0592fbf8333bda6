import Dispatch

extension FileBackend {
    public var synchronizationDelay: Duration? { durability == .immediate ? .zero : .milliseconds(300) }

    /// A flush that is under way.
    struct Flush {
        /// In which of the processes that came from each other by a fork.
        let process: Int
        /// Those who want to know of its end.
        var waiting: [DispatchSemaphore] = []
    }

    /// One caller flushes for all who wait: whoever comes while a flush is under way mostly finds that the next one did it for them.
    public func synchronize() throws(DefaultsError) {
        let target = try withLog { state throws(FileFailure) in
            if let log = state.log, try place.isReplaced(log) {
                state.doubtsName = true
                try catchUp(&state)
            }
            return state.log?.end
        }
        guard let target else { return }
        while let end = endOfFlush() {
            end.wait()
            guard due(target) != nil else { return try shrink() }
        }
        // Those who are about to write are let through first, so that this flush is theirs as well.
        SystemClock.yield()
        let failure = due(target).flatMap(flush)
        let waiting = flushing.withLock { flush in
            defer { flush = nil }
            return flush!.waiting
        }
        // All at once: if each woke the next, that would take longer than the disk does.
        for end in waiting { end.signal() }
        if let failure { throw unavailable(failure) }
        try shrink()
    }

    /// What a flush takes: a log, which is touched under its lock only, and parts of it.
    private typealias Due = (log: FileLog, file: File, end: Int, directory: File?)

    /// What must be flushed before so much of the file is safe; nil if it is.
    private func due(_ target: Int) -> Due? {
        state.withLock { state in
            guard let log = state.log, log.flushed < target || !log.isNameFlushed || log.isDoubtful else { return nil }
            return (log, log.file, log.end, log.isNameFlushed ? nil : log.directory)
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

    private func flush(_ due: Due) -> FileFailure? {
        do throws(FileFailure) {
            try due.file.flush()
            try due.directory?.flushNames()
            // Another flush of it has failed before, and this one says nothing of what was lost then: not even if it was replaced meanwhile.
            let isDoubtful = state.withLock { _ in
                due.log.noteFlush(to: due.end, andName: true)
                return due.log.isDoubtful
            }
            return isDoubtful ? FileFailure("an earlier flush has failed") : nil
        } catch {
            state.withLock { _ in due.log.isDoubtful = true }
            return error
        }
    }

    /// Replaces a file that has grown while much was written, unless a thread is writing, which will flush it in its turn. What cannot be
    /// made smaller holds no less.
    private func shrink() throws(DefaultsError) {
        try withLog { state throws(FileFailure) in
            guard let log = state.log, !state.isLocked, !log.isDoubtful else { return }
            try repair(&state) { state throws(FileFailure) in
                _ = try readOnce(&state)
                let log = state.log!
                // A seal whose writer died is taken back by the next writer.
                return !log.isSealed && log.isDueForReplacement(keeping: RecordFormat.keptSize)
            }
            // That was found out only now.
            if log.isDoubtful { throw FileFailure(FileLog.lossReason) }
        }
    }
}
