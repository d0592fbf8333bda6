import Dispatch
import SettingsFile
import TypedDefaults

extension BackendLaw {
    /// Law 3: readers on other threads see all edits of a commit or none.
    public static let aCommitIsSeenWhole = BackendLaw(
        3, "aCommitIsSeenWhole", "readers on other threads see all edits of a commit or none"
    ) { trial in
        let keys = ["a", "b"]
        let isDone = Locked(false)
        try trial.write(keys.map { ($0, .double(0)) })
        try trial.trial.concurrently(3) { index in
            if index == 0 {
                defer { isDone.withLock { $0 = true } }
                for round in 1...200 { try trial.write(keys.map { ($0, .double(Double(round))) }) }
            } else {
                // The numbers grow, so the number that is read second is never less than the first
                // one.
                let order = index == 1 ? keys : keys.reversed()
                while !isDone.withLock({ $0 }) {
                    let values = try order.map { try trial.backend.value(forKey: $0) }
                    guard case .double(let first)? = values[0], case .double(let second)? = values[1] else {
                        throw BrokenPromise("a value was missing while another commit was made")
                    }
                    try expect(first <= second, "one value of a commit was visible before the other one")
                }
            }
        }
    }

    /// Law 3: an update that throws and a commit that throws change nothing, and the next commit
    /// works.
    public static let aFailedCommitChangesNothing = BackendLaw(
        3, "aFailedCommitChangesNothing", "an update or commit that throws changes nothing, and the next one works"
    ) { trial in
        struct Stop: Error {}
        try trial.write([("a", 1)])
        do {
            try trial.suite().update { contents in
                (contents["a"], contents["b"]) = (2, 3)
                throw Stop()
            }
        } catch is Stop {}
        try trial.expectContents(["a": 1])
        // A value that the storage refuses, if there is one, between values that it accepts.
        let edits = BackendTrial.values.map { ("c", $0) } + BackendTrial.keys.map { ($0, true) }
        for edit in edits {
            if try trial.writeUnlessRefused([edit]) {
                try trial.write([(edit.0, nil)])
            } else {
                try expect(try !trial.writeUnlessRefused([("a", 2), edit, ("b", 3)]), "a refused value was stored")
                try trial.expectContents(["a": 1])
            }
        }
        try trial.write([("a", 4)])
        try trial.expectContents(["a": 4])
    }

    /// Law 4: a commit adds 1 to the `generation` of a backend that has one, and `changes(since:)`
    /// names its keys.
    public static let eachCommitBeginsAGeneration = BackendLaw(
        4, "eachCommitBeginsAGeneration", "a commit adds 1 to generation, and changes(since:) names its keys"
    ) { trial in
        let backend = trial.backend
        for round in 1...3 {
            guard backend.generation != nil else { return }
            var (before, outcome, after) = (UInt64?.none, CommitOutcome.changedMeanwhile, UInt64?.none)
            try backend.write { () throws(DefaultsError) in
                before = backend.generation
                outcome = try backend.commit([("a", .init(round: round))], over: before)
                after = backend.generation
            }
            let generation = before ?? 0
            try expect(
                [.committed(generation: generation + 1), .committed(generation: nil)].contains(outcome),
                "commit(_:) did not return the next generation")
            try expect(after != before, "generation did not change")
            let keys = try backend.changes(since: generation).keys
            try expect(keys.map { $0.contains("a") } ?? true, "changes(since:) did not name the key")
        }
    }

    /// Law 4: observers of a suite on the backend get each change once, in order.
    public static let observersHearEachChangeOnce = BackendLaw(
        4, "observersHearEachChangeOnce", "observers of a suite receive each change once, in order"
    ) { trial in
        let store = UserDefault(DefaultKey("number", default: 0), in: trial.suite()).store
        let heard = Awaited<[Int?]>([])
        let token = store.observe { change in heard.change { $0.append(change.newValue) } }
        defer { token.cancel() }
        for number in [1, 1, 2] { try store.save(number) }
        try store.updateStored { $0 = ($0 ?? 0) + 1 }
        store.remove()
        store.remove()
        try store.save(4)
        _ = heard.wait(before: trial.trial.deadline) { $0.last == 4 }
        try expect("the observer received", heard.value, is: [1, 2, 3, nil, 4])
    }

