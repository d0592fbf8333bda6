import TestSupport
import Testing

/// The issues of code whose purpose is to record them. They do not count, not even as known issues.
/// The suite needs the trait ``collectsIssues``: without it they fail the test.
enum CollectedIssues {
    @TaskLocal fileprivate static var current: Guarded<[Issue]>?

    /// Returns the issues that `body` records.
    static func of(_ body: () throws -> Void) rethrows -> [Issue] {
        let issues = Guarded<[Issue]>([])
        try $current.withValue(issues) { try body() }
        return issues.withLock { $0 }
    }

    /// Returns the issues that `body` records, in this task or a child task.
    static func awaiting(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
    ) async rethrows -> [Issue] {
        let issues = Guarded<[Issue]>([])
        try await $current.withValue(issues) { try await body() }
        return issues.withLock { $0 }
    }
}

extension Trait where Self == IssueHandlingTrait {
    /// Lets the tests of a suite use ``CollectedIssues``.
    static var collectsIssues: Self {
        .filterIssues { issue in
            guard let issues = CollectedIssues.current else { return true }
            issues.withLock { $0.append(issue) }
            return false
        }
    }
}

extension Issue {
    var text: String { comments.map(\.rawValue).joined() }
    var line: Int { sourceLocation?.line ?? 0 }
}
