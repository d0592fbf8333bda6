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
        standard.core.bypassKeptValues()
        return suite
    }

    /// The suite to use in the current task: the stand-in for the standard suite, or this suite.
    var current: DefaultsSuite {
        guard let other = StandInSuite.replacement(of: core) else { return self }
        return scope.map { other.scoped($0.prefix) } ?? other
    }
}

/// The suite that stands in for the standard suite.
enum StandInSuite {
    @TaskLocal fileprivate static var current: DefaultsSuite?

    /// Returns the suite that stands in for the suite of that core in the current task.
    // Not inlined, because the callers are generic and this function usually returns at its first
    // line.
    @inline(never)
    static func replacement(of core: SuiteCore) -> DefaultsSuite? {
        guard let current, core === DefaultsSuite.standard.core else { return nil }
        return current
    }
}
