#if canImport(Testing)
    public import Testing
    public import TypedDefaults

    /// A trait that gives each test its own `DefaultsSuite.standard`, in memory.
    ///
    /// ```swift
    /// @Suite(.isolatedDefaults) struct CameraTests {
    ///     @Test func theGridIsOff() { #expect(!Settings.showsGrid.value) }
    ///     @Test(.isolatedDefaults(["showsGrid": true])) func theGridIsOn() { #expect(Settings.showsGrid.value) }
    /// }
    /// ```
    ///
    /// Tests with this trait do not affect each other, even if they run at the same time. As soon
    /// as one test of a run has it, no test of the run changes the user's own settings. See
    /// ``withIsolatedDefaults(_:operation:)``.
    public struct IsolatedDefaultsTrait: SuiteTrait, TestTrait, TestScoping {
        let contents: SuiteContents

        /// True: the trait of a suite applies to each of its tests.
        public var isRecursive: Bool { true }

        /// Protects the user's own settings. Swift Testing calls this before it runs any test.
        public func prepare(for test: Test) async throws { Quarantine.begin() }

        /// Runs a test with a new suite.
        public func provideScope(
            for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
        ) async throws {
            try await withIsolatedDefaults(contents) { try await function() }
        }
    }

    extension Trait where Self == IsolatedDefaultsTrait {
        /// Gives each test its own empty `DefaultsSuite.standard`, in memory.
        public static var isolatedDefaults: Self { Self(contents: [:]) }

        /// Gives each test its own `DefaultsSuite.standard`, in memory, which starts with the given
        /// values.
        public static func isolatedDefaults(_ contents: SuiteContents) -> Self { Self(contents: contents) }
    }

    var currentTestID: AnyHashable? { Test.current.map { AnyHashable($0.id) } }
#else
    var currentTestID: AnyHashable? { nil }
#endif
