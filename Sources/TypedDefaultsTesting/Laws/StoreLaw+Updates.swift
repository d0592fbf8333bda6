import Dispatch
import SettingsFile
import TypedDefaults

extension StoreLaw {
    /// Law 6: an update receives the stored value, and stores the changed one.
    public static let updatesReadAndWrite = StoreLaw(
        6, "updatesReadAndWrite", "an update receives the stored value, stores the changed one, and returns its result"
    ) { trial in
        func update(_ old: Sample?, to new: Sample?) throws {
            var runs = 0
            let result = try trial.store.updateStored { value in
                runs += 1
                try expect("the body of an update got", value, is: old)
                value = new
                return 7
            }
            try expect("an update returned", result, is: 7)
            try expect(runs == 1, "the body of an update ran \(runs) times")
            try trial.expectStored(new, "after an update")
        }
        try update(nil, to: trial.first)
        try update(trial.first, to: trial.second)
        try update(trial.second, to: nil)
        try update(nil, to: nil)
    }

    /// Law 6: an update with a default begins with the stored value, and with the default only if
    /// no value is stored. Otherwise, the default is not even evaluated.
    public static let aDefaultIsUsedOnlyIfNothingIsStored = StoreLaw(
        6, "aDefaultIsUsedOnlyIfNothingIsStored",
        "an update begins with its default, and evaluates it, only if no value is stored"
    ) { trial in
        var evaluations = 0
        func defaultValue() -> Sample {
            evaluations += 1
            return trial.second
        }
        func update(_ old: Sample, to new: Sample) throws {
            let result = try trial.store.update(default: defaultValue()) { value in
                try expect("the body of an update with a default got", value, is: old)
                value = new
                return 7
            }
            try expect("an update with a default returned", result, is: 7)
            try trial.expectStored(new, "after an update with a default")
        }
        try update(trial.second, to: trial.first)
        evaluations = 0
        try update(trial.first, to: trial.second)
        try expect(evaluations == 0, "the default was evaluated although a value was stored")
    }

    /// Law 6: an update that changes nothing stores nothing, not even its default.
    public static let anUpdateThatChangesNothingStoresNothing = StoreLaw(
        6, "anUpdateThatChangesNothingStoresNothing", "an update that changes nothing stores nothing"
    ) { trial in
        func update() throws {
            try trial.store.update(default: trial.first) { _ in }
            try trial.store.update(default: trial.first) { value in
                let old = value
                value = old == trial.first ? trial.second : trial.first
                value = old
            }
        }
        try update()
        try trial.expectStored(nil, "after an update that changed nothing")
        try trial.store.save(trial.second)
        try update()
        try trial.expectStored(trial.second, "after an update that changed nothing")
    }

    /// Law 6: an update with a default that throws changes nothing and throws the error of its
    /// body.
    public static let aThrowingUpdateWithADefaultChangesNothing = StoreLaw(
        6, "aThrowingUpdateWithADefaultChangesNothing",
        "a throwing update with a default changes nothing and throws the error of its body"
    ) { trial in
        struct Stop: Error {}
        func stop() throws {
            do {
                try trial.store.update(default: trial.first) { value in
                    value = trial.second
                    throw Stop()
                }
            } catch is Stop { return }
            throw BrokenPromise("the error was not thrown")
        }
        try stop()
        try trial.expectStored(nil, "after an update that threw")
        try trial.store.save(trial.first)
        try stop()
        try trial.expectStored(trial.first, "after an update that threw")
    }

    /// Law 6: an update that throws changes nothing and throws the error of its body.
    public static let aThrowingUpdateChangesNothing = StoreLaw(
        6, "aThrowingUpdateChangesNothing", "an update that throws changes nothing and throws the error of its body"
    ) { trial in
        struct Stop: Error {}
        func stop(_ new: Sample?) throws {
            do {
                try trial.store.updateStored { value in
                    value = new
                    throw Stop()
                }
            } catch is Stop { return }
            throw BrokenPromise("the error was not thrown")
        }
        try stop(trial.first)
        try trial.expectStored(nil, "after an update that threw")
        try trial.store.save(trial.first)
        try stop(trial.second)
        try stop(nil)
        try trial.expectStored(trial.first, "after an update that threw")
        try trial.store.save(trial.second)
        try trial.expectStored(trial.second, "after save(_:)")
    }

