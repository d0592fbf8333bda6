import SettingsFile

// Telling those who observe: in the order of the commits, under no lock, and outside every turn.
extension SuiteCore {
    /// Begins to tell an observer of a slot's changes.
    func observe(_ slot: Slot, _ observer: Observer, _ options: ObservationOptions) -> ObservationToken {
        var stored: PropertyList?
        // Why it cannot be read is told to whoever reads it; what it comes to is told when it can be.
        do throws(DefaultsError) { stored = try storedValue(of: slot).value } catch { reportOnce(error, of: slot) }
        follow(slot, stored, isTracked: false)
        observers.withLock {
            $0.add(observer, to: slot, tellsInitial: options.contains(.initial), depth: ChangeRow.depth)
        }
        deliver()
        return ObservationToken { [self] in
            let isEnd = observers.withLock { $0.remove(observer, from: slot) }
            unfollow(isEnd ? [slot] : [])
        }
    }

    /// Has the Observation framework hear of what others change in a slot that is tracked.
    func track(_ slot: Slot) {
        guard !observers.withLock({ $0.isTracked(slot) }) else { return }
        do throws(DefaultsError) {
            follow(slot, try storedValue(of: slot).value, isTracked: true)
        } catch {
            // The read itself says why; the next one tries again.
        }
    }

    /// Follows no longer what is tracked no longer, of which there is no news but this: it is looked for when something has changed.
    private func endTracking(_ changed: [(slot: Slot, depth: Int)]) {
        let ended = observers.withLock { $0.endTracking(changed: changed.lazy.map(\.slot)) }
        if !ended.isEmpty { unfollow(ended) }
    }

    private func unfollow(_ slots: [Slot]) {
        for slot in slots { followKeys(of: slot, false) }
        switchWatch()
    }

    /// Has the backend report changes of the slot's key and its former names, or no longer.
    func followKeys(of slot: Slot, _ isFollowed: Bool) {
        backend.follow(slot.key, isFollowed)
        for key in slot.formerKeys { backend.follow(key, isFollowed) }
    }

    private func follow(_ slot: Slot, _ stored: PropertyList?, isTracked: Bool) {
        if observers.withLock({ $0.follow(slot, stored, isTracked: isTracked) }) { followKeys(of: slot, true) }
        switchWatch()
        // Once more, since something may have happened before it was followed.
        look()
    }

    /// Has the backend watch for news while somebody observes, and only then.
    func switchWatch() {
        while let isOn = observers.withLock({ $0.beginSwitch() }) {
            if isOn {
                backend.watch { [weak self] keys in self?.hear(of: keys) }
            } else {
                backend.watch(nil)
            }
            observers.withLock { $0.endSwitch(to: isOn) }
        }
    }

    private func hear(of keys: [String]?) {
        let slots = keys.map(slots(of:))
        observers.withLock { observers in
            if let slots { observers.doubt(slots) } else { observers.doubtAll() }
            observers.doubt(keys)
        }
        look()
        deliver()
    }

    /// Finds out what others have changed, or has whoever has the turn do so when that ends: this thread may be one that they wait for.
    func look() {
        while true {
            do throws(TurnLock.Refusal) {
                try beginTurn(patience: .zero)
                defer { endTurn() }
                return lookInTurn()
            } catch {
                observers.withLock { $0.requestLook() }
                // It may have ended between the refusal and the request.
                guard case .timedOut = error, !turns.isHeld else { return }
            }
        }
    }

    private func lookInTurn() {
        var hasGeneration = true
        do throws(DefaultsError) { hasGeneration = try catchUpInTurn() } catch { observers.withLock { $0.note(error) } }
        announceNews(hasGeneration: hasGeneration)
    }

    /// Catches up; a backend that cannot tell whether anything has changed may have changed all.
    ///
    /// - Returns: Whether the backend has a generation. A file has none while it does not exist.
    func catchUpInTurn() throws(DefaultsError) -> Bool {
        guard try catchUp() == nil else { return true }
        if !backend.followsKeys {
            observers.withLock { observers in
                observers.doubtAll()
                observers.doubt(nil)
            }
        }
        return false
    }

    /// Looks for those who could not while the turn was held; after it has ended.
    func lookIfDue() {
        while observers.withLock({ $0.takeLook() }) { look() }
    }

    /// Throws where observers write in a circle.
    func checkDepth() throws(DefaultsError) {
        guard ChangeRow.depth < ChangeRow.limit else {
            throw DefaultsError(
                .nestedWrite,
                reason:
                    "observers write in a circle: of \(ChangeRow.limit) changes each was made while the one before was told"
            )
        }
    }

