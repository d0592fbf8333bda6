// Telling those who observe: in the order of the commits, under no lock, and outside every turn.
extension SuiteCore {
    /// Begins to tell an observer of a slot's changes.
    func observe(_ slot: Slot, _ observer: Observer, _ options: ObservationOptions) -> ObservationToken {
        var stored: PropertyList?
        // Why it cannot be read is told to whoever reads it; what it comes to is told when it can be.
        do throws(DefaultsError) { stored = try backend.value(forKey: slot.key) } catch { reportOnce(error, of: slot) }
        observers.withLock { $0.add(observer, to: slot, stored) }
        switchWatch()
        // Once more, since something may have happened before it was there.
        look(waits: false)
        if options.contains(.initial) {
            observers.withLock { $0.tellInitial(observer, of: slot, depth: Delivery.depth) }
        }
        deliver()
        return ObservationToken { [self] in
            observers.withLock { $0.remove(observer, from: slot) }
            switchWatch()
        }
    }

    /// Has the backend watch for news while somebody observes, and only then.
    private func switchWatch() {
        while let isOn = observers.withLock({ $0.beginSwitch() }) {
            if isOn {
                backend.watch { [weak self] in
                    self?.look(waits: true)
                    self?.deliver()
                }
            } else {
                backend.watch(nil)
            }
            observers.withLock { $0.endSwitch(to: isOn) }
        }
    }

    /// Finds out what others have changed. Without waiting, whoever has the turn does it at the end of it.
    private func look(waits: Bool) {
        while true {
            do throws(TurnLock.Refusal) {
                return try inTurn(patience: waits ? .seconds(2) : .zero) {
                    do throws(DefaultsError) {
                        // A backend that cannot tell whether anything has changed may have changed all.
                        if try catchUp() == nil { observers.withLock { $0.doubtAll() } }
                    } catch {
                        report(error)
                    }
                    announceNews()
                }
            } catch {
                guard waits, case .timedOut = error else { return }
            }
        }
    }

    /// Throws where observers write in a circle.
    func checkDepth() throws(DefaultsError) {
        guard Delivery.depth < Delivery.limit else {
            throw DefaultsError(
                .nestedWrite,
                reason:
                    "observers write in a circle: of \(Delivery.limit) changes each was made while the one before was told"
            )
        }
    }

    /// Notes a commit of this process; inside the turn.
    func announceOwn(_ edits: [(key: String, value: PropertyList?)], _ slots: [Slot]) {
        observers.withLock { observers in
            observers.noteChange(of: slots)
            guard !observers.isEmpty else { return }
            for slot in slots {
                // There are few, mostly one.
                guard let edit = edits.first(where: { $0.key.hasSameBytes(as: slot.key) }) else { continue }
                observers.announce(slot, edit.value, isForeign: false, depth: Delivery.depth + 1)
            }
        }
    }

    /// Notes what others have changed; inside the turn, so that it comes in its place among this process's own commits.
    func announceNews() {
        for slot in observers.withLock({ $0.doubtful }) {
            do throws(DefaultsError) {
                let stored = try backend.value(forKey: slot.key)
                observers.withLock { $0.announce(slot, stored, isForeign: true, depth: Delivery.depth + 1) }
            } catch {
                // It stays on the list.
                reportOnce(error, of: slot)
            }
        }
    }

    /// Tells everybody what there is to tell, unless this thread has its turn: then it is told when that ends.
    func deliver() {
        guard !turns.isHeldByCaller else { return }
        while let (events, changed) = observers.withLock({ $0.beginDelivery() }) {
            for slot in changed { slot.noteChange() }
            for event in events {
                let audience = event.target.map { [$0] } ?? observers.withLock { $0.observers(of: event.slot) }
                Delivery.$depth.withValue(event.depth) {
                    var change: (any AnyObject & Sendable)?
                    // Asked just before each call, which so begins before a cancellation that returns later.
                    for observer in audience where !observers.withLock({ _ in observer.isCancelled }) {
                        // Class instances are made anew for each: whoever was handed one could change it.
                        if change == nil || !event.slot.keepsValues { change = makeChange(event) }
                        observer.handle(change!)
                    }
                }
            }
            observers.withLock { $0.endDelivery() }
        }
    }

    private func makeChange(_ event: Observers.Event) -> any AnyObject & Sendable {
        let (change, failure) = event.slot.makeChange(event.old, event.new, event.isForeign ? .another : .thisProcess)
        if let failure { reportOnce(failure.about(key: event.slot.key), of: event.slot) }
        return change
    }
}
