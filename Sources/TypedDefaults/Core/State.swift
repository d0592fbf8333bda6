import SettingsFile

// A suite is one value
// ====================
//
// The state of a suite is what is stored at one moment: a value for each name that was asked for,
// at a generation of the backend. Other names stay in the backend.
//
// `install` is the only place where the state goes on to the next one. It compares the two, makes
// the slots of names that differ forget what they have seen, and queues the events of observers.
// `commit` calls it with what this process stores, and `goOn` with what was loaded. A load counts
// only if no state was installed since it began and no commit is under way. So events are in the
// order of the states, and each observer gets each change once.
//
// | always true while the lock is free                                                             |
// |------------------------------------------------------------------------------------------------|
// | `entry.stored` is what the backend had at `generation`, or later when it was asked             |
// | `slot.seen` is `unread`, or made of `entry.stored`: nothing is ever outdated                   |
// | events are queued by `install`, `setLayers` and failures only, in the order of the states      |
// | between the begin of a commit and its `install`, other threads that find a newer generation    |
// | read past the state: they may return the new value early, but never keep or report it          |
// | no code of the program runs under the lock: old values leave `install` as its result           |

/// What is stored under one name.
enum Found: Equatable {
    case nothing
    case value(PropertyList)
    /// A value that the backend itself cannot read.
    case unreadable
    /// The backend could not be read when it was asked.
    case unavailable

    init(_ value: PropertyList?) { self = value.map(Found.value) ?? .nothing }
}

extension SuiteCore {
    /// One name in a suite. Accessed only while the lock of the suite is held.
    // A class, because copying its arrays at each use would cost more than everything else. No
    // check for exclusive access is necessary for what each write changes, as in `Slot`.
    final class Entry {
        let name: String
        /// Whether the name is that of a history.
        let isHistory: Bool
        /// What is stored; `nil` if nothing has asked for it.
        @exclusivity(unchecked)
        var stored: Found?
        /// The slots that read the name.
        @exclusivity(unchecked)
        var slots: [Slot] = []
        /// Whether something observes the name, so that the backend was asked to follow it.
        var isFollowed = false
        /// How the name was first declared.
        var declaredForm: DeclaredForm?
        /// Whether it was declared in another form as well, which was reported.
        var isInConflict = false
        /// Whether it is among the vacant entries.
        var isVacant = false

        init(_ name: String) { (self.name, isHistory) = (name, Histories.isHistory(name)) }

        /// Returns the slot that reads the name with that type and conversion.
        func slot(_ form: ConversionForm) -> Slot? { slots.first { $0.form == form } }

        var isKnown: Bool { ![nil, .unavailable, .unreadable].contains(stored) }

        /// Removes the slots that only this entry holds.
        func removeUnused(_ unused: inout State.Released) {
            for index in slots.indices.reversed()
            where isKnownUniquelyReferenced(&slots[index]) && slots[index].canBeMadeAgain {
                unused.append(slots.remove(at: index))
            }
        }
    }

    /// The state that the lock of the suite protects.
    struct State {
        /// The names that are used, observed or declared.
        var table: [ByteString: Entry] = [:]
        /// The generation of the backend at which the state is; 0 before the first read.
        var generation: UInt64 = 0
        /// The number of states so far.
        var version: UInt64 = 0
        /// Whether a commit is under way, so that what the backend returns may be its edits.
        var isCommitting = false
        /// Whether changes by other code were found during a commit, or could not be loaded.
        var isBehind = false
        /// The generation over which the writer commits.
        var writerGeneration: UInt64?
        /// Whether another machine was faster than the writer, which must begin again.
        var mustWriteAgain = false
        /// The process that must flush in the background, as counted by `Forks.count`; `nil` if no
        /// flush is due.
        var flushingProcess: Int?
        var layers: Layers
        /// How often the slots got the values of other layers.
        var layerChanges = 0
        var onFailure: @Sendable (DefaultsError) -> Void
        /// Whether another suite may stand in for this one; see
        /// ``DefaultsSuite/withStandard(_:operation:)``.
        var isBypassed = false
        var observers = Observers()
        /// The kinds of errors that reads have reported since a value could be read.
        var reportedKinds: [DefaultsError.Kind] = []
        /// Whether it was reported that the storage does not respond.
        var isSilent = false
        /// The slots that `suite[key]` has used last.
        var recentSlots = RecentSlots()
        /// Names that had no value when they were last looked at, and the place of the next one to
        /// look at.
        private var vacant: [Entry] = []
        private var nextVacant = 0

        init(layers: Layers, onFailure: @escaping @Sendable (DefaultsError) -> Void) {
            (self.layers, self.onFailure) = (layers, onFailure)
        }
    }
}

// The table.
extension SuiteCore.State {
    var allSlots: [Slot] { table.values.flatMap(\.slots) }

    /// Returns whether an error is the first of its kind since a value could be read.
    mutating func isFirstOfKind(_ error: DefaultsError) -> Bool {
        guard !reportedKinds.contains(error.kind) else { return false }
        reportedKinds.append(error.kind)
        return true
    }

    /// Returns the entry of a name, and creates it if there is none.
    mutating func entry(_ name: String) -> SuiteCore.Entry {
        let bytes = ByteString(name)
        if let entry = table[bytes] { return entry }
        let entry = SuiteCore.Entry(name)
        table[bytes] = entry
        return entry
    }

    /// Returns the entry of a name whose value this state has to know, because it was asked for or
    /// is observed.
    mutating func knownEntry(_ name: String) -> SuiteCore.Entry? {
        if let entry = table[ByteString(name)], entry.stored != nil || entry.isFollowed { return entry }
        guard observers.ofSuite.contains(where: { $0.hasPrefix(name) }) else { return nil }
        // Otherwise, `follow` would have found it.
        let entry = entry(name)
        entry.stored = .nothing
        return entry
    }

