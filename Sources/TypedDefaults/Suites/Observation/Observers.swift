import SettingsFile

// Observation
// ===========
//
// Three kinds of observers receive changes: an `Observer` of one slot, a `SuiteObserver` of all
// declared keys or of a prefix, and the Observation framework, which tracks a slot after a `get`.
//
// The life of one change
// ----------------------
// Commit. A thread commits while it holds the lock of the writers. In the same access to the
// suite's state that ends the commit, `record` compares the value of each edited key with the value
// that its observers know. If they differ, it appends an event with both values and the observers
// of that moment. Events are therefore in the order of the commits, and each observer gets each
// change once.
//
// Queue. Events wait in one `DeliveryQueue`: changes for observers of a slot or of the suite, slots
// whose change the Observation framework must be notified of, and failures that no caller can
// receive. A `Relay`, which serves the observers of a store without events of its own, uses the
// same queue.
//
// Delivery. After the write, with no lock held, the thread calls `SuiteCore.deliver`. One thread at
// a time delivers. It takes all events at once, calls the handlers in order, and repeats this until
// the queue is empty. Another thread that finds a delivery under way leaves its events to that
// thread, so a handler can run on a thread other than the writer's. A thread that is inside a write
// of any suite delivers after it has ended that write, because a handler may write the suite.
//
// Values. Each value of a change is a `ChangedValue`, decoded when an observer asks for it.
// The observers of a change share it. The new value of one change is the old value of the next.
// After the last observer has returned, a failure to decode the new value is reported. A program
// may keep a change: it holds nothing of the suite, and asking it later reports nothing. Consumers
// that take changes later, such as those on the main actor, get them decoded.
//
// What can happen in between
// --------------------------
// - The token is cancelled. Delivery asks for each observer immediately before the call, so no call
//   begins after that, except one that another thread had already decided to make.
// - A handler writes. Its event is appended to the queue, and the delivery under way takes it next.
// - An observer is added. It gets no event that was recorded before, because an event names its
//   observers. Its first value is read, then `follow` marks the slot stale and reads it again, and
//   only then is the observer added. So no change falls between its first value and its first
//   event.
// - The process is forked. The child has the queues, and `leaveParent` ends the parent's delivery.
//
// Cycles
// ------
// A handler that writes a value which makes another handler write, and so on, would never
// end. Each event has a depth: one more than that of the event whose handler made the change.
// `NotificationDepth` keeps it for the thread. A write at depth 100 throws an error.
//
// External changes
// ----------------
// While there are observers, the backend watches for changes by other processes
// (`switchWatch`). Its callback marks slots stale, or all of them. `processExternalChanges` then
// acquires the lock of the writers, catches up, reads the stale keys, and records what differs from
// the value that the observers know. If another thread is writing, the callback does not wait: it
// leaves a request, and the writer does the work at the end of its write. A slot that cannot be
// read stays stale until the next time. Each write that finds a new generation processes external
// changes before its own, so that observers get them in the order in which they were committed.
//
// Several external commits between two reads of a key arrive as one change.
//
// Tracking
// --------
// The Observation framework does not report when it stops tracking. The framework keeps a key path
// of a slot that it tracks, and the slot asks whether such a reference exists (`Slot.isTracked`).
// After a delivery, slots that are no longer tracked are removed. All tracked slots are examined
// once in as many deliveries as there are tracked slots, so the cost per delivery is constant on
// average.
//
// Locks: `Observers` is part of the suite's state and is protected by its lock. Handlers, reads of
// the backend, and conversions run outside it. SuiteCore.swift has the table of all locks.

/// The number of handlers that led to the change which this thread is making: each of them made a
/// change that the next one was called for.
///
/// The depth belongs to the thread and not to the task: a task that a handler starts runs later, so
/// its changes are not part of a cycle.
enum NotificationDepth {
    private static let number = ThreadNumber()
    static let limit = 100

    static var current: Int { number.value }

    /// Calls a handler for a change at this depth.
    static func calling(at depth: Int, _ body: () -> Void) {
        let outer = number.value
        number.value = depth
        defer { number.value = outer }
        body()
    }
}

/// The observers of a suite and its slots, and the events that wait for them.
struct Observers {
    typealias SlotObserver = Observer<SlotChange>

    /// A change of a slot.
    struct Change {
        let slot: Slot
        // What readers get: the value of a layer, or the stored value.
        let old: StoredValue?
        let new: StoredValue?
        let isForeign: Bool
        var isInitial = false
        /// The observers at the time of the commit.
        let audience: [SlotObserver]
    }

    /// An event that waits to be delivered. The depth is explained under *Cycles* above.
    enum Event {
        case change(Change, depth: Int)
        case suiteChange(SuiteChange, SuiteObserver, depth: Int)
        /// The Observation framework has not been notified of the slot's change.
        case trackedChange(Slot, depth: Int)
        /// A failure that no caller could receive.
        case failure(DefaultsError)
    }

