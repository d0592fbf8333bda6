import Dispatch
import SettingsFile
import TypedDefaults

extension StoreLaw {
    /// Law 4: observers get each change once, with the value before and after; storing an equal
    /// value is not a change.
    public static let observersHearEachChangeOnce = StoreLaw(
        4, "observersHearEachChangeOnce", "observers receive each change once, with the old and the new value"
    ) { trial in
        let (store, first, second) = (trial.store, trial.first, trial.second)
        let heard = Awaited<[Heard]>([])
        let token = store.observe(initial: true) { change in heard.change { $0.append(Heard(change)) } }
        store.set(first)
        try store.save(first)
        try store.save(second)
        try store.updateStored { $0 = first }
        store.remove()
        store.remove()
        store.set(second)
        let changes = [
            Heard(nil, nil, .initial), Heard(nil, first, .set), Heard(first, second, .set), Heard(second, first, .set),
            Heard(first, nil, .removed), Heard(nil, second, .set),
        ]
        try trial.wait(for: heard) { $0.last == changes.last }
        try expect("the observer received", heard.value, is: changes)
        token.cancel()
        store.set(first)
        try expect("the observer, after cancel(), had received", heard.value, is: changes)
    }

    /// Law 4: observers receive nothing if an update throws.
    public static let observersHearNoFailedChange = StoreLaw(
        4, "observersHearNoFailedChange", "observers receive nothing if an update throws"
    ) { trial in
        struct Stop: Error {}
        try trial.store.save(trial.first)
        let heard = Awaited<[Sample?]>([])
        let token = trial.store.observe { change in heard.change { $0.append(change.newValue) } }
        defer { token.cancel() }
        _ = try? trial.store.updateStored { value in
            value = nil
            throw Stop()
        }
        try trial.store.save(trial.second)
        try trial.wait(for: heard) { $0.last == trial.second }
        try expect("the observer received", heard.value, is: [trial.second])
    }

    /// Law 4: observers get the changes of all threads in the order in which they were made, and
    /// finally the stored value.
    public static let observersHearChangesInOrder = StoreLaw(
        4, "observersHearChangesInOrder", "observers receive the changes of all threads in the order of the writes"
    ) { trial in
        let store = trial.store
        try store.save(trial.first)
        let heard = Awaited<[Heard]>([Heard(nil, trial.first, .initial)])
        let token = store.observe { change in heard.change { $0.append(Heard(change)) } }
        defer { token.cancel() }
        try trial.trial.concurrently(4) { index in
            for round in 0..<50 {
                try trial.trial.retrying { try store.save((index + round) % 2 == 0 ? trial.first : trial.second) }
            }
        }
        let last = store.get()
        try trial.wait(for: heard) { $0.last?.new == last }
        store.remove()
        try trial.wait(for: heard) { $0.last?.new == nil }
        for (change, next) in zip(heard.value, heard.value.dropFirst()) {
            try expect(
                change.new == next.old && next.old != next.new,
                "after the value became \(words(change.new as Any)), the observer received a change from "
                    + "\(words(next.old as Any)) to \(words(next.new as Any))")
        }
    }

    /// Law 5: an observer may read, write, observe and cancel, and the values that it hears are the
    /// ones that it reads.
    public static let observersMayCancelReadAndWrite = StoreLaw(
        5, "observersMayCancelReadAndWrite",
        "an observer may read, write, observe and cancel; get() returns the reported value"
    ) { trial in
        let store = trial.store
        let heard = Awaited<[[Sample?]]>([])
        let token = Locked<ObservationToken?>(nil)
        let newToken = store.observe { change in
            let read = store.get()
            if change.newValue == trial.first {
                store.set(trial.second)
                store.observe(initial: true) { _ in }.cancel()
            } else {
                token.withLock { $0 }?.cancel()
            }
            heard.change { $0.append([change.newValue, read]) }
        }
        token.withLock { $0 = newToken }
        store.set(trial.first)
        try trial.wait(for: heard) { $0.count >= 2 }
        store.set(trial.first)
        try expect(
            "for an observer that cancels itself, the pairs of received and read values were", heard.value,
            is: [[trial.first, trial.first], [trial.second, trial.second]])
    }

