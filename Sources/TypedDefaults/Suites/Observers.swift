/// How deep in a row of changes this thread is, each of them made while the one before was told.
enum Delivery {
    @TaskLocal static var depth = 0
    static let limit = 100
}

/// One handler that hears of a slot's changes until it is cancelled.
final class Observer: Sendable {
    /// Takes a `Box` of a ``DefaultChange`` of the slot's type.
    let handle: @Sendable (any AnyObject & Sendable) -> Void
    // Safe: touched only with the lock held that the suite's observers are behind. One of its own would be three more places in memory
    // to look at for each of thousands.
    nonisolated(unsafe) var isCancelled = false

    init(_ handle: @escaping @Sendable (any AnyObject & Sendable) -> Void) { self.handle = handle }
}

/// Who observes the slots of a suite, and what is to be told.
struct Observers {
    /// A change on its way to those who observe.
    struct Event {
        let slot: Slot
        let old: PropertyList?
        let new: PropertyList?
        let isForeign: Bool
        /// How many changes stand in the row of which each was made while the one before was told.
        let depth: Int
        /// The only one to hear of it; nil for all.
        var target: Observer?
    }

    private struct Observed {
        let slot: Slot
        var observers: [Observer] = []
        /// What they were told last.
        var announced: PropertyList?
    }
    private var observed: [ObjectIdentifier: Observed] = [:]
    /// Those that somebody else may have changed since.
    private var doubted: [ObjectIdentifier: Slot] = [:]
    private(set) var events: [Event] = []
    /// Slots whose value has changed since the Observation framework was told.
    private var changed: [Slot] = []
    private var isDelivering = false
    private var isWatching = false
    private var isSwitching = false

    var isEmpty: Bool { observed.isEmpty }
    var doubtful: [Slot] { Array(doubted.values) }

    mutating func add(_ observer: Observer, to slot: Slot, _ stored: PropertyList?) {
        let id = ObjectIdentifier(slot)
        // In place: taken out, thousands of them would be copied to add one.
        observed[id, default: Observed(slot: slot, announced: stored)].observers.append(observer)
        // Something may have happened since it was read.
        doubted[id] = slot
    }

    mutating func remove(_ observer: Observer, from slot: Slot) {
        observer.isCancelled = true
        let id = ObjectIdentifier(slot)
        guard let index = observed[id]?.observers.lastIndex(where: { $0 === observer }) else { return }
        observed[id]?.observers.remove(at: index)
        if observed[id]?.observers.isEmpty == true { (observed[id], doubted[id]) = (nil, nil) }
    }

    func observers(of slot: Slot) -> [Observer] { observed[ObjectIdentifier(slot)]?.observers ?? [] }

    /// What the observers of a slot were told last.
    func announced(_ slot: Slot) -> PropertyList? { observed[ObjectIdentifier(slot)]?.announced }

    mutating func tellInitial(_ observer: Observer, of slot: Slot, depth: Int) {
        events.append(
            Event(slot: slot, old: nil, new: announced(slot), isForeign: false, depth: depth, target: observer))
    }

    mutating func doubt(_ slots: some Sequence<Slot>) {
        for slot in slots where observed[ObjectIdentifier(slot)] != nil { doubted[ObjectIdentifier(slot)] = slot }
    }

    mutating func doubtAll() { doubted = observed.mapValues(\.slot) }

    /// Notes what a slot comes to now; an event, unless its observers know that already.
    mutating func announce(_ slot: Slot, _ stored: PropertyList?, isForeign: Bool, depth: Int) {
        let id = ObjectIdentifier(slot)
        guard let entry = observed[id] else { return }
        doubted[id] = nil
        guard entry.announced != stored else { return }
        observed[id]?.announced = stored
        events.append(Event(slot: slot, old: entry.announced, new: stored, isForeign: isForeign, depth: depth))
    }

    mutating func noteChange(of slots: some Sequence<Slot>) { changed += slots }

    /// All that is to be told, for the one thread that tells; nil if there is nothing, or another one is at it.
    mutating func beginDelivery() -> (events: [Event], changed: [Slot])? {
        guard !isDelivering, !events.isEmpty || !changed.isEmpty else { return nil }
        isDelivering = true
        defer { (events, changed) = ([], []) }
        return (events, changed)
    }

    mutating func endDelivery() { isDelivering = false }

    /// Whether the backend's watch is to be switched on or off by the caller; nil if it is as it should be, or somebody is at it.
    mutating func beginSwitch() -> Bool? {
        guard !isSwitching, isWatching == isEmpty else { return nil }
        isSwitching = true
        return !isEmpty
    }

    mutating func endSwitch(to isWatching: Bool) { (self.isWatching, isSwitching) = (isWatching, false) }
}