    private struct Observed {
        let slot: Slot
        var observers: [SlotObserver] = []
        /// The value that the observers know.
        var known: StoredValue?
        /// The number of observers that are about to be added.
        var pending = 0
        /// Whether the Observation framework tracked the slot when it was last asked.
        var isTracked = false

        var isIdle: Bool { observers.isEmpty && pending == 0 && !isTracked }
    }
    private var observed: [ObjectIdentifier: Observed] = [:]
    private var tracked: [ObjectIdentifier: Slot] = [:]
    /// The number of deliveries since all tracked slots were examined.
    private var deliveries = 0
    /// The slots that other code may have changed since their observers were notified.
    private var stale: [ObjectIdentifier: Slot] = [:]
    private var suiteObservers: [SuiteObserver] = []
    /// The keys that other code may have changed since the suite's observers were notified; `nil`
    /// for all keys.
    private var staleKeys: Set<ByteString>? = []
    var queue = DeliveryQueue<Event>()
    private var isWatching = false
    private var isSwitching = false

    var isEmpty: Bool { observed.isEmpty && suiteObservers.isEmpty }

    /// Whether other code may have changed something that is observed.
    var hasStaleSlotsOrKeys: Bool { !stale.isEmpty || hasStaleKeys }

    /// Returns the stale slots, and marks none as stale.
    mutating func takeStaleSlots() -> [Slot] {
        defer { stale = [:] }
        return Array(stale.values)
    }

    /// Begins to follow a slot before an observer is added, or for the Observation framework.
    ///
    /// - Returns: Whether it was not followed before.
    mutating func follow(_ slot: Slot, _ stored: StoredValue?, isTracked: Bool = false) -> Bool {
        let id = ObjectIdentifier(slot)
        let isNew = observed[id] == nil
        if isNew { observed[id] = Observed(slot: slot, known: stored) }
        if isTracked {
            observed[id]?.isTracked = true
            tracked[id] = slot
        } else {
            observed[id]?.pending += 1
        }
        // The value may have changed since it was read.
        stale[id] = slot
        return isNew
    }

    var allTracked: [Slot] { Array(tracked.values) }

    func isTracked(_ slot: Slot) -> Bool { tracked[ObjectIdentifier(slot)] != nil }

    /// Removes slots that are no longer tracked.
    ///
    /// - Parameter changed: The slots whose trackers were just notified. A tracker that is notified
    ///   of one slot stops tracking all others, so all tracked slots are examined as well, but only
    ///   once in as many deliveries as there are tracked slots.
    /// - Returns: The slots that are no longer followed.
    mutating func endTracking(changed: some Sequence<Slot>) -> [Slot] {
        guard !tracked.isEmpty else { return [] }
        deliveries += 1
        let isSweep = deliveries >= tracked.count
        if isSweep { deliveries = 0 }
        let candidates = isSweep ? Array(tracked.values) : changed.filter(isTracked)
        var ended: [Slot] = []
        for slot in candidates where !slot.isTracked {
            let id = ObjectIdentifier(slot)
            tracked[id] = nil
            observed[id]?.isTracked = false
            if endIfIdle(slot) { ended.append(slot) }
        }
        return ended
    }

    /// - Returns: Whether the slot is no longer followed.
    private mutating func endIfIdle(_ slot: Slot) -> Bool {
        let id = ObjectIdentifier(slot)
        guard observed[id]?.isIdle == true else { return false }
        (observed[id], stale[id]) = (nil, nil)
        return true
    }

    /// Adds an observer of a slot that is followed. It receives no earlier event.
    mutating func add(_ observer: SlotObserver, to slot: Slot, includesInitial: Bool, depth: Int) {
        let id = ObjectIdentifier(slot)
        // Changed in place, because a copy of the array would have thousands of elements.
        observed[id]?.pending -= 1
        observed[id]?.observers.append(observer)
        guard includesInitial else { return }
        let change = Change(
            slot: slot, old: nil, new: slot.layeredValue.map(StoredValue.tree) ?? observed[id]?.known, isForeign: false,
            isInitial: true,
            audience: [observer])
        queue.append(.change(change, depth: depth))
    }

    /// - Returns: Whether the slot is no longer followed.
    mutating func remove(_ observer: SlotObserver, from slot: Slot) -> Bool {
        observer.isCancelled = true
        let id = ObjectIdentifier(slot)
        guard let index = observed[id]?.observers.lastIndex(where: { $0 === observer }) else { return false }
        observed[id]?.observers.remove(at: index)
        return endIfIdle(slot)
    }

    mutating func markStale(_ slots: some Sequence<Slot>) {
        for slot in slots where observed[ObjectIdentifier(slot)] != nil { stale[ObjectIdentifier(slot)] = slot }
    }

    mutating func markAllStale() { stale = observed.mapValues(\.slot) }

