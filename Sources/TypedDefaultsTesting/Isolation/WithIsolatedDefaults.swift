import SettingsFile
public import TypedDefaults

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    #error("TypedDefaultsTesting needs setenv")
#endif

/// Runs a function with a standard suite of its own, in memory.
///
/// Use this in XCTest; in Swift Testing, use the trait ``IsolatedDefaultsTrait``:
///
/// ```swift
/// final class CameraTests: XCTestCase {
///     override func invokeTest() {
///         withIsolatedDefaults(["volume": 7]) { super.invokeTest() }
///     }
/// }
/// ```
///
/// All stores, wrappers and settings in `DefaultsSuite.standard` use the suite in memory, including
/// existing ones. This applies to the current task and the tasks that the function starts.
///
/// From the first call to the end of the process, nothing is written into the user's own settings.
/// Code that uses `DefaultsSuite.standard` elsewhere, such as in a detached task or on another
/// thread, shares one other suite in memory, and each of its keys is recorded as a test failure.
/// Suites with a name or a file are not affected.
///
/// - Parameters:
///   - contents: The values that the suite starts with, by key.
///   - operation: The function to run.
/// - Returns: What the function returns.
/// - Throws: What the function throws.
public func withIsolatedDefaults<Result>(
    _ contents: SuiteContents = [:], operation: () throws -> Result
) rethrows -> Result {
    Quarantine.begin()
    return try DefaultsSuite.withStandard(suite(with: contents), operation: operation)
}

/// Runs an asynchronous function with a standard suite of its own, in memory. See
/// ``withIsolatedDefaults(_:operation:)``.
public func withIsolatedDefaults<Result>(
    _ contents: SuiteContents = [:], isolation: isolated (any Actor)? = #isolation,
    operation: () async throws -> Result
) async rethrows -> Result {
    Quarantine.begin()
    return try await DefaultsSuite.withStandard(suite(with: contents), operation: operation)
}

/// Returns a new suite in memory.
private func suite(with contents: SuiteContents) -> DefaultsSuite {
    let suite = DefaultsSuite.inMemory()
    do { try suite.replaceContents(with: contents) } catch { recordIssue("The contents cannot be stored: \(error)") }
    return suite
}

/// The suite for code outside of all isolated tests.
enum Quarantine {
    /// Keeps the user's own settings unchanged until the end of the process.
    static func begin() { isUnderWay }

    private static let isUnderWay: Void = {
        // For the processes that tests start, such as those of exit tests.
        setenv(DefaultsSuite.standardVariable, "memory", 0)
        let reported = Locked<[Use: Int]>([:])
        DefaultsSuite.replaceStandard(with: .inMemory()) { key in
            let test = currentTestID
            let count = reported.withLock { reported in
                reported[Use(key: key, test: test), default: 0] += 1
                return reported[Use(key: key, test: test), default: 0]
            }
            // Without a test it is not known whether the use is in the same test as the one before.
            guard count == 1 || (test == nil && count <= 20) else { return }
            let what = key.map { "“\($0)” of the standard suite" } ?? "The standard suite"
            recordIssue(
                test == nil
                    ? """
                    \(what) was used outside of an isolated test, such as by a detached task or on another thread. \
                    The user's settings are unchanged. Pass a suite to that code, or wrap it in withIsolatedDefaults.
                    """
                    : """
                    \(what) was used by a test that is not isolated. The user's settings are unchanged. Add the \
                    trait .isolatedDefaults to the test.
                    """)
        }
    }()

    /// A use that is recorded once for each key and test, and up to 20 times without a test.
    private struct Use: Hashable {
        let key: String?
        let test: AnyHashable?
    }
}