    mutating func add(_ slot: Slot) {
        let entry = entry(slot.key)
        entry.slots.append(slot)
        slot.state.entry = entry
        if !exchange(&entry.isVacant, with: true) { vacant.append(entry) }
    }

    /// Forgets names that nothing uses. Looks at two for each one that is new, or that was found to
    /// have no value, so there are never many of them.
    mutating func forgetVacant(_ count: Int) -> Released {
        var unused: Released = []
        for _ in 0..<2 * count where !vacant.isEmpty {
            nextVacant = nextVacant + 1 < vacant.count ? nextVacant + 1 : 0
            let entry = vacant[nextVacant]
            if entry.stored == nil || entry.stored == .nothing {
                entry.removeUnused(&unused)
                // How a name was declared matters until it is known to have no value.
                let isDeclared = entry.isInConflict || entry.stored == nil && entry.declaredForm != nil
                guard entry.slots.isEmpty, !entry.isFollowed, !isDeclared else { continue }
                table[ByteString(entry.name)] = nil
            }
            entry.isVacant = false
            vacant.swapAt(nextVacant, vacant.count - 1)
            vacant.removeLast()
        }
        return unused
    }
}

// The next state.
extension SuiteCore.State {
    /// What is released after unlocking, because it may hold objects of the program.
    typealias Released = [any AnyObject & Sendable]
    typealias NamedValue = (entry: SuiteCore.Entry, value: Found)

    /// What to do after unlocking when a state was installed.
    struct Outcome {
        /// Old values and slots, whose release may run code of the program.
        var old: Released = []
        /// The number of names that were found to have no value.
        var vacancies = 0
        /// The slots that were read, and whose change the Observation framework must hear of.
        var tracked: [Slot] = []
    }

    /// Goes on to the next state.
    ///
    /// - Parameters:
    ///   - first: What is stored then under a name, usually the only one.
    ///   - others: The same for other names that may differ.
    ///   - writer: The slot that has written the first one, and the value.
    ///   - isFirstOther: Whether the first value is known to differ.
    mutating func install(
        _ first: NamedValue?, _ others: [NamedValue], _ origin: ChangeOrigin,
        by writer: (slot: Slot, new: SeenValue)? = nil, isFirstOther: Bool = false
    ) -> Outcome {
        version &+= 1
        var (outcome, changed) = (Outcome(), [String]())
        if let first { put(first, isOther: isFirstOther, origin, &outcome, &changed) }
        for value in others { put(value, isOther: false, origin, &outcome, &changed) }
        if let writer {
            if writer.slot.isForeign(writer.slot.state.seen) { outcome.old.append(writer.slot.state.seen) }
            writer.slot.keep(writer.new)
        }
        guard !changed.isEmpty else { return outcome }
        noteSlots(origin)
        for observation in observers.ofSuite where observation.hasBegun {
            let keys = changed.filter(observation.hasPrefix)
            guard !keys.isEmpty else { continue }
            queue(.notice(.ofSuite(SuiteChange(keys: keys, origin: origin)), [observation.observer]), origin)
        }
        return outcome
    }

    /// Puts a value into the state.
    @inline(__always)
    private mutating func put(
        _ new: NamedValue, isOther: Bool, _ origin: ChangeOrigin, _ outcome: inout Outcome, _ changed: inout [String]
    ) {
        guard !new.entry.isHistory else { return }
        let old = exchange(&new.entry.stored, with: new.value)
        guard isOther || old != new.value else { return }
        for slot in new.entry.slots {
            if slot.isForeign(slot.state.seen) { outcome.old.append(slot.state.seen) }
            slot.state.seen = .unread
            if let old { noteChange(of: slot, from: old, to: new.value, origin, &outcome) }
        }
        if old != nil, !observers.isEmpty { changed.append(new.entry.name) }
        guard new.value == .nothing else { return }
        outcome.vacancies += 1
        if !exchange(&new.entry.isVacant, with: true) { vacant.append(new.entry) }
    }

    /// Queues the events of observers of several slots.
    mutating func noteSlots(_ origin: ChangeOrigin) {
        for observation in observers.ofSlots where observation.update() {
            queue(.notice(.ofSlots(observation.values), [observation.observer]), origin)
        }
    }

    /// Queues the event of a slot whose stored value has changed.
    private mutating func noteChange(
        of slot: Slot, from old: Found, to new: Found, _ origin: ChangeOrigin, _ outcome: inout Outcome
    ) {
        // Its `isSet` depends on the stored value even if a layer hides that.
        if slot.state.takeAccess() { outcome.tracked.append(slot) }
        guard !slot.state.observers.isEmpty else { return }
        let (before, after) = (slot.effective(old), slot.effective(new))
        guard slot.state.layer.isEmpty && old != .unavailable || before != after else { return }
        queueChange(of: slot, before, after, new == .nothing ? .removed : .set, origin)
    }

    mutating func queueChange(
        of slot: Slot, _ old: Found, _ new: Found, _ kind: ChangeKind, _ origin: ChangeOrigin
    ) {
        guard !slot.state.observers.isEmpty else { return }
        let change = SlotChange(slot, old, new, kind, origin)
        queue(.notice(.ofSlot(change), slot.state.observers), origin)
    }

    /// Queues an event. Those of this thread are its own, such as a failure that it has found;
    /// external changes belong to no thread.
    mutating func queue(_ event: Observers.Event, _ origin: ChangeOrigin) {
        let owner = origin == .local ? CurrentThread.id : nil
        observers.queue.append(.init(event: event, depth: NotificationDepth.current + 1, owner: owner))
    }
}
