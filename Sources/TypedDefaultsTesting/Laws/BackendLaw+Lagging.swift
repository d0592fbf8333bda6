import Dispatch
import SettingsFile
import TypedDefaults

extension BackendLaw {
    /// The laws of a backend whose reads may lag behind the writers of other machines: ``all`` and
    /// six more, whose closure `reopening` opens the backend of a second machine.
    ///
    /// ``LaggingBackend`` keeps them if something calls `catchUp()` repeatedly. Storage that never
    /// lags keeps them, too.
    public static let lagging: [BackendLaw] =
        all + [
            .machinesConverge, .readsNeverGoBack, .commitsAreSeenInTheirOrder, .updatesAreStoredOnce,
            .anEqualWriteIsNotBlind, .aMachineReadsItsOwnCommit,
        ]

    /// Law 4: soon after the last write, suites on all machines read the last value.
    public static let machinesConverge = BackendLaw(
        4, "machinesConverge", "soon after the last write, suites on all machines read what was written last"
    ) { trial in
        let (suites, key) = (try trial.suites(), DefaultKey("last", default: 0))
        try trial.trial.concurrently(2) { index in
            for round in 1...20 {
                try trial.trial.retrying { try suites[index].update(key) { $0 = 100 * index + round } }
            }
        }
        try expect([20, 120].contains(try trial.agreed(on: key, suites)), "both read an older value")
        for suite in suites {
            suite.remove(key)
            try expect("after a removal, a suite read", try trial.agreed(on: key, suites), is: 0)
            try suite.update(key) { $0 = 7 }
            try expect("after the last write, a suite read", try trial.agreed(on: key, suites), is: 7)
        }
    }

    /// Law 4: a machine that has read a value never reads an older one.
    public static let readsNeverGoBack = BackendLaw(
        4, "readsNeverGoBack", "a machine that has read a value never reads an older one"
    ) { trial in
        try trial.readWhileWriting { old, new in
            try expect(zip(old, new).allSatisfy(<=), "a machine read \(new) after \(old)")
        }
    }

    /// Law 3: a machine that sees a commit sees all earlier ones, including those of other keys.
    public static let commitsAreSeenInTheirOrder = BackendLaw(
        3, "commitsAreSeenInTheirOrder", "a machine that sees a commit sees all that were made before it"
    ) { trial in
        try trial.readWhileWriting { _, new in
            try expect(new[0] <= new[1], "a machine saw a commit without an earlier one: \(new)")
        }
    }

    /// Law 6: the result of an update is stored exactly once, even if another machine writes at the
    /// same time.
    public static let updatesAreStoredOnce = BackendLaw(
        6, "updatesAreStoredOnce", "the result of an update is stored once, even if another machine writes meanwhile"
    ) { trial in
        let (suites, rounds) = (try trial.suites(), 50)
        let (key, pair) = (DefaultKey("number", default: 0), ["a", "b"].map { DefaultKey($0, default: 0) })
        _ = try trial.update(key, suites, { $0 += 1 }, during: { $0 += 1 })
        try trial.trial.concurrently(2) { index in
            for _ in 0..<rounds {
                try trial.trial.retrying { try suites[index].update(key) { $0 += 1 } }
                try trial.trial.retrying { try suites[index].update { for key in pair { $0[key] += 1 } } }
            }
        }
        let counts = try ([key] + pair).map { try trial.agreed(on: $0, suites) }
        try expect("the numbers of updates were", counts, is: [2 * rounds + 2, 2 * rounds, 2 * rounds])
    }

    /// Law 6: as soon as a write returns, its machine reads what it has stored, so the next update
    /// builds on it.
    public static let aMachineReadsItsOwnCommit = BackendLaw(
        6, "aMachineReadsItsOwnCommit", "as soon as a write returns, its machine reads what it has stored"
    ) { trial in
        let (suites, keys) = (try trial.suites(), ["own", "pair"].map { DefaultKey($0, default: 0) })
        for round in 1...20 {
            let suite = suites[round % 2]
            // Not through a setting, which would keep the value that it has written.
            try trial.trial.retrying { try suite.update { for key in keys { $0[key] = round } } }
            let read = try keys.map { try trial.read($0, in: suite) }
            try expect("after storing \(round) for two keys, a machine read", read, is: [round, round])
            try trial.trial.retrying { try suite.update(keys[0]) { $0 += 100 } }
            try expect("after it added 100, a machine read", try trial.read(keys[0], in: suite), is: 100 + round)
        }
    }