    /// Law 4: a backend immediately sees commits of another one on its storage, its `generation`
    /// changes, and `changes(since:)` names their keys.
    public static let changesOfOthersAreNoticed = BackendLaw(
        4, "changesOfOthersAreNoticed", "another backend's commits are read immediately, and changes(since:) names them"
    ) { trial in
        let (backend, other) = (trial.backend, try trial.reopen())
        let setting = UserDefault(DefaultKey("a", default: 0), in: trial.suite())
        for round in 1...3 {
            try setting.update { $0 = round }
            try expect("a suite read", setting.value, is: round)
            let generation = backend.generation
            try trial.write([("a", .init(round: -round)), ("b", .init(round: round))], to: other)
            try expect("after a commit of another backend, a suite read", setting.value, is: -round)
            try trial.expectContents(["a": .init(round: -round), "b": .init(round: round)])
            guard let generation else { continue }
            try expect(backend.generation != generation, "generation did not change")
            let changes = try backend.changes(since: generation)
            try expect(
                changes.keys.map { Set($0).isSuperset(of: ["a", "b"]) } ?? true, "changes(since:) did not name each key"
            )
            try expect(changes.generation == backend.generation, "changes(since:) did not return the generation")
        }
    }

    /// Law 4: `watch` reports commits of another backend on the storage, so observers hear them.
    public static let theWatchReportsChangesOfOthers = BackendLaw(
        4, "theWatchReportsChangesOfOthers",
        "watch(_:_:) reports another backend's commits, so observers receive them"
    ) { trial in
        let other = try trial.reopen()
        let setting = UserDefault(DefaultKey("a", default: 0), in: trial.suite())
        let heard = Awaited<Int?>(nil)
        let token = setting.store.observe { change in
            if change.newValue == setting.value, change.origin == .external { heard.change { $0 = change.newValue } }
        }
        defer { token.cancel() }
        for round in 1...3 {
            try trial.write([("a", .init(round: round))], to: other)
            try expect(heard.wait(before: trial.trial.deadline) { $0 == round }, "an observer did not receive a commit")
        }
    }

    /// Law 6: an update of a suite makes the other writers of the process wait.
    public static let updatesAreExclusive = BackendLaw(
        6, "updatesAreExclusive", "an update of a suite makes the other writers of the process wait"
    ) { trial in try trial.expectExclusiveUpdates([trial.suite()]) }

    /// Law 6: during `write`, a backend is alone among all backends on its storage.
    public static let writersOfTwoBackendsTakeTurns = BackendLaw(
        6, "writersOfTwoBackendsTakeTurns",
        "during write(_:), no other backend writes in the same place"
    ) { trial in
        let other = try trial.reopen()
        // A writer must wait while another one writes.
        let isInside = Locked(false)
        let write = DispatchSemaphore(value: 0)
        let hasEnded = trial.trial.start {
            write.wait()
            // It may also give up.
            try? other.write { isInside.withLock { $0 = true } }
        }
        var hasWaited = false
        try trial.backend.write {
            write.signal()
            _ = hasEnded.wait(timeout: .now() + .milliseconds(50))
            hasWaited = isInside.withLock { !$0 }
        }
        try expect(hasWaited, "another backend wrote during write(_:)")
        try expect(
            hasEnded.wait(timeout: trial.trial.deadline) == .success,
            "write(_:) of another backend did not run after that")
        try trial.expectExclusiveUpdates([trial.suite(), trial.suite(on: other)])
    }
}
