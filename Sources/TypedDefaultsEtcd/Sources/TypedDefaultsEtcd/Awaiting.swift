import NIOPosix
public import TypedDefaults

// Not overloads beside the synchronous methods: in an async function, the compiler prefers an async
// overload, so each `try store.save(value)` there would become an error.

extension DefaultsSuite {
    /// The suite, for writes that must not block the current thread.
    ///
    /// ```swift
    /// try await suite.awaiting.update { $0[.volume] = 7 }
    /// ```
    ///
    /// A write to etcd waits for the cluster. This lets it wait on a thread of its own. Use it in
    /// `async` code, where a thread that waits is missing to other tasks, and on the main actor.
    ///
    /// At most 8 writes of a process wait like this at the same time, and the others wait for them
    /// first. So in an outage, a write may take longer than ``EtcdConfiguration/writeTimeout``.
    public var awaiting: AwaitingSuite { AwaitingSuite(base: self) }
}

extension DefaultStoreType {
    /// The store, for writes that must not block the current thread.
    ///
    /// ```swift
    /// try await store.awaiting.update { $0.size = .large }
    /// ```
    public var awaiting: AwaitingStore<Self> { AwaitingStore(base: self) }
}

extension UserDefault {
    /// The setting, for writes that must not block the current thread.
    ///
    /// ```swift
    /// try await $launchCount.awaiting.update { $0 += 1 }
    /// ```
    public var awaiting: AwaitingSetting<Value> { AwaitingSetting(base: self) }
}

/// The writes of a suite, on a thread of their own.
public struct AwaitingSuite: Sendable {
    let base: DefaultsSuite

    /// Does what `update` of the suite does, without blocking the current thread.
    ///
    /// - Throws: What `update` throws, or `CancellationError` if the task was cancelled before this
    ///   began. Once begun, the update ends as if it had not been cancelled.
    @discardableResult
    public func update<Result: Sendable>(
        _ body: @Sendable (inout SuiteContents) throws -> Result
    ) async throws -> Result {
        try await WritingThreads.run { try base.update(body) }
    }
}

/// The writes of a setting, on a thread of their own.
public struct AwaitingSetting<Value: Sendable>: Sendable {
    let base: UserDefault<Value>

    /// Does what `update` of the setting does, without blocking the current thread.
    ///
    /// - Throws: What `update` throws, or `CancellationError` if the task was cancelled before this
    ///   began.
    @discardableResult
    public func update<Result: Sendable>(
        _ body: @Sendable (inout Value) throws -> Result
    ) async throws -> Result {
        try await WritingThreads.run { try base.update(body) }
    }
}

/// The writes of a store, on a thread of their own.
///
/// Each throws what the method of the same name of the store throws, or `CancellationError` if the
/// task was cancelled before this began.
public struct AwaitingStore<Store: DefaultStoreType>: Sendable {
    let base: Store

    /// Does what `save` of the store does, without blocking the current thread.
    public func save(_ value: Store.Default) async throws {
        try await WritingThreads.run { try base.save(value) }
    }

    /// Does what `updateStored` of the store does, without blocking the current thread.
    @discardableResult
    public func updateStored<Result: Sendable>(
        _ body: @Sendable (inout Store.Default?) throws -> Result
    ) async throws -> Result {
        try await WritingThreads.run { try base.updateStored(body) }
    }

    /// Does what `update(default:)` of the store does, without blocking the current thread.
    @discardableResult
    public func update<Result: Sendable>(
        default defaultValue: Store.Default, _ body: @Sendable (inout Store.Default) throws -> Result
    ) async throws -> Result {
        try await WritingThreads.run { try base.update(default: defaultValue, body) }
    }

    /// Does what `update` of the store does, without blocking the current thread.
    @discardableResult
    public func update<Result: Sendable>(
        _ body: @Sendable (inout Store.Default) throws -> Result
    ) async throws -> Result where Store.Default: DefaultConfig {
        try await WritingThreads.run { try base.update(body) }
    }
}

/// Threads that wait for the cluster.
private final class WritingThreads: TaskExecutor {
    private static let shared = WritingThreads()
    /// Suites write one after the other anyway, so this is the number of suites that can be written
    /// at the same time.
    private let pool = NIOThreadPool(numberOfThreads: 8)

    init() { pool.start() }

    /// Runs a function on one of the threads, as a part of the current task, so that its task-local
    /// values, such as the suite that stands in for the standard one, remain.
    static func run<Result: Sendable>(_ body: () throws -> Result) async throws -> Result {
        try Task.checkCancellation()
        return try await withTaskExecutorPreference(shared) { try body() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pool.submit { _ in job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
