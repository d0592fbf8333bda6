import Foundation
package import Testing

/// Runs each case of a test on threads of its own, not on the few of Swift's pool, which a test
/// that waits would hold. For tests in processes, too: until the task of such a test gets a thread
/// to collect its process, Swift Testing asks for it again and again. Systems before iOS 18 and
/// macOS 15 always use the pool.
package struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard #available(iOS 18, macOS 15, tvOS 18, watchOS 11, visionOS 2, *) else { return try await function() }
        try await withTaskExecutorPreference(Executor(), operation: function)
    }

    @available(iOS 18, macOS 15, tvOS 18, watchOS 11, visionOS 2, *)
    private final class Executor: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
}

extension Trait where Self == OwnThreads {
    package static var ownThreads: OwnThreads { OwnThreads() }
}
