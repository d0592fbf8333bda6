public import TypedDefaults

/// A promise that every backend keeps, and the check of it.
///
/// One test checks all laws for a backend of your own:
///
/// ```swift
/// @Test(arguments: BackendLaw.all) func laws(_ law: BackendLaw) async throws {
///     try await law.verify { MyBackend() }
/// }
/// ```
///
/// A value or a key that the backend refuses with an error of kind `.refused` breaks no law, except
/// those that every backend can store: text, Booleans, 32-bit integers, and arrays and dictionaries
/// of them, under keys of ASCII letters, digits and dots.
///
/// Which laws a backend can keep depends on its storage:
///
/// - ``all``: every backend.
/// - ``persistent``: a backend whose storage can be opened again, by this process or another one.
///   Pass a closure that opens it: `law.verify { MyBackend(url) } reopening: { MyBackend($0.url)
///   }`.
/// - ``watching``: a persistent backend that implements `watch(_:_:)`.
/// - ``lagging``: a backend with several machines, each of which reads a copy that may lag. Here
///   `reopening` opens the backend of a second machine.
public struct BackendLaw: Sendable, Hashable, CustomStringConvertible {
    /// The number of the group that the law belongs to, such as 3 for commits.
    public let number: Int
    /// The name of the law, such as “aCommitIsSeenWhole”.
    public let name: String
    /// What the law promises, in one sentence.
    public let promise: String
    private let check: @Sendable (BackendTrial) throws -> Void

    init(
        _ number: Int, _ name: String, _ promise: String, _ check: @escaping @Sendable (BackendTrial) throws -> Void
    ) {
        (self.number, self.name, self.promise, self.check) = (number, name, promise, check)
    }

    /// The laws of every backend.
    public static let all: [BackendLaw] = [
        .emptyReadsNil, .lastWriteWins, .removingTwiceIsHarmless, .valuesReadBackBitForBit,
        .keysAreComparedByTheirBytes, .unreadableValuesAreSetAside, .aCommitIsSeenWhole,
        .aFailedCommitChangesNothing, .eachCommitBeginsAGeneration, .observersHearEachChangeOnce,
        .updatesAreExclusive, .noValueIsDescribed,
    ]

    /// The laws of a backend whose storage can be opened again: ``all`` and three more, which need
    /// the closure `reopening`.
    public static let persistent: [BackendLaw] =
        all + [.changesOfOthersAreNoticed, .writersOfTwoBackendsTakeTurns, .commitsSurviveReopening]

    /// The laws of a backend that also reports changes: ``persistent`` and one more.
    public static let watching: [BackendLaw] = persistent + [.theWatchReportsChangesOfOthers]

    /// Checks the law for a backend.
    ///
    /// - Parameters:
    ///   - timeout: How long the check may take. A backend that blocks fails then; its threads stay
    ///     blocked.
    ///   - makeBackend: Returns a backend on new, empty storage. It is called once.
    ///   - reopening: Returns a second backend on the storage of the given one, which
    ///     ``persistent`` and ``lagging`` need; `nil` for other laws.
    /// - Throws: A ``LawViolation``, or what `makeBackend` throws.
    public func verify<Backend: DefaultsBackend>(
        within timeout: Duration = .seconds(60),
        _ makeBackend: @Sendable () async throws -> Backend,
        reopening: (@Sendable (Backend) async throws -> Backend)? = nil
    ) async throws {
        let backend = try await makeBackend()
        try await Trial.verify("\(self)", promise, within: timeout) { trial in
            let reopen = { @Sendable () throws -> any DefaultsBackend in
                guard let reopening else { throw BrokenPromise("it was not checked: pass `reopening:`") }
                return try trial.wait(for: { try await reopening(backend) })
            }
            try check(BackendTrial(trial: trial, backend: backend, reopen: reopen))
        }
    }

    /// The number and the name, such as “law 3, aCommitIsSeenWhole”.
    public var description: String { "law \(number), \(name)" }

    /// Returns whether both are the same law.
    public static func == (lhs: BackendLaw, rhs: BackendLaw) -> Bool { lhs.name == rhs.name }
    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
