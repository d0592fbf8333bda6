import TypedDefaults

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The input to the check of a law: a backend, and a way to open another one on its storage.
struct BackendTrial: Sendable {
    typealias Edits = [(key: String, value: PropertyList?)]

    let trial: Trial
    let backend: any DefaultsBackend
    let reopen: @Sendable () throws -> any DefaultsBackend

    /// Returns a suite on a backend, by default on the one to check.
    func suite(on backend: (any DefaultsBackend)? = nil) -> DefaultsSuite {
        let backend = backend ?? self.backend
        let suite = DefaultsSuite(backend: backend)
        // The checks look at the errors that are thrown.
        suite.onFailure = { _ in }
        return suite
    }

    func write(_ edits: Edits, to backend: (any DefaultsBackend)? = nil) throws {
        let backend = backend ?? self.backend
        var outcome = CommitOutcome.changedMeanwhile
        while outcome == .changedMeanwhile {
            try backend.write { () throws(DefaultsError) in
                outcome = try backend.commit(edits, over: backend.generation)
            }
        }
    }

    /// Returns whether the edits were accepted.
    func writeUnlessRefused(_ edits: Edits) throws -> Bool {
        do { try write(edits) } catch let error as DefaultsError where error.kind == .refused { return false }
        return true
    }

    func expectContents(_ contents: [String: PropertyList], in backend: (any DefaultsBackend)? = nil) throws {
        let backend = backend ?? self.backend
        try expect("keys() returned", try backend.keys().sorted(), is: contents.keys.sorted())
        for key in contents.keys + ["missing"] {
            let isSame = try backend.value(forKey: key) == contents[key]
            try expect(isSame, "value(forKey:) did not return the value of “\(key)” that was stored last")
        }
    }

    /// Checks that no other write comes between the reading and the writing of an update.
    func expectExclusiveUpdates(_ suites: [DefaultsSuite]) throws {
        let (threads, rounds) = (8, 50)
        try trial.concurrently(threads) { index in
            let setting = UserDefault(DefaultKey("number", default: 0), in: suites[index % suites.count])
            for _ in 0..<rounds { try trial.retrying { try setting.update { $0 += 1 } } }
        }
        for suite in suites {
            let number = UserDefault(DefaultKey("number", default: 0), in: suite).value
            try expect("the number of updates was", number, is: threads * rounds)
        }
    }

    static let plainKeys = ["plain", "with.dots", "A1"]
    static let keys =
        plainKeys + [
            "a1", "a@b", "with space", "emoji 🎛", "nul \u{0} inside", "\u{E9}", "e\u{301}", "", "new\nline",
            "quote\"<&>", String(repeating: "k", count: 3_000),
        ]

    static let plainValues: [PropertyList] = [true, false, 0, 1, -7, "text", ["a", 1], ["key": "value"]]
    static let values: [PropertyList] = plainValues + texts + doubles + integers + dates + others
    private static let texts: [PropertyList] = [
        "", "\u{E9}", "e\u{301}", "$null", "a\u{0}b", "🎛\r\n<&>", .string(large),
    ]
    private static let doubles: [PropertyList] = [
        0.0, -0.0, 1.0, 0.1, .infinity, .nan, .leastNonzeroMagnitude, -.greatestFiniteMagnitude,
        Double(bitPattern: Double.nan.bitPattern + 1),
    ].map { .double($0) }
    private static let integers: [PropertyList] = [
        -9_223_372_036_854_775_808, 9_223_372_036_854_775_807, 18_446_744_073_709_551_615,
    ]
    private static let dates: [PropertyList] = [0, -0.0, 0.123_456_789, 1e10, -1e10].map {
        .date(Date(timeIntervalSinceReferenceDate: $0))
    }
    private static let others: [PropertyList] = [
        .data(Data()), .data(Data(0...255)), [], [:], ["\u{E9}": 1], ["e\u{301}": 1], ["": [[:], []]],
        .array((0..<10_000).map { .integer(.init($0)) }),
    ]
    private static let large = String(repeating: "é", count: 100_000)
}

extension PropertyList {
    init(round: Int) { self = .integer(.init(round)) }
}
