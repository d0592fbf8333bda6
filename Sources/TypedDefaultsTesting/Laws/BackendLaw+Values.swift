import TypedDefaults

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension BackendLaw {
    /// Law 1: empty storage has no keys, and each key reads `nil`.
    public static let emptyReadsNil = BackendLaw(
        1, "emptyReadsNil", "an empty place has no keys, and each key reads nil"
    ) { trial in try trial.expectContents([:]) }

    /// Law 1: a commit replaces the values of its keys and no others.
    public static let lastWriteWins = BackendLaw(
        1, "lastWriteWins", "a commit replaces the values of its keys and no others"
    ) { trial in
        try trial.write([("a", 1), ("b", "text")])
        try trial.expectContents(["a": 1, "b": "text"])
        try trial.write([("a", 2)])
        try trial.expectContents(["a": 2, "b": "text"])
        try trial.write([("b", ["text", true]), ("c", 3)])
        try trial.expectContents(["a": 2, "b": ["text", true], "c": 3])
    }

    /// Law 1: removing keys makes them missing and keeps the others; removing a missing key does
    /// nothing.
    public static let removingTwiceIsHarmless = BackendLaw(
        1, "removingTwiceIsHarmless", "removing makes a key missing, and removing it again does nothing"
    ) { trial in
        try trial.write([("missing", nil)])
        try trial.write([("a", 1), ("b", 2), ("c", 3)])
        for _ in 0..<2 {
            try trial.write([("a", nil), ("missing", nil), ("b", nil)])
            try trial.expectContents(["c": 3])
        }
        try trial.write([("a", 4)])
        try trial.expectContents(["a": 4, "c": 3])
    }

    /// Law 1: a value reads back equal bit for bit, or it is refused with an error of kind
    /// `.refused` and the old value stays.
    public static let valuesReadBackBitForBit = BackendLaw(
        1, "valuesReadBackBitForBit", "a value reads back bit for bit, or it is refused and the old value stays"
    ) { trial in
        for (number, value) in BackendTrial.values.enumerated() {
            // Two keys with nearly the same values, because a backend may treat them as equal.
            for value in [value, .array([value]), .dictionary(["key": value])] {
                let old = try trial.backend.value(forKey: "key")
                let isStored = try trial.writeUnlessRefused([("key", value)])
                try expect(isStored || !BackendTrial.plainValues.contains(value), "it refused \(words(value))")
                let read = try trial.backend.value(forKey: "key")
                try expect(
                    read == (isStored ? value : old),
                    "value \(number + 1), \(words(value)), did not read back as it was written")
            }
        }
    }

    /// Law 1: keys are different if their UTF-8 bytes are.
    public static let keysAreComparedByTheirBytes = BackendLaw(
        1, "keysAreComparedByTheirBytes", "keys are different if their UTF-8 bytes are"
    ) { trial in
        var stored: [(key: String, value: PropertyList)] = []
        for (number, key) in BackendTrial.keys.enumerated() {
            let value = PropertyList.string("value \(number)")
            if try trial.writeUnlessRefused([(key, value)]) { stored.append((key, value)) }
        }
        try expect(stored.count >= BackendTrial.plainKeys.count, "it refused an ordinary key")
        for (key, value) in stored {
            try expect(try trial.backend.value(forKey: key) == value, "the value of a key was overwritten or not found")
        }
        let keys = try trial.backend.keys()
        try expect(
            keys.count == stored.count && Set(keys.map { Array($0.utf8) }) == Set(stored.map { Array($0.key.utf8) }),
            "keys() returned \(keys.count) keys, which are not the \(stored.count) stored ones")
    }

    /// Law 2: a value of another type is an error and not missing, and it is kept under another key
    /// before it is overwritten.
    public static let unreadableValuesAreSetAside = BackendLaw(
        2, "unreadableValuesAreSetAside",
        "a value of another type does not count as missing, and is copied before it is overwritten"
    ) { trial in
        try trial.write([("number", "text")])
        let suite = trial.suite()
        let missing = UserDefault(DefaultKey("missing", default: 0), in: suite).store
        try expect("without a value, load() returned", try missing.load(), is: nil)
        let setting = UserDefault(DefaultKey("number", default: 0), in: suite).store
        do {
            _ = try setting.load()
            throw BrokenPromise("load() did not throw for a value of another type")
        } catch let error as DefaultsError where error.kind == .unreadable {}
        try setting.save(7)
        try expect("after save(_:), load() returned", try setting.load(), is: 7)
        try expect(try suite.contents()["number.unreadable"] == "text", "the old value was not kept")
    }

    /// Law 7: no stored value appears in a description of the backend or in an error.
    public static let noValueIsDescribed = BackendLaw(
        7, "noValueIsDescribed", "no stored value appears in a description of the backend or in an error"
    ) { trial in
        let secret = "the secret of the settings"
        func check(_ what: String, _ description: String) throws {
            try expect(!description.utf8.contains(secret.utf8), "\(what) contains one")
        }
        for value in [
            PropertyList.string(secret), .string("\(secret)\u{0}"), .array([.string(secret), .double(.nan)]),
        ] {
            do { try trial.write([("key", value)]) } catch { try check("an error", "\(error)") }
            let backend = trial.backend
            let location = backend.traits.location ?? ""
            for description in ["\(backend)", String(reflecting: backend), location, "\(trial.suite())"] {
                try check("a description", description)
            }
        }
    }

    /// Law 8: a commit is there when the storage is opened again after `synchronize()`.
    public static let commitsSurviveReopening = BackendLaw(
        8, "commitsSurviveReopening", "after synchronize(), a commit is still there when the place is opened again"
    ) { trial in
        try trial.write([("a", "text"), ("b", 2), ("c", true)])
        try trial.write([("b", nil)])
        try trial.backend.synchronize()
        try trial.expectContents(["a": "text", "c": true], in: trial.reopen())
    }
}
