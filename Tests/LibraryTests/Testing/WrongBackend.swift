import Dispatch
import Foundation
import TestSupport
import TypedDefaults
import TypedDefaultsTesting

/// A backend that breaks one law and keeps all others.
final class WrongBackend: DefaultsBackend {
    /// The state that all backends on one storage share.
    private final class Place: Sendable {
        struct State {
            var contents: [[UInt8]: PropertyList] = [:]
            var commits: [(author: ObjectIdentifier, keys: [String])] = []
            var watches: [(author: ObjectIdentifier, call: @Sendable (BackendEvent) -> Void)] = []
            var reads = 0
            var isShared = false
            var forgets = false
        }
        let state = Guarded(State())
        let writer = DispatchSemaphore(value: 1)
    }

    private let law: BackendLaw?
    private let place: Place

    /// - Parameter law: The law that the backend breaks; `nil` for none.
    convenience init(breaking law: BackendLaw?) { self.init(law, Place()) }
    private init(_ law: BackendLaw?, _ place: Place) { (self.law, self.place) = (law, place) }

    func reopened() -> WrongBackend {
        let forgets = place.state.withLock { state in
            state.isShared = true
            return state.forgets
        }
        return WrongBackend(law, forgets ? Place() : place)
    }

    private func bytes(_ key: String) -> [UInt8] {
        Array((law == .keysAreComparedByTheirBytes ? key.precomposedStringWithCanonicalMapping : key).utf8)
    }

    func value(forKey key: String) throws(DefaultsError) -> PropertyList? {
        place.state.withLock { state in
            state.reads += 1
            return state.contents[bytes(key)]
        }
    }

    func keys() throws(DefaultsError) -> [String] {
        place.state.withLock { state in
            if law == .emptyReadsNil, state.commits.isEmpty { return ["old"] }
            return state.contents.keys.map { String(decoding: $0, as: UTF8.self) }
        }
    }

    func write(_ body: () throws(DefaultsError) -> Void) throws(DefaultsError) {
        if law != .writersOfTwoBackendsTakeTurns { place.writer.wait() }
        defer { endWrite() }
        try body()
    }

    private func endWrite() {
        // As if another process had written while a suite observes.
        let watches = place.state.withLock { state in
            let isChanged =
                law == .observersHearEachChangeOnce && !state.watches.isEmpty && state.contents[bytes("number")] == 2
            guard isChanged else { return [] as [@Sendable (BackendEvent) -> Void] }
            state.contents[bytes("number")] = 20
            state.commits.append((ObjectIdentifier(place), ["number"]))
            return state.watches.map(\.call)
        }
        if law != .writersOfTwoBackendsTakeTurns { place.writer.signal() }
        for watch in watches { watch(.changed(keys: ["number"])) }
    }

    func commit(_ edits: BackendEdits, over generation: UInt64?) throws(DefaultsError) -> CommitOutcome {
        if law == .aFailedCommitChangesNothing, let refused = edits.firstIndex(where: { $0.key.contains("\u{0}") }) {
            apply(Array(edits[..<refused]))
            throw DefaultsError(.refused, reason: "a test")
        }
        let (isShared, commits) = place.state.withLock { ($0.isShared, $0.commits.count) }
        switch law {
        case .aCommitIsSeenWhole?:
            for edit in edits {
                apply([edit])
                let reads = place.state.withLock { $0.reads }
                yieldThread { place.state.withLock { $0.reads > reads + 4 } }
            }
        case .updatesAreExclusive? where !isShared && commits == 50 && edits[0].key == "number":
            place.state.withLock { $0.commits.append((ObjectIdentifier(self), [])) }
        case .unreadableValuesAreSetAside?: apply(edits.filter { !$0.key.hasSuffix(".unreadable") })
        default: apply(edits)
        }
        let keys = edits.map(\.key)
        let watches = place.state.withLock { $0.watches }
        for watch in watches where watch.author != ObjectIdentifier(self) && law != .theWatchReportsChangesOfOthers {
            watch.call(.changed(keys: keys))
        }
        return .committed(generation: self.generation)
    }

    private func apply(_ edits: [(key: String, value: PropertyList?)]) {
        place.state.withLock { state in
            if law == .removingTwiceIsHarmless, !state.commits.isEmpty,
                edits.allSatisfy({ $0.value == nil && state.contents[bytes($0.key)] == nil })
            {
                state.contents = [:]
            }
            for (key, value) in edits {
                let old = state.contents[bytes(key)]
                var value = value
                if law == .lastWriteWins, key == "b", old == "text" { value = old }
                if law == .valuesReadBackBitForBit, value == .double(-0.0) { value = .double(0) }
                state.contents[bytes(key)] = value
            }
            state.commits.append((ObjectIdentifier(self), edits.map(\.key)))
        }
    }

    /// The number of commits, plus 1.
    var generation: UInt64? {
        if law == .updatesAreExclusive { return nil }
        return place.state.withLock { UInt64(1 + commits(in: $0).count) }
    }

    private func commits(in state: Place.State) -> [[String]] {
        let isBlind = law == .eachCommitBeginsAGeneration
        return state.commits.filter { !isBlind || $0.author != ObjectIdentifier(self) }.map(\.keys)
    }

    func changes(since generation: UInt64) -> (keys: [String]?, generation: UInt64) {
        place.state.withLock { state in
            let commits = commits(in: state)
            let missed = commits.dropFirst(max(0, Int(generation) - 1))
            let keys = law == .changesOfOthersAreNoticed ? missed.compactMap(\.first) : missed.flatMap { $0 }
            return (keys, UInt64(1 + commits.count))
        }
    }

    func synchronize() {
        if law == .commitsSurviveReopening { place.state.withLock { $0.forgets = true } }
    }

    func watch(_ subject: WatchedSubject, _ handler: (@Sendable (BackendEvent) -> Void)?) -> Bool {
        guard subject == .changes else { return false }
        place.state.withLock { state in
            state.watches.removeAll { $0.author == ObjectIdentifier(self) }
            if let handler { state.watches.append((ObjectIdentifier(self), handler)) }
        }
        return false
    }
}

extension WrongBackend: CustomStringConvertible {
    var description: String {
        guard law == .noValueIsDescribed else { return "WrongBackend" }
        return "WrongBackend(\(place.state.withLock { $0.contents.values.map(\.object) }))"
    }
}
