import SettingsFile

// Notifies observers in the order of the commits, under no lock and outside of every write.
extension SuiteCore {
    /// Adds an observer of a slot.
    func observe(_ slot: Slot, _ observer: Observers.SlotObserver, initial: Bool) -> ObservationToken {
        var stored: StoredValue?
        // If it cannot be read now, the observer receives its value when it can.
        do throws(DefaultsError) { stored = try storedValue(of: slot).value } catch { reportOnce(error, of: slot) }
        follow(slot, stored, isTracked: false)
        withObservers {
            $0.add(observer, to: slot, includesInitial: initial, depth: NotificationDepth.current)
        }
        deliver()
        return ObservationToken { [self] in
            let isEnd = withObservers { $0.remove(observer, from: slot) }
            unfollow(isEnd ? [slot] : [])
        }
    }

    /// Follows a slot that the Observation framework tracks, so that it reports external changes.
    func track(_ slot: Slot) {
        guard !withObservers({ $0.isTracked(slot) }) else { return }
        do throws(DefaultsError) {
            follow(slot, try storedValue(of: slot).value, isTracked: true)
        } catch {
            // The read itself reports the error. The next read tries again.
        }
    }

    /// Stops following slots that are no longer tracked. The Observation framework does not report
    /// that, so they are examined after a change.
    private func endTracking(_ changed: [Slot]) {
        let ended = withObservers { $0.endTracking(changed: changed) }
        if !ended.isEmpty { unfollow(ended) }
    }

    private func unfollow(_ slots: [Slot]) {
        for slot in slots { followKeys(of: slot, false) }
        switchWatch()
    }

    /// Makes the backend start or stop reporting changes of the slot's key and its former names.
    func followKeys(of slot: Slot, _ isFollowed: Bool) {
        backend.follow(slot.key, isFollowed)
        for key in slot.formerKeys { backend.follow(key, isFollowed) }
    }

    private func follow(_ slot: Slot, _ stored: StoredValue?, isTracked: Bool) {
        if withObservers({ $0.follow(slot, stored, isTracked: isTracked) }) { followKeys(of: slot, true) }
        switchWatch()
        // Check again, because the value may have changed before the slot was followed.
        processExternalChanges()
    }

    /// Makes the backend watch for external changes while there are observers, and only then.
    func switchWatch() {
        while let isOn = withObservers({ $0.beginSwitch() }) {
            if isOn {
                backend.watch { [weak self] keys in self?.externalChange(keys: keys) }
            } else {
                backend.watch(nil)
            }
            withObservers { $0.endSwitch(to: isOn) }
        }
    }

    private func externalChange(keys: [String]?) {
        let slots = keys.map(slots(of:))
        withObservers { observers in
            if let slots { observers.markStale(slots) } else { observers.markAllStale() }
            observers.markStale(keys)
        }
        processExternalChanges()
        deliver()
    }

    /// Processes external changes. If another thread is writing, that thread does so at the end of
    /// its write: it may be waiting for this one.
    func processExternalChanges() {
        guard writerLock.acquireOrRequest() else { return }
        AfterUnlock.didLock()
        var isRequested = true
        while isRequested {
            processExternalChangesLocked()
            isRequested = writerLock.release() && writerLock.acquireOrRequest()
        }
        AfterUnlock.didUnlock()
    }

    private func processExternalChangesLocked() {
        var hasGeneration = true
        do throws(DefaultsError) { hasGeneration = try catchUpLocked() != nil } catch {
            withObservers { $0.note(error) }
        }
        enqueueExternalChanges(hasGeneration: hasGeneration)
    }

    /// Reads external changes. If the backend has no generation, any key may have changed.
    ///
    /// - Returns: The generation of the backend. A file has none while it does not exist.
    func catchUpLocked() throws(DefaultsError) -> UInt64? {
        if let generation = try catchUp() { return generation }
        if !backend.followsKeys {
            withObservers { observers in
                observers.markAllStale()
                observers.markStale(nil)
            }
        }
        return nil
    }

    /// Throws if observers trigger each other without end.
    func checkDepth() throws(DefaultsError) {
        guard NotificationDepth.current < NotificationDepth.limit else {
            throw DefaultsError(
                .nestedWrite,
                reason:
                    "observers triggered each other \(NotificationDepth.limit) times in a row; stopped to break the cycle"
            )
        }
    }

