import SettingsFile

extension DefaultsSuite {
    /// Runs a function in which another suite stands in for ``standard``, for a test or a preview.
    ///
    /// ```swift
    /// DefaultsSuite.withStandard(.inMemory()) {
    ///     Settings.quality.value = 0.5  // a `UserDefault` that is bound to the standard suite
    /// }
    /// ```
    ///
    /// This redirects all stores, wrappers and settings in the standard suite and its scopes,
    /// including existing ones. It applies to the current task and the tasks that the function
    /// starts, so tests that run at the same time do not affect each other. Detached tasks and
    /// other threads still use the standard suite. An observation stays with the suite in which it
    /// began.
    ///
    /// - Parameters:
    ///   - suite: The suite to use, which is not the standard suite or a scope of it.
    ///   - operation: The function to run.
    /// - Returns: What the function returns.
    /// - Throws: What the function throws.
    public static func withStandard<Result>(
        _ suite: DefaultsSuite, operation: () throws -> Result
    ) rethrows -> Result {
        try StandInSuite.$current.withValue(prepared(suite), operation: operation)
    }

    /// Runs an asynchronous function in which another suite stands in for ``standard``. See
    /// ``withStandard(_:operation:)``.
    public static func withStandard<Result>(
        _ suite: DefaultsSuite, isolation: isolated (any Actor)? = #isolation, operation: () async throws -> Result
    ) async rethrows -> Result {
        try await StandInSuite.$current.withValue(prepared(suite), operation: operation, isolation: isolation)
    }

    private static func prepared(_ suite: DefaultsSuite) -> DefaultsSuite {
        precondition(suite.core !== standard.core, "the standard suite cannot stand in for itself")
        standard.core.bypassSeenValues()
        return suite
    }

    /// Makes another suite stand in for ``standard`` in all of this process, except in functions
    /// that run in ``withStandard(_:operation:)``.
    ///
    /// - Parameters:
    ///   - suite: The suite to use, which is not the standard suite or a scope of it.
    ///   - onUse: Called with the key, or with `nil` for several keys, each time that values of the
    ///     suite are used in place of those of the standard suite. Any thread may call it, also
    ///     during an update.
    package static func replaceStandard(
        with suite: DefaultsSuite, onUse: @escaping @Sendable (_ key: String?) -> Void = { _ in }
    ) {
        let suite = prepared(suite)
        guard standard.core.isStandard else {
            preconditionFailure("“\(standardName)” was opened by name before it became the standard suite")
        }
        // Release the old suite after unlocking: the deinit of an object that its handlers hold may
        // use the standard suite.
        let new = StandInSuite.OfProcess(standard: standard.core, suite: suite, onUse: onUse)
        withExtendedLifetime(StandInSuite.ofProcess.withLock { exchange(&$0, with: new) }) {}
    }

    /// Returns a function that runs `body` on any thread, with the stand-in for ``standard`` of the
    /// current task.
    package static func keepingStandard(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let suite = StandInSuite.current
        return { StandInSuite.$current.withValue(suite, operation: body) }
    }

    /// The suite to use in the current task: the stand-in for the standard suite, or this suite.
    var current: DefaultsSuite {
        guard let other = StandInSuite.replacement(of: core, key: nil) else { return self }
        return scope.map { other.scoped($0.prefix) } ?? other
    }

    /// The core of ``current``, for uses that neither read nor write values.
    var currentCore: SuiteCore { StandInSuite.replacement(of: core)?.core ?? core }

    /// The environment variable that keeps the standard suite of a process in memory.
    package static let standardVariable = "TYPED_DEFAULTS_STANDARD"

    /// Returns a standard suite in memory if that is the value of ``standardVariable``.
    static func standardInMemory(_ value: String?) -> DefaultsSuite? {
        guard value == "memory" else { return nil }
        let core = SuiteCore(MemoryBackend(), isStandard: true)
        core.setLayers(Layers([.arguments(), .stored]))
        return DefaultsSuite(core: core)
    }
}

/// The suite that stands in for the standard suite.
enum StandInSuite {
    /// The stand-in of all code that does not run in ``DefaultsSuite/withStandard(_:operation:)``.
    struct OfProcess {
        let standard: SuiteCore
        let suite: DefaultsSuite
        let onUse: @Sendable (_ key: String?) -> Void
    }

    fileprivate static let ofProcess = Locked<OfProcess?>(nil)

    @TaskLocal fileprivate static var current: DefaultsSuite?

    /// Returns the suite that stands in for the suite of that core in the current task, for a use
    /// of a key, or of several keys.
    static func replacement(of core: SuiteCore, key: String?) -> DefaultsSuite? {
        replacement(of: core) { $0(key) }
    }

    /// Returns the suite that stands in for the suite of that core in the current task.
    // Not inlined, because the callers are generic and this function usually returns early.
    @inline(never)
    static func replacement(
        of core: SuiteCore, noting use: (_ onUse: (String?) -> Void) -> Void = { _ in }
    ) -> DefaultsSuite? {
        if let current { return core === DefaultsSuite.standard.core ? current : nil }
        guard core.isStandard, let standIn = ofProcess.withLock({ $0 }), standIn.standard === core else { return nil }
        use(standIn.onUse)
        return standIn.suite
    }
}
