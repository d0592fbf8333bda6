import SettingsFile

extension SuiteCore {
    /// Waits for other writers, in this and other processes, and processes external changes.
    ///
    /// Balance each call that returns with ``endWrite()``.
    func beginWrite() throws(DefaultsError) {
        try checkDepth()
        do throws(RecursionCheckingLock.AcquireError) {
            try writerLock.acquire(timeout: timeout)
        } catch {
            switch error {
            case .heldByCaller:
                throw DefaultsError(.nestedWrite, reason: "a suite cannot be written from inside its own update")
            case .timedOut:
                throw DefaultsError(.timedOut, reason: "another writer holds the suite for over \(timeout)")
            }
        }
        AfterUnlock.didLock()
        do throws(DefaultsError) {
            let generation = try beginBackendWrite()
            // Usually, no other process has written since the last write.
            if let generation, generation == write.generation { return }
            do throws(DefaultsError) {
                try catchUpInWrite()
            } catch {
                backend.endWrite()
                throw error
            }
        } catch {
            releaseWriterLock()
            throw error
        }
    }

    private func beginBackendWrite() throws(DefaultsError) -> UInt64? {
        // A thread that has waited for other threads waits that much less for other processes.
        if let settingsFile {
            return try settingsFile.beginWriteReturningGeneration(until: writerLock.holderDeadline)
        }
        try backend.beginWrite()
        return backend.generation
    }

    /// Processes external changes, between ``beginWrite()`` and ``endWrite()``.
    func catchUpInWrite() throws(DefaultsError) {
        write.generation = try catchUpLocked()
        write.isDeliveryDue = true
        enqueueExternalChanges(hasGeneration: write.generation != nil)
    }

    /// Processes external changes if there are any, between ``beginWrite()`` and ``endWrite()``.
    func catchUpIfNeeded() throws(DefaultsError) {
        guard let generation = backend.generation, generation != write.generation else { return }
        try catchUpInWrite()
    }

    /// Lets other writers continue.
    ///
    /// - Returns: Whether the caller must call ``deliver()``.
    @discardableResult
    func endWrite() -> Bool {
        backend.endWrite()
        return releaseWriterLock()
    }

    /// Flushes if each change of the suite must survive a power failure.
    ///
    /// Called after ``endWrite()``, so that several writers share one flush.
    func flushIfImmediate() throws(DefaultsError) {
        if backend.synchronizationDelay == .zero { try synchronize() }
    }

    /// Flushes, and processes the external changes that this may have found.
    func synchronize(isInBackground: Bool = false) throws(DefaultsError) {
        defer {
            processExternalChanges()
            deliver()
        }
        if isInBackground { try backend.flushInBackground() } else { try backend.synchronize() }
    }

    /// The values that readers get after a commit. Some of them are known only to the backend.
    struct ReadableValues {
        var values: [Edit]
        /// The values of slots with former keys, unless they cannot be read.
        var former: [(slot: Slot, value: StoredValue?)] = []
    }

    private func readableValues(after edits: [Edit], _ slots: [Slot]) -> ReadableValues {
        var readable = ReadableValues(values: edits)
        if backend.hasFallbackValues {
            // A removed key may have a fallback value. If it cannot be read, its readers report the
            // error.
            for index in edits.indices where edits[index].value == nil {
                readable.values[index].value = (try? backend.storedValue(forKey: edits[index].key)) ?? nil
            }
        }
        for slot in slots where !slot.formerKeys.isEmpty {
            // If this fails, the slot is read again later.
            if let value = try? storedValue(of: slot).value { readable.former.append((slot, value)) }
        }
        return readable
    }

    /// Runs `body` while other writers of the suite wait, then flushes if the suite is immediate,
    /// and notifies observers.
    func withWriteAccess(_ body: () throws(DefaultsError) -> Void) throws(DefaultsError) {
        // Deliver even after a failure, because there may be external changes.
        defer { deliver() }
        try beginWrite()
        do {
            defer { endWrite() }
            try body()
        }
        try flushIfImmediate()
    }