    /// Appends events for external changes. Called during a write, so that they are in order with
    /// the commits of this process.
    ///
    /// - Parameter hasGeneration: Whether ``catchUpLocked()`` returned a generation.
    func enqueueExternalChanges(hasGeneration: Bool) {
        guard withObservers({ $0.hasStaleSlotsOrKeys }) else { return }
        write.isDeliveryDue = true
        // Taken before they are read, so that a change after that marks them again.
        for slot in withObservers({ $0.takeStaleSlots() }) {
            do throws(DefaultsError) {
                let stored: StoredValue?
                do throws(DefaultsError) { stored = try storedValue(of: slot).value } catch {
                    // Observers receive no value for one that the backend itself cannot read.
                    guard error.kind == .unreadable else { throw error }
                    stored = nil
                }
                withObservers { observers in
                    let depth = NotificationDepth.current + 1
                    let hasChanged = observers.enqueue(slot, stored, isForeign: true, depth: depth)
                    // If there is a generation, the Observation framework was notified when it was
                    // caught up with.
                    if hasChanged, !hasGeneration { observers.noteChange(of: [slot], depth: depth) }
                }
            } catch {
                // Mark it again. A read of the setting reports the error.
                withObservers { $0.markStale([slot]) }
            }
        }
        enqueueExternalSuiteChanges()
    }

    /// Notifies all observers of the waiting events. If this thread is inside a write of any suite,
    /// that happens after the write.
    func deliver() {
        guard !AfterUnlock.holdsLock else { return AfterUnlock.run { [self] in deliver() } }
        while let events = withObservers({ $0.queue.begin() }) {
            var changed: [Slot] = []
            for event in events {
                switch event {
                case .failure(let failure): report(failure)
                case .trackedChange(let slot, let depth):
                    NotificationDepth.calling(at: depth) { slot.noteChange() }
                    changed.append(slot)
                case .change(let change, let depth): NotificationDepth.calling(at: depth) { notify(change) }
                case .suiteChange(let change, let observer, let depth):
                    if withObservers({ _ in observer.state.isCancelled }) { continue }
                    NotificationDepth.calling(at: depth) { observer.handle(change) }
                }
            }
            endTracking(changed)
            withObservers { $0.queue.end() }
        }
    }

    private func notify(_ event: Observers.Change) {
        guard let first = event.audience.first else { return }
        let (slot, last) = (event.slot, withObservers { _ in first.last })
        // Released without a lock: the values may hold objects of the program.
        defer { withExtendedLifetime(last) {} }
        var failure: DefaultsError?
        func call(_ observers: some Sequence<Observers.SlotObserver>) {
            let new = event.new.map { ChangedValue($0, of: slot) }
            var change = makeChange(event, new, after: last)
            if slot.keepsValues {
                withObservers { _ in first.last = if let stored = event.new, let new { (stored, new) } else { nil } }
            }
            for observer in observers {
                // Checked immediately before the call; see `ObservationToken.cancel()`.
                if !withObservers({ _ in observer.isCancelled }) { observer.handle(change) }
                // Usually either all observers ask for the values or none.
                if observer === first { change = change.settled }
            }
            if case .failure(let error)? = new?.known { failure = error }
        }
        if slot.keepsValues {
            call(event.audience)
        } else {
            // Class instances are made for each observer, because an observer could change them.
            for observer in event.audience { call(CollectionOfOne(observer)) }
        }
        if let failure { reportOnce(failure, of: slot, stored: event.new) }
    }

    private func makeChange(
        _ event: Observers.Change, _ new: ChangedValue?, after last: (stored: StoredValue, value: ChangedValue)?
    ) -> SlotChange {
        let old = event.old.map { old in
            // Usually the old value is the new one of the last change, and may be decoded.
            if let last, last.stored.isIdentical(to: old) { return last.value }
            return ChangedValue(old, of: event.slot)
        }
        return SlotChange(
            old: old.map(ChangeContent.stored) ?? .none, new: new.map(ChangeContent.stored) ?? .none,
            kind: event.isInitial ? .initial : event.new == nil ? .removed : .set,
            origin: event.isForeign ? .external : .local)
    }
}
