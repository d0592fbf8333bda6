extension FileBackend {
    public func withWriteAccess(_ body: () -> Void) throws(DefaultsError) {
        var deadline: ContinuousClock.Instant?
        var pause: UInt32 = 20
        while true {
            switch try lock() {
            case .locked:
                defer { unlock() }
                return body()
            case .readOnly:
                // A commit will say why.
                return body()
            case .busy:
                let now = ContinuousClock.now
                guard now < deadline ?? now + place.patience else {
                    throw DefaultsError(
                        .timedOut, reason: "other processes left no turn to write \(place.path) for \(place.patience)")
                }
                deadline = deadline ?? now + place.patience
                SystemClock.sleep(microseconds: pause)
                // Short, since a busy process gives its turn away for some microseconds only.
                pause = min(pause * 2, 200)
            }
        }
    }

    private enum Turn { case locked, busy, readOnly }

    private func lock() throws(DefaultsError) -> Turn {
        try withLog(making: true) { state throws(FileFailure) in
            for _ in 0..<100 {
                guard let log = state.log, log.isWritable else { return .readOnly }
                guard try log.file.tryLock() else {
                    // Whoever replaced the file may still have the lock of the old one.
                    guard try place.isElsewhere(log) else { return .busy }
                    try reopen(&state)
                    continue
                }
                state.isLocked = true
                do throws(FileFailure) {
                    // The name may mean another file by now, and what is written to this one would be lost.
                    guard try place.isElsewhere(log) else {
                        try catchUp(&state)
                        // Whoever sealed it died before the other file got its name, or would have the lock.
                        if let log = state.log, log.isSealed { try log.unseal() }
                        if let log = state.log, log.isDoubtful { try repair(&state) }
                        return .locked
                    }
                } catch {
                    unlock(&state, log.file)
                    throw error
                }
                unlock(&state, log.file)
                try reopen(&state)
            }
            return .busy
        }
    }

    private func reopen(_ state: inout State) throws(FileFailure) {
        state.log = nil
        state.announce(nil)
        state.log = try place.open(making: true, reports: &state.reports)
    }

    private func unlock(_ state: inout State, _ file: File) {
        file.unlock()
        // A successor comes with its lock.
        state.log?.file.unlock()
        state.isLocked = false
    }

    private func unlock() {
        let hasReports = withState { state in
            state.log?.file.unlock()
            state.isLocked = false
            return !state.reports.isEmpty
        }
        if hasReports { deliverReports() }
    }

    public func commit(_ edits: [(key: String, value: PropertyList?)]) throws(DefaultsError) {
        guard !edits.isEmpty else { return }
        var record = RecordWriter()
        for (key, value) in edits {
            guard key.utf8.count <= RecordFormat.keyLimit else {
                throw DefaultsError(.refused, reason: "a key is at most \(RecordFormat.keyLimit) bytes")
            }
            guard let length = record.append(key, value) else {
                throw DefaultsError(.refused, key: key, reason: "nested deeper than \(PropertyList.depthLimit) levels")
            }
            guard length <= RecordFormat.valueLimit else {
                throw DefaultsError(.refused, key: key, reason: "a value is at most 16 MiB")
            }
        }
        try withLog { state throws(FileFailure) in
            guard let log = state.log, log.isWritable else { throw FileFailure("it is read-only") }
            // Not so in a child that was forked inside a write, and where the file came up only now.
            guard state.isLocked else { throw FileFailure("its lock is not held") }
            let isDue = log.isDueForReplacement(appending: record.length, keeping: RecordFormat.busySize)
            // A flush may have failed since the lock was taken.
            if isDue || log.isDoubtful { try repair(&state) }
            try state.log?.append(&record)
        }
    }

    public var synchronizationDelay: Duration? { durability == .immediate ? .zero : .milliseconds(300) }

    /// One caller flushes for all who wait: whoever comes while a flush is under way finds that the next one did it for them.
    public func synchronize() throws(DefaultsError) {
        let target = try withLog { state throws(FileFailure) in
            if let log = state.log, try place.isReplaced(log) {
                state.doubtsName = true
                try catchUp(&state)
            }
            return state.log?.end
        }
        guard let target else { return }
        let failure = flushing.withLock { _ -> FileFailure? in
            // Those who are about to write are let through first, so that this flush is theirs as well.
            SystemClock.yield()
            // Its parts, since the log itself is touched under the lock only.
            let due = state.withLock { state -> (file: File, end: Int, directory: File?)? in
                guard let log = state.log, log.flushed < target || !log.isNameFlushed || log.isDoubtful else {
                    return nil
                }
                return (log.file, log.end, log.isNameFlushed ? nil : log.directory)
            }
            guard let due else { return nil }
            do throws(FileFailure) {
                try due.file.flush()
                try due.directory?.flushNames()
                // Another flush of it has failed before, and this one says nothing of what was lost then.
                let isDoubtful = state.withLock { state in
                    guard state.log?.file === due.file else { return false }
                    state.log?.noteFlush(to: due.end, andName: true)
                    return state.log?.isDoubtful ?? false
                }
                return isDoubtful ? FileFailure("an earlier flush has failed") : nil
            } catch {
                state.withLock { state in
                    if state.log?.file === due.file { state.log?.isDoubtful = true }
                }
                return error
            }
        }
        if let failure { throw unavailable(failure) }
        try shrink()
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