    /// Notes a commit of this process; inside the turn.
    func announceOwn(_ edits: [(key: String, value: PropertyList?)], _ slots: [Slot]) {
        let edits = readValues(after: edits)
        // Read outside the lock of the observers, and before anyone else can write.
        var formerValues: [(slot: Slot, value: PropertyList?)] = []
        for slot in slots where !slot.formerKeys.isEmpty && !observers.withLock({ $0.isEmpty }) {
            do throws(DefaultsError) {
                formerValues.append((slot, try storedValue(of: slot).value))
            } catch {
                observers.withLock { observers in
                    observers.doubt([slot])
                    observers.doubt([slot.key])
                }
            }
        }
        let hasSuiteObservers = observers.withLock { observers in
            observers.noteChange(of: slots, depth: ChangeRow.depth + 1)
            guard !observers.isEmpty else { return false }
            for slot in slots {
                // There are few, mostly one.
                let edit = edits.first { $0.key.hasSameBytes(as: slot.key) }
                let former = formerValues.first { $0.slot === slot }
                guard let value = former.map(\.value) ?? edit.map(\.value) else { continue }
                observers.announce(slot, value, isForeign: false, depth: ChangeRow.depth + 1)
            }
            return observers.hasSuiteObservers
        }
        guard hasSuiteObservers else { return }
        // A value under a former key is reported under the present one.
        var values = edits.filter { edit in !formerValues.contains { $0.slot.key.hasSameBytes(as: edit.key) } }
        for (slot, value) in formerValues where !values.contains(where: { $0.key.hasSameBytes(as: slot.key) }) {
            values.append((slot.key, value))
        }
        let declared = declaredNames(among: values.map(\.key))
        observers.withLock {
            $0.announce(values, declared: declared, origin: .thisProcess, depth: ChangeRow.depth + 1)
        }
    }

    /// The values that readers get after a commit. That of a key that was removed may be a fallback value.
    private func readValues(
        after edits: [(key: String, value: PropertyList?)]
    ) -> [(key: String, value: PropertyList?)] {
        guard backend.hasFallbackValues, observers.withLock({ !$0.isEmpty }) else { return edits }
        return edits.map { edit in
            // What cannot be read is told to its readers.
            edit.value == nil ? (edit.key, (try? backend.value(forKey: edit.key)) ?? nil) : edit
        }
    }

    /// Notes what others have changed; inside the turn, so that it comes in its place among this process's own commits.
    ///
    /// - Parameter hasGeneration: What ``catchUpInTurn()`` returned.
    func announceNews(hasGeneration: Bool) {
        guard observers.withLock({ $0.hasDoubt }) else { return }
        // Taken before they are read: what changes after that is doubted anew.
        for slot in observers.withLock({ $0.takeDoubtful() }) {
            do throws(DefaultsError) {
                let stored = try storedValue(of: slot).value
                observers.withLock { observers in
                    let depth = ChangeRow.depth + 1
                    let isNews = observers.announce(slot, stored, isForeign: true, depth: depth)
                    // If there is a generation, the Observation framework was notified when it was caught up with.
                    if isNews, !hasGeneration { observers.noteChange(of: [slot], depth: depth) }
                }
            } catch {
                // Back on the list; whoever reads it is told why.
                observers.withLock { $0.doubt([slot]) }
            }
        }
        announceSuiteNews()
    }

    /// Tells everybody what there is to tell; where this thread has a turn, of this suite or another one, when that ends.
    func deliver() {
        guard !HeldTurns.hasOne else { return HeldTurns.postpone { [self] in deliver() } }
        while let (events, suiteEvents, changed, failures) = observers.withLock({ $0.beginDelivery() }) {
            for failure in failures { report(failure) }
            for (slot, depth) in changed { ChangeRow.calling(at: depth) { slot.noteChange() } }
            endTracking(changed)
            for event in events { ChangeRow.calling(at: event.depth) { tell(event) } }
            for event in suiteEvents where !observers.withLock({ _ in event.observer.state.isCancelled }) {
                ChangeRow.calling(at: event.depth) { event.observer.handle(event.change) }
            }
            observers.withLock { $0.endDelivery() }
        }
    }

    private func tell(_ event: Observers.Event) {
        var change: (any AnyObject & Sendable)?
        for observer in event.audience {
            if change == nil || !event.slot.keepsValues {
                // Class instances are made anew for each: whoever was handed one could change it.
                change = makeChange(event)
            }
            // Asked just before the call, which so begins before a cancellation that returns later.
            if !observers.withLock({ _ in observer.isCancelled }) { observer.handle(change!) }
        }
    }

    private func makeChange(_ event: Observers.Event) -> any AnyObject & Sendable {
        let (change, failure) = event.slot.makeChange(event.old, event.new, event.isForeign ? .another : .thisProcess)
        if let failure { reportOnce(failure.about(key: event.slot.key), of: event.slot, stored: event.new) }
        return change
    }
}
