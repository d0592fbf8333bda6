public import TypedDefaults

/// A promise that every store keeps, and the check of it.
///
/// One test checks all laws for a store of your own. Make it a store of ``LawSample``:
///
/// ```swift
/// @Test(arguments: StoreLaw.all) func laws(_ law: StoreLaw) async throws {
///     try await law.verify { MyStore<LawSample>() }
/// }
/// ```
///
/// If the type of its values is fixed, pass samples of that type to
/// ``verify(samples:within:_:reopening:)``. In XCTest, call `verify` in a loop over the laws.
///
/// Which laws a store can keep depends on what it implements:
///
/// - ``basic``: a store with only `get`, `set` and `remove`. It reports no changes, and it cannot
///   promise that an update is alone among the writers.
/// - ``observing``: a store that implements `observe`. Check them in addition to ``basic``.
/// - ``all``: a store that implements `observe` and `updateStored`, and each
///   `DefaultStoreDecorator` around such a store.
/// - ``persistent``: a store whose values are still there when it is opened again. Pass a closure
///   that opens it again:
///   `law.verify { FileStore(file) } reopening: { FileStore($0.file) }`.
public struct StoreLaw: Sendable, Hashable, CustomStringConvertible {
    /// The number of the group that the law belongs to, such as 6 for updates.
    public let number: Int
    /// The name of the law, such as “lastWriteWins”.
    public let name: String
    /// What the law promises, in one sentence.
    public let promise: String
    private let check: @Sendable (StoreTrial) throws -> Void

    init(
        _ number: Int, _ name: String, _ promise: String, _ check: @escaping @Sendable (StoreTrial) throws -> Void
    ) {
        (self.number, self.name, self.promise, self.check) = (number, name, promise, check)
    }

    /// The laws of a store with only `get`, `set` and `remove`.
    public static let basic: [StoreLaw] = [
        .emptyReadsNil, .lastWriteWins, .removingTwiceIsHarmless, .valuesReadBackBitForBit, .aValueIsSeenWhole,
        .updatesReadAndWrite, .aDefaultIsUsedOnlyIfNothingIsStored, .anUpdateThatChangesNothingStoresNothing,
        .aThrowingUpdateChangesNothing, .aThrowingUpdateWithADefaultChangesNothing, .readingInsideAnUpdateIsSafe,
        .noValueIsDescribed,
    ]

    /// The laws of observers, for a store that implements `observe`.
    public static let observing: [StoreLaw] = [
        .observersHearEachChangeOnce, .observersHearNoFailedChange, .observersHearChangesInOrder,
        .observersMayCancelReadAndWrite, .observersRunUnderNoLock, .circlesEnd,
    ]

    /// The laws of a store that implements `observe`, and whose updates are alone among the
    /// writers: ``basic``, ``observing`` and two more.
    public static let all: [StoreLaw] = basic + observing + [.updatesAreExclusive, .writingInsideAnUpdateFailsAtOnce]

    /// The laws of a store that can be opened several times: ``all`` and three more, which need the
    /// closure `reopening`.
    public static let persistent: [StoreLaw] =
        all + [.storesOnOnePlaceAgree, .updatesOfTwoStoresAreExclusive, .savedValuesSurviveReopening]

    /// Checks the law for a store.
    ///
    /// - Parameters:
    ///   - timeout: How long the check may take. A store that blocks fails then; its threads stay
    ///     blocked.
    ///   - makeStore: Returns a new, empty store. It is called once.
    ///   - reopening: Returns a second store on the storage of the given one, which ``persistent``
    ///     needs; `nil` for other laws.
    /// - Throws: A ``LawViolation``, or what `makeStore` throws.
    public func verify<Store: DefaultStoreType<LawSample>>(
        within timeout: Duration = .seconds(60),
        _ makeStore: @Sendable () async throws -> Store,
        reopening: (@Sendable (Store) async throws -> Store)? = nil
    ) async throws {
        try await verify(samples: LawSample.samples, within: timeout, makeStore, reopening: reopening)
    }

    /// Checks the law for a store of any type.
    ///
    /// ```swift
    /// try await law.verify(samples: [.light, .dark]) { ThemeStore() }
    /// ```
    ///
    /// - Parameters:
    ///   - samples: At least two different values. Each must equal itself after it is stored and
    ///     read. The store must accept the first two; it may refuse others with an error.
    ///     ``noValueIsDescribed`` reads the descriptions of the first eight, one of which must have
    ///     at least six characters.
    ///   - timeout: How long the check may take. A store that blocks fails then; its threads stay
    ///     blocked.
    ///   - makeStore: Returns a new, empty store. It is called once.
    ///   - reopening: Returns a second store on the storage of the given one, which ``persistent``
    ///     needs; `nil` for other laws.
    /// - Throws: A ``LawViolation``, or what `makeStore` throws.
    public func verify<Store: DefaultStoreType>(
        samples: [Store.Default], within timeout: Duration = .seconds(60),
        _ makeStore: @Sendable () async throws -> Store,
        reopening: (@Sendable (Store) async throws -> Store)? = nil
    ) async throws where Store.Default: Equatable {
        let store = try await makeStore()
        try await Trial.verify("\(self)", promise, within: timeout) { trial in
            let erased = SampleStore(base: store, samples: samples)
            let present = samples.map(erased.value(from:))
            try expect(present.allSatisfy { $0.index != nil }, "a sample does not equal itself")
            try expect(present.contains { $0 != present[0] }, "there were no two different samples")
            try check(
                StoreTrial(
                    trial: trial, store: erased, samples: present,
                    texts: { texts(of: samples.prefix(8)) },
                    descriptions: {
                        ["\(store)", String(reflecting: store), "\(AnyStore(store))"]
                            + [String(reflecting: AnyStore(store))]
                    },
                    reopen: {
                        guard let reopening else { throw BrokenPromise("it was not checked: pass `reopening:`") }
                        return SampleStore(
                            base: try trial.wait(for: { try await reopening(store) }), samples: samples)
                    }))
        }
    }

    /// The number and the name, such as “law 1, lastWriteWins”.
    public var description: String { "law \(number), \(name)" }

    /// Returns whether both are the same law.
    public static func == (lhs: StoreLaw, rhs: StoreLaw) -> Bool { lhs.name == rhs.name }
    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