    /// Releases the lock of the writers, and processes external changes if another thread requested
    /// that in the meantime.
    ///
    /// - Returns: Whether the caller must call ``deliver()``.
    @discardableResult
    func releaseWriterLock() -> Bool {
        let isDeliveryDue = write.isDeliveryDue
        write.isDeliveryDue = false
        let isRequested = writerLock.release()
        if isRequested { processExternalChanges() }
        AfterUnlock.didUnlock()
        return isDeliveryDue || isRequested
    }

    /// A key and what to store under it; `nil` removes the key.
    typealias Edit = (key: String, value: StoredValue?)

    static func edit(_ edit: (key: String, value: PropertyList?)) -> Edit {
        (edit.key, edit.value.map(StoredValue.tree))
    }

    /// Commits trees, between ``beginWrite()`` and ``endWrite()``.
    func commit(_ edits: [(key: String, value: PropertyList?)]) throws(DefaultsError) {
        try commit(edits.map(Self.edit))
    }

    /// Commits edits, between ``beginWrite()`` and ``endWrite()``.
    ///
    /// The slots of the keys forget their values before the commit. Until it has ended, every
    /// reader asks the backend, where the commit is atomic.
    ///
    /// - Parameters:
    ///   - writer: The slot that the first edit was made through. It caches the new value.
    ///   - hasBegun: Whether the commit has begun for this slot; see ``Slot/beginCommit(of:at:)``.
    ///   - kept: The parts of the old value that the new one keeps.
    func commit(
        _ edits: [Edit], by writer: Slot? = nil, hasBegun: Bool = false,
        keeping kept: Slot.Kept? = nil
    ) throws(DefaultsError) {
        let observed = state.withLock { state -> [Slot]? in
            let slots = state.slots(of: edits, by: writer)
            for slot in slots where slot !== writer || !hasBegun { slot.markCommitting() }
            state.commit = (edits, slots)
            state.commitVersion &+= 1
            return state.observers.isEmpty ? nil : slots
        }
        var failure: DefaultsError?
        do throws(DefaultsError) { try backend.commit(stored: edits) } catch { failure = error }
        let delay = failure == nil ? backend.synchronizationDelay : nil
        let process = Forks.count
        if failure == nil, settingsFile == nil { write.generation = backend.generation }
        // Read outside the lock, and before another thread can write.
        let readable = failure == nil ? observed.map { readableValues(after: edits, $0) } : nil
        let (isDue, isStale, old) = state.withLock { state -> (Bool, Bool, Slot.Replaced?) in
            let slots = state.commit.slots
            state.commit = ([], [])
            state.commitVersion &+= 1
            var old: Slot.Replaced?
            for slot in slots {
                if slot === writer, failure == nil {
                    old = slot.keepOwn(edits[0].value, at: write.generation, keeping: kept)
                } else {
                    slot.endCommit()
                }
            }
            guard failure == nil else { return (false, false, old) }
            if settingsFile == nil { state.generation = write.generation }
            state.record(edits, of: slots, readable, hasFallbackValues: backend.hasFallbackValues)
            if !state.observers.queue.isEmpty { write.isDeliveryDue = true }
            let isDue = state.synchronizingProcess != process && delay ?? .zero > .zero
            if isDue { state.synchronizingProcess = process }
            return (isDue, state.observers.hasStaleSlotsOrKeys, old)
        }
        writer?.release(old)
        if let failure { throw failure }
        if isStale { enqueueExternalChanges(hasGeneration: write.generation != nil) }
        if isDue, let delay { flushInBackground(after: delay) }
    }

    /// Flushes after a delay. A flush that fails is tried again later, because the disk may
    /// recover, and once at a normal exit.
    private func flushInBackground(after delay: Duration) {
        // The work retains the suite, so that the value is flushed even if no other code does.
        DeferredWork.schedule(for: ObjectIdentifier(self), after: delay) { [self] in
            state.withLock { $0.synchronizingProcess = nil }
            do throws(DefaultsError) { try synchronize(isInBackground: true) } catch {
                flushInBackground(after: min(delay, .seconds(15)) * 4)
                report(error)
            }
        }
    }
}
