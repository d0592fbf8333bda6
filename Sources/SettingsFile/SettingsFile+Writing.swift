extension SettingsFile {
    /// Waits for the lock of the file and reads what other processes wrote before.
    ///
    /// Balance each call that returns with ``endWrite()``. A file that this process may only read takes no lock: the commit says why.
    ///
    /// - Returns: The generation. Until the write ends, no other process changes it.
    @discardableResult
    package func beginWrite() throws(SettingsFileError) -> UInt64? {
        var deadline: ContinuousClock.Instant?
        var pause: UInt32 = 20
        while true {
            switch try lock() {
            case .locked(let generation): return generation
            case .readOnly: return generation
            case .busy: break
            }
            let now = ContinuousClock.now
            guard now < deadline ?? now + place.patience else {
                throw SettingsFileError(
                    .timedOut, reason: "other processes left no turn to write \(place.path) for \(place.patience)")
            }
            deadline = deadline ?? now + place.patience
            SystemClock.sleep(microseconds: pause)
            // Short, because a busy process gives its turn away for some microseconds only.
            pause = min(pause * 2, 200)
        }
    }

    private enum LockResult {
        case locked(generation: UInt64)
        case busy, readOnly
    }

    private func lock() throws(SettingsFileError) -> LockResult {
        try withLog(making: true) { state throws(FileFailure) in
            for _ in 0..<100 {
                guard let log = state.log, log.isWritable else { return .readOnly }
                guard try log.file.tryLock() else {
                    // The process that replaced the file may still hold the lock of the old one.
                    guard try place.isElsewhere(log) else { return .busy }
                    try reopen(&state, making: true)
                    continue
                }
                state.noteLock(true)
                do throws(FileFailure) {
                    // The name may mean another file by now, and what is written to this one would be lost.
                    if try !place.isElsewhere(log) {
                        try catchUpForWriting(&state)
                        return .locked(generation: state.changes.generation)
                    }
                } catch {
                    unlock(&state, log.file)
                    throw error
                }
                unlock(&state, log.file)
                try reopen(&state, making: true)
            }
            return .busy
        }
    }

    /// Reads what others wrote, and makes sure that the next record has a good one in front of it.
    private func catchUpForWriting(_ state: inout State) throws(FileFailure) {
        try catchUp(&state)
        guard let log = state.log else { return }
        // The process that sealed it died before the rename, or it would hold the lock.
        if log.isSealed { try log.unseal() }
        if log.hasLostRecords {
            try repair(&state)
        } else if try log.hasRestBehindZeros() {
            try repair(&state)
        } else if !log.holdsLastChecksum {
            try state.noticingLoss(of: log) { () throws(FileFailure) in try log.check() }
        }
    }

    /// Releases the lock of the file.
    package func endWrite() {
        let hasReports = withState { state in
            if case .locked(let log) = state.openFile { unlock(&state, log.file) }
            return !state.reports.isEmpty
        }
        if hasReports { deliverReports() }
    }

    /// Appends a commit, whole or not at all. The caller has write access.
    package func commit(_ record: inout RecordWriter) throws(SettingsFileError) {
        try withLog { state throws(FileFailure) in
            try prepare(&state, for: record.length)
            try state.log?.append(&record)
        }
    }

    /// Makes the log ready for a record of that length.
    private func prepare(_ state: inout State, for length: Int) throws(FileFailure) {
        guard let log = state.log else {
            throw FileFailure("it does not exist, and its folder cannot be written")
        }
        guard log.isWritable else { throw FileFailure("it is read-only") }
        guard state.isLocked else {
            throw FileFailure(
                log.file.process > 0
                    ? "the write began in the parent process, which has the lock; begin it again in the child"
                    : "it was created after the write began; try again")
        }
        // A flush may have found the loss since the lock was taken.
        if log.hasLostRecords { try repair(&state) } else { try makeRoom(for: length, log, &state) }
    }

    /// Replaces the file if a record of that length makes this due. A file that cannot be replaced still grows up to its limit.
    private func makeRoom(for count: Int, _ log: FileLog, _ state: inout State) throws(FileFailure) {
        guard log.isDueForReplacement(appending: count, keeping: RecordFormat.busySize) else { return }
        try log.checkRoom(for: count)
        do throws(FileFailure) { try repair(&state) } catch {
            let isSound = !log.hasLostRecords && !log.isSealed && !error.isReplaced
            guard isSound, log.hasRoom(for: count), try !place.isElsewhere(log) else { throw error }
        }
    }

    /// Copies the bytes of a value as a commit of its own, between ``beginWrite()`` and ``endWrite()``.
    ///
    /// - Returns: The key that holds the copy: `first` or, if another value is stored there, `second`.
    package func copyValue(
        forKey key: String, to first: String, else second: String
    ) throws(SettingsFileError) -> String {
        guard max(first.utf8.count, second.utf8.count) <= RecordFormat.keyLimit else {
            throw SettingsFileError(.refused, reason: "a key is at most \(RecordFormat.keyLimit) bytes")
        }
        return try withLog { state throws(FileFailure) in
            guard let bytes = try state.log?.bytes(forKey: key) else { return first }
            let taken = try state.log?.bytes(forKey: first)
            if taken == bytes { return first }
            let copy = taken == nil ? first : second
            var record = RecordWriter()
            record.append(copy, raw: bytes)
            try prepare(&state, for: record.length)
            try state.log?.append(&record)
            // The caller did not commit this, so it counts as an external change.
            state.changes.add([copy])
            return copy
        }
    }
}
