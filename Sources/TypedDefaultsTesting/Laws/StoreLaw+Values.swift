import SettingsFile
import TypedDefaults

extension StoreLaw {
    /// Law 1: an empty store returns `nil`.
    public static let emptyReadsNil = StoreLaw(1, "emptyReadsNil", "an empty store returns nil") { trial in
        try trial.expectStored(nil, "in a new store")
        try trial.store.updateStored { try expect("the body of an update got", $0, is: nil) }
    }

    /// Law 1: a value that was stored replaces the one before.
    public static let lastWriteWins = StoreLaw(
        1, "lastWriteWins", "a value that was stored replaces the one before"
    ) { trial in
        for value in [trial.first, trial.second, trial.first, trial.second] {
            trial.store.set(value)
            try trial.expectStored(value, "after set(_:)")
        }
        for value in [trial.first, trial.second] {
            try trial.store.save(value)
            try trial.expectStored(value, "after save(_:)")
        }
    }

    /// Law 1: removing a value makes it missing, and removing it again does nothing.
    public static let removingTwiceIsHarmless = StoreLaw(
        1, "removingTwiceIsHarmless", "removing a value makes it missing, and removing it again does nothing"
    ) { trial in
        trial.store.remove()
        try trial.store.save(trial.first)
        for _ in 0..<2 {
            trial.store.remove()
            try trial.expectStored(nil, "after remove()")
        }
        try trial.store.save(trial.first)
        for _ in 0..<2 {
            try trial.store.removeStored()
            try trial.expectStored(nil, "after removeStored()")
        }
        try trial.store.save(trial.second)
        try trial.expectStored(trial.second, "after remove() and save(_:)")
    }

    /// Law 1: a value reads back equal bit for bit, or it is refused with an error and the old
    /// value stays. An error of this library must be of kind `.refused`.
    public static let valuesReadBackBitForBit = StoreLaw(
        1, "valuesReadBackBitForBit", "a value reads back bit for bit, or it is refused and the old value stays"
    ) { trial in
        var stored: Sample?
        // Backward as well, because two values may differ so little that a store treats them as
        // equal.
        for value in trial.samples + trial.samples.reversed() {
            do {
                try trial.store.save(value)
                stored = value
            } catch {
                // A store of the program may throw any error to refuse a value.
                let isRefused = (error as? DefaultsError).map { $0.kind == .refused } ?? true
                guard isRefused, value != trial.first, value != trial.second else { throw error }
            }
            try trial.expectStored(stored, "after save(_:)")
        }
    }

    /// Law 1: two stores on one storage always have the same value.
    public static let storesOnOnePlaceAgree = StoreLaw(
        1, "storesOnOnePlaceAgree", "two stores in one place agree as soon as a write returns"
    ) { trial in
        let other = try trial.reopen()
        try trial.store.save(trial.first)
        try trial.expectStored(trial.first, "after another store's save(_:)", in: other)
        try other.save(trial.second)
        try trial.expectStored(trial.second, "after another store's save(_:)")
        trial.store.remove()
        try trial.expectStored(nil, "after another store's remove()", in: other)
    }

    /// Law 3: readers on other threads get a complete stored value, and always get one while it is
    /// being replaced.
    public static let aValueIsSeenWhole = StoreLaw(
        3, "aValueIsSeenWhole", "while a value is being replaced, other threads read a complete stored value"
    ) { trial in
        try trial.store.save(trial.first)
        let isDone = Locked(false)
        try trial.trial.concurrently(3) { index in
            if index == 0 {
                defer { isDone.withLock { $0 = true } }
                for round in 0..<200 { try trial.store.save(round % 2 == 0 ? trial.second : trial.first) }
            } else {
                while !isDone.withLock({ $0 }) {
                    let value = trial.store.get()
                    try expect(
                        value == trial.first || value == trial.second,
                        "another thread read \(words(value as Any)) during save(_:)")
                }
            }
        }
    }

    /// Law 7: no stored value appears in a description of the store or in an error.
    public static let noValueIsDescribed = StoreLaw(
        7, "noValueIsDescribed", "no stored value appears in a description of the store or in an error"
    ) { trial in
        let texts = trial.texts()
        try expect(!texts.isEmpty, "it was not checked: every description of a sample is shorter than six characters")
        func check(_ description: String, _ what: String) throws {
            let bytes = description.utf8
            let isThere = texts.contains { $0.utf8.count <= bytes.count && bytes.contains($0.utf8) }
            try expect(!isThere, "\(what) contains one")
        }
        for value in trial.samples.prefix(8) {
            do { try trial.store.save(value) } catch { try check("\(error)", "an error") }
            for description in trial.descriptions() { try check(description, "a description") }
        }
    }

    /// Law 8: a value that was saved is there when the store is opened again.
    public static let savedValuesSurviveReopening = StoreLaw(
        8, "savedValuesSurviveReopening", "a value that was saved is there when the store is opened again"
    ) { trial in
        try trial.store.save(trial.first)
        try trial.store.save(trial.second)
        try trial.expectStored(trial.second, "after opening the store again", in: trial.reopen())
        trial.store.remove()
        try trial.expectStored(nil, "after remove() and opening the store again", in: trial.reopen())
    }
}

extension StoreTrial {
    /// Checks the value of a store with each way to read it.
    func expectStored(_ value: Sample?, _ moment: String, in store: (any DefaultStoreType<Sample>)? = nil) throws {
        let store = store ?? self.store
        try expect("\(moment), get() returned", store.get(), is: value)
        try expect("\(moment), load() returned", try store.load(), is: value)
    }
}
