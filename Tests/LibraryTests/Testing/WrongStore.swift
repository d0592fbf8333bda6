import Foundation
import SettingsFile
import TestSupport
import TypedDefaults

@testable import TypedDefaultsTesting

/// Lets other threads run until one of them has done something, or for a short time.
func yieldThread(until isSo: () -> Bool) {
    // On a busy machine one call takes as long as the time slices of the other threads.
    let deadline = DispatchTime.now() + .milliseconds(5)
    for _ in 0..<1_000 where !isSo() && .now() < deadline { sched_yield() }
}

/// A store that breaks one law and keeps all others.
final class WrongStore: DefaultStoreType {
    /// The state that all stores on one storage share.
    private final class Place: Sendable {
        let store = InMemoryStore<LawSample>()
        let isShared = Guarded(false)
        let handlers = Guarded<[@Sendable (DefaultChange<LawSample>) -> Void]>([])
        let lock = NSRecursiveLock()
    }
    private struct State {
        var hasWritten = false
        var replacingSets = 0
        var missingRemovals = 0
        var wasSet = false
        var cache: LawSample??
        var torn: LawSample?
        var reads = 0
        var changes = 0
        var heldBack: DefaultChange<LawSample>?
        var isHandling = false
        var tokens: [ObservationToken] = []
    }

    private let law: StoreLaw?
    private let place: Place
    private let isSecond: Bool
    private let state = Guarded(State())

    /// - Parameter law: The law that the store breaks; `nil` for none.
    init(breaking law: StoreLaw?) { (self.law, place, isSecond) = (law, Place(), false) }

    private init(_ law: StoreLaw?, _ place: Place) { (self.law, self.place, isSecond) = (law, place, true) }

    func reopened() -> WrongStore {
        place.isShared.withLock { $0 = true }
        let forgets = law == .savedValuesSurviveReopening && place.store.get() != nil
        return WrongStore(law, forgets ? Place() : place)
    }

    /// The threads that run the body of an update.
    private static let updating = Guarded<Set<UInt>>([])
    private var isUpdating: Bool {
        get { Self.updating.withLock { $0.contains(CurrentThread.id) } }
        set {
            Self.updating.withLock { threads in
                if newValue { threads.insert(CurrentThread.id) } else { threads.remove(CurrentThread.id) }
            }
        }
    }

    func get() -> LawSample? {
        switch law {
        case .storesOnOnePlaceAgree? where isSecond:
            return state.withLock { state in
                if state.cache == nil { state.cache = .some(place.store.get()) }
                return state.cache!
            }
        case .aValueIsSeenWhole?:
            let torn = state.withLock { state in
                state.reads += 1
                return state.torn
            }
            return torn ?? place.store.get()
        case .observersRunUnderNoLock?: return place.lock.withLock { place.store.get() }
        case .readingInsideAnUpdateIsSafe? where isUpdating: return nil
        default: return place.store.get()
        }
    }

    func load() throws -> LawSample? {
        if law == .emptyReadsNil, !isSecond, !state.withLock({ $0.hasWritten }) { return LawSample() }
        return law == .storesOnOnePlaceAgree ? get() : try place.store.load()
    }

    func set(_ value: LawSample) {
        let isLost = state.withLock { state in
            (state.hasWritten, state.wasSet) = (true, true)
            if place.store.get() != nil { state.replacingSets += 1 }
            return state.replacingSets == 3
        }
        if law == .lastWriteWins, isLost { return }
        place.store.set(value)
    }

    func remove() {
        state.withLock { if place.store.get() == nil { $0.missingRemovals += 1 } }
        place.store.remove()
    }

    func save(_ value: LawSample) throws {
        let (wasSet, isAfterRemovals) = state.withLock { state in
            state.hasWritten = true
            defer { state.wasSet = false }
            return (state.wasSet, state.missingRemovals >= 2)
        }
        var value = value
        switch law {
        case .removingTwiceIsHarmless? where isAfterRemovals: return
        case .valuesReadBackBitForBit?: value.text = value.text.precomposedStringWithCanonicalMapping
        case .storesOnOnePlaceAgree?: state.withLock { $0.cache = value }
        case .aValueIsSeenWhole?:
            let reads = state.withLock { state in
                state.torn = place.store.get()
                state.torn?.text = value.text
                return state.reads
            }
            yieldThread { state.withLock { $0.reads > reads } }
            state.withLock { $0.torn = nil }
        case .observersHearEachChangeOnce? where wasSet && value == place.store.get():
            notify(DefaultChange(oldValue: value, newValue: value, kind: .set, origin: .local))
        case .writingInsideAnUpdateFailsAtOnce? where isUpdating: return
        case .updatesAreExclusive? where isUpdating: throw DefaultsError(.nestedWrite, reason: "a test")
        default: break
        }
        try place.store.save(value)
    }