    /// Appends an event with the present value of a slot, unless its observers know it.
    ///
    /// - Returns: Whether the value differs from the one that the observers knew.
    @discardableResult
    mutating func enqueue(_ slot: Slot, _ stored: StoredValue?, isForeign: Bool, depth: Int) -> Bool {
        guard let index = observed.index(forKey: ObjectIdentifier(slot)) else { return false }
        let entry = observed.values[index]
        guard entry.known != stored else { return false }
        observed.values[index].known = stored
        // Reading returns the value of a layer, whatever is stored. The Observation framework is
        // notified all the same, because `isSet` is about what is stored.
        guard !entry.observers.isEmpty, slot.layeredValue == nil else { return true }
        let change = Change(
            slot: slot, old: entry.known, new: stored, isForeign: isForeign, audience: entry.observers)
        queue.append(.change(change, depth: depth))
        return true
    }

    /// Replaces what the layers have for a slot, and appends events if that changes what is read.
    ///
    /// - Returns: Whether a refused value must be reported.
    mutating func setLayered(_ value: LayeredValue, of slot: Slot, isBypassed: Bool, depth: Int) -> Bool {
        let entry = observed[ObjectIdentifier(slot)]
        let old = slot.layeredValue.map(StoredValue.tree) ?? entry?.known
        let isReportDue = slot.setLayered(value, isBypassed: isBypassed)
        let new = value.value.map(StoredValue.tree) ?? entry?.known
        guard old != new else { return isReportDue }
        noteChange(of: [slot], depth: depth)
        if let audience = entry?.observers, !audience.isEmpty {
            let change = Change(slot: slot, old: old, new: new, isForeign: false, audience: audience)
            queue.append(.change(change, depth: depth))
        }
        return isReportDue
    }

    /// Appends slots whose change the Observation framework must be notified of. Their new values
    /// can already be read, so code that begins to track a slot now needs no event.
    mutating func noteChange(of slots: some Sequence<Slot>, depth: Int) {
        for slot in slots where slot.isTracked || !tracked.isEmpty {
            queue.append(.trackedChange(slot, depth: depth))
        }
    }

    mutating func note(_ failure: DefaultsError) { queue.append(.failure(failure)) }

    /// In a forked process, ends what other threads of the parent were doing.
    mutating func leaveParent() {
        queue.leaveParent()
        isSwitching = false
    }

    /// Whether the caller must switch the backend's watch on or off; `nil` if it is right, or if
    /// another thread is switching it.
    mutating func beginSwitch() -> Bool? {
        guard !isSwitching, isWatching == isEmpty else { return nil }
        isSwitching = true
        return !isEmpty
    }

    mutating func endSwitch(to isWatching: Bool) { (self.isWatching, isSwitching) = (isWatching, false) }
}

// Observers of the suite as a whole.
extension Observers {
    var hasSuiteObservers: Bool { !suiteObservers.isEmpty }

    private var hasStaleKeys: Bool { hasSuiteObservers && staleKeys?.isEmpty != true }

    mutating func add(_ observer: SuiteObserver, _ stored: [(key: String, value: PropertyList?)]) {
        for (key, value) in stored { observer.state.known[ByteString(key)] = value }
        suiteObservers.append(observer)
        // The values may have changed since they were read.
        staleKeys = nil
    }

    mutating func remove(_ observer: SuiteObserver) {
        observer.state.isCancelled = true
        suiteObservers.removeAll { $0 === observer }
    }

    /// - Parameter keys: The keys that other code may have changed; `nil` for all keys.
    mutating func markStale(_ keys: [String]?) {
        guard hasSuiteObservers else { return }
        staleKeys = keys.flatMap { keys in staleKeys?.union(keys.map(ByteString.init)) }
    }

    /// Returns the stale keys, and marks none as stale. The inner `nil` means all keys: those that
    /// were stored, those that are stored, and those that are declared.
    mutating func takeStaleKeys() -> [String]?? {
        guard hasStaleKeys else { return .none }
        defer { staleKeys = [] }
        return .some(staleKeys?.map(\.string))
    }

    /// The keys whose values the suite's observers know.
    var knownKeys: Set<ByteString> { suiteObservers.reduce(into: []) { $0.formUnion($1.state.known.keys) } }

    /// Records the value that a key had when it was declared.
    mutating func noteDeclaration(of key: String, _ stored: PropertyList?, isUnderFormerKey: Bool) {
        for observer in suiteObservers
        where (observer.isForDeclaredKeys || isUnderFormerKey) && observer.isAbout(key, isDeclared: true) {
            observer.state.known[ByteString(key)] = observer.state.known[ByteString(key)] ?? stored
        }
    }

    /// Appends events with the present values of keys, for the suite's observers that do not know
    /// them.
    mutating func enqueue(
        _ values: [(key: String, value: PropertyList?)], declared: Set<ByteString>, origin: ChangeOrigin, depth: Int
    ) {
        for observer in suiteObservers {
            let own = values.filter { observer.isAbout($0.key, isDeclared: declared.contains(ByteString($0.key))) }
            guard let change = observer.enqueue(own, origin: origin) else { continue }
            queue.append(.suiteChange(change, observer, depth: depth))
        }
    }
}