    /// Law 6: reading inside an update returns the stored value, which is still the old one.
    public static let readingInsideAnUpdateIsSafe = StoreLaw(
        6, "readingInsideAnUpdateIsSafe", "reading inside an update returns the old value, which is still stored"
    ) { trial in
        try trial.store.save(trial.first)
        try trial.store.updateStored { value in
            value = trial.second
            try trial.expectStored(trial.first, "inside an update")
        }
        try trial.expectStored(trial.second, "after an update")
    }

    /// Law 6: the result of an update is stored exactly once, and it runs alone among all writers
    /// of the store.
    ///
    /// Without other machines the body runs once, even where reads may lag.
    public static let updatesAreExclusive = StoreLaw(
        6, "updatesAreExclusive", "the result of an update is stored once, and the store's other writers wait"
    ) { trial in try trial.expectExclusiveUpdates(trial.store, trial.store) }

    /// Law 6: the body of an update runs alone, even among the writers of another store on the same
    /// storage.
    public static let updatesOfTwoStoresAreExclusive = StoreLaw(
        6, "updatesOfTwoStoresAreExclusive", "an update also makes the writers of another store in the same place wait"
    ) { trial in try trial.expectExclusiveUpdates(trial.store, trial.reopen()) }

    /// Law 6: writing inside an update throws an error of kind `.nestedWrite` immediately, and the
    /// update continues.
    public static let writingInsideAnUpdateFailsAtOnce = StoreLaw(
        6, "writingInsideAnUpdateFailsAtOnce",
        "writing inside an update immediately throws an error of kind .nestedWrite, and the update continues"
    ) { trial in
        func expectNestedWrite(_ what: String, _ write: () throws -> Void) throws {
            do { try write() } catch let error as DefaultsError where error.kind == .nestedWrite { return }
            throw BrokenPromise("\(what) inside an update did not throw")
        }
        try trial.store.save(trial.first)
        try trial.store.updateStored { value in
            try expectNestedWrite("save(_:)") { try trial.store.save(trial.second) }
            try expectNestedWrite("updateStored(_:)") { try trial.store.updateStored { $0 = nil } }
            value = trial.second
        }
        try trial.expectStored(trial.second, "after the update")
    }
}

extension StoreTrial {
    /// Checks that no other write comes between the reading and the writing of an update.
    fileprivate func expectExclusiveUpdates(
        _ one: any DefaultStoreType<Sample>, _ other: any DefaultStoreType<Sample>
    ) throws {
        let rounds = 100
        try one.save(first)
        // The value that the last body left, and the number of bodies that have run.
        let last = Locked<(value: Sample?, runs: Int)>((first, 0))
        try trial.concurrently(8) { index in
            func edit(_ value: Sample?) throws -> Sample {
                let left = last.withLock { $0.value }
                try expect(value == left, "an update of another thread was lost")
                let new = value == first ? second : first
                last.withLock { $0 = (new, $0.runs + 1) }
                return new
            }
            let store = index % 2 == 0 ? one : other
            for round in 0..<rounds {
                try trial.retrying {
                    if round % 2 == 0 {
                        try store.updateStored { $0 = try edit($0) }
                    } else {
                        try store.update(default: first) { $0 = try edit($0) }
                    }
                }
            }
        }
        try expect("the number of bodies that ran was", last.withLock { $0.runs }, is: 8 * rounds)
        try expectStored(last.withLock { $0.value }, "after the updates")

        // A write that is not an update must wait as well, unless it would change nothing.
        try trial.retrying { try one.save(first) }
        let (isInside, isWritten) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        try trial.concurrently(2) { index in
            if index == 0 {
                try trial.retrying {
                    try one.updateStored { value in
                        isInside.signal()
                        try expect(
                            isWritten.wait(timeout: .now() + .milliseconds(50)) == .timedOut,
                            "save(_:) did not wait for an update of another thread")
                        value = first
                    }
                }
            } else {
                try expect(isInside.wait(timeout: trial.deadline) == .success, "an update did not begin")
                try trial.retrying { try other.save(second) }
                isWritten.signal()
            }
        }
        try expectStored(second, "after save(_:) had waited for an update to end")
    }
}