    /// Law 6: a write of the value that this machine reads is not left out if another machine has
    /// replaced that value.
    public static let anEqualWriteIsNotBlind = BackendLaw(
        6, "anEqualWriteIsNotBlind", "writing back a value just read stores it, even if another machine replaced it"
    ) { trial in
        let (suites, key) = (try trial.suites(), DefaultKey("equal", default: 0))
        // The first machine does not necessarily read its old value each time.
        for _ in 0..<5 {
            try suites[0].update(key) { $0 = 5 }
            // Otherwise, the other machine may have waited for this one.
            guard try trial.update(key, suites, { $0 = 5 }, during: { $0 = 6 }) else { return }
            try expect("after a write of 6 and then of 5, a suite read", try trial.agreed(on: key, suites), is: 5)
        }
    }

}

extension BackendTrial {
    /// Returns suites on two machines.
    fileprivate func suites() throws -> [DefaultsSuite] { [suite(), suite(on: try reopen())] }

    fileprivate func read(_ key: DefaultKey<Int>, in suite: DefaultsSuite) throws -> Int {
        try UserDefault(key, in: suite).store.load() ?? 0
    }

    /// Lets time pass on storage that lags.
    private func pause(_ outcome: @autoclosure () -> String) throws {
        try expect(.now() < trial.deadline, outcome())
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .microseconds(100))
    }

    /// Waits until two machines read the same. After the last write this is the last value, because
    /// the machine that wrote it reads no older one.
    fileprivate func agreed(on key: DefaultKey<Int>, _ suites: [DefaultsSuite]) throws -> Int {
        while true {
            let numbers = try suites.map { try read(key, in: $0) }
            if numbers[0] == numbers[1] { return numbers[0] }
            try pause("the machines still read \(numbers[0]) and \(numbers[1])")
        }
    }

    /// Lets one machine write growing numbers under two keys alternately, and two machines read
    /// them in the other order.
    ///
    /// - Parameter check: Receives what a machine has read before, and what it reads now.
    fileprivate func readWhileWriting(_ check: @escaping @Sendable ([Int], [Int]) throws -> Void) throws {
        let (suites, keys, last) = (try suites(), ["first", "second"].map { DefaultKey($0, default: 0) }, 100)
        try trial.concurrently(3) { index in
            guard index < 2 else {
                for round in 1...last {
                    for key in keys { try trial.retrying { try suites[0].update(key) { $0 = round } } }
                }
                return
            }
            var (old, repeats) = ([Int](), 0)
            while repeats < 10 {
                let new = try keys.reversed().map { try read($0, in: suites[index]) }
                try check(old, new)
                if new == [last, last] { repeats += 1 }
                old = new
                try pause("a machine still read \(new), not \(last)")
            }
        }
    }

    /// Updates a setting on the first machine, and on the second one before that ends.
    ///
    /// - Returns: Whether the second one was faster. It cannot be if it waits for the first one.
    fileprivate func update(
        _ key: DefaultKey<Int>, _ suites: [DefaultsSuite], _ body: (inout Int) -> Void,
        during other: @escaping @Sendable (inout Int) -> Void
    ) throws -> Bool {
        let patience = DispatchTimeInterval.milliseconds(backend.traits.readsMayLag ? 2_000 : 50)
        let ended = Awaited<Result<Void, any Error>?>(nil)
        var isFaster: Bool?
        try suites[0].update(key) { number in
            if isFaster == nil {
                trial.start {
                    let result = Result { try trial.retrying { try suites[1].update(key, other) } }
                    ended.change { $0 = result }
                }
                isFaster = ended.wait(before: .now() + patience) { $0 != nil }
            }
            body(&number)
        }
        try expect(ended.wait(before: trial.deadline) { $0 != nil }, "an update of another machine did not end")
        try ended.value!.get()
        return isFaster!
    }
}