    private func notify(_ change: DefaultChange<LawSample>) {
        for handler in place.handlers.withLock({ $0 }) { handler(change) }
    }

    func updateStored<Result>(_ body: (inout LawSample?) throws -> Result) throws -> Result {
        state.withLock { $0.hasWritten = true }
        let isExclusive: Bool
        switch law {
        case .updatesAreExclusive?: isExclusive = place.isShared.withLock { $0 }
        case .updatesOfTwoStoresAreExclusive?: isExclusive = !isSecond
        case .writingInsideAnUpdateFailsAtOnce?: isExclusive = !isUpdating
        default: isExclusive = true
        }
        if !isExclusive {
            guard !isUpdating || law == .writingInsideAnUpdateFailsAtOnce else {
                throw DefaultsError(.nestedWrite, reason: "a test")
            }
            var value = place.store.get()
            let result = try marked { try body(&value) }
            if law == .writingInsideAnUpdateFailsAtOnce { return result }
            let old = place.store.get()
            yieldThread { place.store.get() != old }
            if let value { try place.store.save(value) } else { place.store.remove() }
            return result
        }
        var failure: (any Error)?
        let result = try place.store.updateStored { value -> Result? in
            let old = value
            do {
                let result = try marked { try body(&value) }
                if law == .updatesReadAndWrite, value == nil { value = old }
                return result
            } catch {
                switch law {
                case .observersHearNoFailedChange?:
                    notify(DefaultChange(oldValue: old, newValue: value, kind: .set, origin: .local))
                    throw error
                case .aThrowingUpdateChangesNothing? where old == nil:
                    (value, failure) = (LawSample.samples[0], error)
                    return nil
                default: throw error
                }
            }
        }
        if let failure { throw failure }
        return result!
    }

    func update<Result>(
        default defaultValue: @autoclosure () -> LawSample, _ body: (inout LawSample) throws -> Result
    ) throws -> Result {
        state.withLock { $0.hasWritten = true }
        if law == .updatesAreExclusive || law == .updatesOfTwoStoresAreExclusive {
            return try updateStored { stored in
                let old = stored ?? defaultValue()
                var value = old
                defer { if value != old { stored = value } }
                return try body(&value)
            }
        }
        if law == .aDefaultIsUsedOnlyIfNothingIsStored { _ = defaultValue() }
        do {
            let result = try place.store.update(default: defaultValue()) { value in try marked { try body(&value) } }
            if law == .anUpdateThatChangesNothingStoresNothing, place.store.get() == nil { set(defaultValue()) }
            return result
        } catch {
            if law == .aThrowingUpdateWithADefaultChangesNothing { set(LawSample.samples[0]) }
            throw error
        }
    }

    private func marked<Result>(_ body: () throws -> Result) rethrows -> Result {
        let wasUpdating = isUpdating
        isUpdating = true
        defer { isUpdating = wasUpdating }
        return try body()
    }

    func observe(
        initial: Bool, _ handler: @escaping @Sendable (DefaultChange<LawSample>) -> Void
    ) -> ObservationToken {
        place.handlers.withLock { $0.append(handler) }
        let token = place.store.observe(initial: initial) { [self] in handle($0, handler) }
        return ObservationToken { [self] in
            let isKept = state.withLock { state in
                guard law == .observersMayCancelReadAndWrite, state.isHandling else { return false }
                state.tokens.append(token)
                return true
            }
            if !isKept { token.cancel() }
        }
    }

    private func handle(
        _ change: DefaultChange<LawSample>, _ handler: @escaping @Sendable (DefaultChange<LawSample>) -> Void
    ) {
        switch law {
        case .observersHearChangesInOrder?:
            let changes = state.withLock { state -> [DefaultChange<LawSample>] in
                state.changes += 1
                if state.changes == 10 { state.heldBack = change }
                return state.changes == 10 ? [] : [change, state.heldBack.take()].compactMap { $0 }
            }
            for change in changes { handler(change) }
        case .observersMayCancelReadAndWrite?:
            state.withLock { $0.isHandling = true }
            handler(change)
            state.withLock { $0.isHandling = false }
        case .observersRunUnderNoLock?: place.lock.withLock { handler(change) }
        // On another thread, the library does not notice that a change is part of a cycle.
        case .circlesEnd?: onThreads(1) { _ in handler(change) }
        default: handler(change)
        }
    }
}

extension WrongStore: CustomStringConvertible {
    var description: String { law == .noValueIsDescribed ? "WrongStore(\(get()?.text ?? "nil"))" : "WrongStore" }
}