    /// Law 5: while an observer runs, other threads can read, write and observe.
    public static let observersRunUnderNoLock = StoreLaw(
        5, "observersRunUnderNoLock", "while an observer runs, other threads can read, write and observe"
    ) { trial in
        // Repeated, because on a busy machine the other thread may be late.
        for attempt in 1...3 {
            let outcome = Awaited<Bool?>(nil)
            trial.store.remove()
            let token = trial.store.observe { change in
                guard change.newValue == trial.first else { return }
                let other = trial.trial.start {
                    _ = trial.store.get()
                    trial.store.set(trial.second)
                    trial.store.observe(initial: true) { _ in }.cancel()
                }
                // Shorter than the two seconds after which a writer of this library gives up.
                let isFree = other.wait(timeout: .now() + .milliseconds(1_500)) == .success
                outcome.change { $0 = isFree }
            }
            try trial.store.save(trial.first)
            try trial.wait(for: outcome) { $0 != nil }
            token.cancel()
            if outcome.value == true { return }
            try expect(attempt < 3, "another thread had to wait for the observer")
        }
    }

    /// Law 5: observers that trigger themselves end after 100 rounds, and the store can be written
    /// again.
    public static let circlesEnd = StoreLaw(
        5, "circlesEnd", "observers that trigger themselves end after 100 rounds, and the store works"
    ) { trial in
        let store = trial.store
        let circle = Awaited(Circle())
        let token = store.observe { change in
            var writes = false
            circle.change { writes = $0.begin() }
            guard writes else { return }
            try? store.save(change.newValue == trial.first ? trial.second : trial.first)
            circle.change { $0.writers -= 1 }
        }
        try store.save(trial.first)
        try trial.wait(for: circle) { $0.rounds > 1 }
        // The observer may run on another thread, so a circle has ended when no round follows.
        var seen = 0
        while circle.value.rounds > seen {
            seen = circle.value.rounds
            _ = circle.wait(before: .now() + .milliseconds(100)) { $0.rounds > seen }
        }
        token.cancel()
        circle.change { $0.isOver = true }
        try trial.wait(for: circle) { $0.writers == 0 }
        try expect(circle.value.rounds <= Circle.limit, "they did not end")
        for value in [trial.first, trial.second] {
            try store.save(value)
            try trial.expectStored(value, "after a circle")
        }
    }
}

/// The calls of an observer that writes.
private struct Circle: Sendable {
    /// More rounds are not needed, and they could overflow the stack.
    static let limit = 110
    var rounds = 0
    /// The number of calls that are writing.
    var writers = 0
    var isOver = false

    /// Counts a call. Returns whether the observer may write.
    mutating func begin() -> Bool {
        rounds += 1
        guard !isOver, rounds <= Self.limit else { return false }
        writers += 1
        return true
    }
}

/// A change, as an observer heard it.
private struct Heard: Sendable, Equatable, CustomStringConvertible {
    let (old, new): (Sample?, Sample?)
    let kind: ChangeKind

    init(_ old: Sample?, _ new: Sample?, _ kind: ChangeKind) { (self.old, self.new, self.kind) = (old, new, kind) }
    init(_ change: DefaultChange<Sample>) { self.init(change.oldValue, change.newValue, change.kind) }

    var description: String { "\(kind) from \(words(old as Any)) to \(words(new as Any))" }
}

extension StoreTrial {
    fileprivate func wait<Value>(for heard: Awaited<Value>, until isSo: (Value) -> Bool) throws {
        let outcome = "the observer did not receive it"
        try expect(heard.wait(before: trial.deadline, until: isSo), outcome)
    }
}
