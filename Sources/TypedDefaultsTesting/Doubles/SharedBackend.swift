import Dispatch
import SettingsFile
public import TypedDefaults

/// A backend in memory to which another process appears to write as well.
///
/// ```swift
/// let backend = SharedBackend(["volume": 3])
/// let suite = DefaultsSuite(backend: backend)
/// try backend.updateFromOutside { $0["volume"] = 7 }
/// #expect(suite[.volume] == 7)
/// ```
public final class SharedBackend: BackendDecorator {
    private struct State {
        var changes: [(generation: UInt64, keys: [String])] = []
        var handler: (@Sendable (BackendEvent) -> Void)?
        var generation: UInt64 { changes.last?.generation ?? 1 }
    }

    /// The values that both processes share.
    public var base: any DefaultsBackend { memory }
    private let memory: MemoryBackend
    private let outside: DefaultsSuite
    private let state = Locked(State())
    /// Stands for the lock that two processes would share.
    private let writerLock = DispatchSemaphore(value: 1)

    /// Creates a backend that starts with the given contents.
    public init(_ contents: SuiteContents = [:]) {
        memory = MemoryBackend(contents.stored)
        outside = DefaultsSuite(backend: memory)
    }

    /// Changes values as another process would, in one commit with an external origin.
    ///
    /// Observers of the suite on this backend have received the changes when this returns, unless
    /// another thread is writing to the suite.
    ///
    /// As another process would, this waits for a write or update of the suite to end.
    ///
    /// - Throws: What `body` throws, or a `DefaultsError` if a value cannot be stored, or if the
    ///   suite is being written for more than two seconds.
    public func updateFromOutside(_ body: (inout SuiteContents) throws -> Void) throws {
        let (keys, handler) = try changes(by: body)
        if !keys.isEmpty { handler?(.changed(keys: keys)) }
    }

    private func changes(
        by body: (inout SuiteContents) throws -> Void
    ) throws -> (keys: [String], handler: (@Sendable (BackendEvent) -> Void)?) {
        try beginWrite()
        defer { endWrite() }
        let before = try outside.contents()
        try outside.update(body)
        let after = try outside.contents()
        let keys = Set(before.keys + after.keys).filter { before[$0] != after[$0] }
        return state.withLock { state in
            if !keys.isEmpty { state.changes.append((state.generation + 1, Array(keys))) }
            return (Array(keys), state.handler)
        }
    }

    /// Waits until the other process is not writing.
    public func beginWrite() throws(DefaultsError) {
        guard writerLock.wait(timeout: .now() + 2) == .success else {
            throw DefaultsError(.timedOut, reason: "another process held the backend for more than 2 seconds")
        }
    }

    /// Lets the other process write.
    public func endWrite() { writerLock.signal() }

    /// The number of changes from outside.
    public var generation: UInt64? { state.withLock { $0.generation } }

    /// Returns the keys that were changed from outside.
    public func changes(since generation: UInt64) -> (keys: [String]?, generation: UInt64) {
        state.withLock { state in
            (state.changes.filter { $0.generation > generation }.flatMap(\.keys), state.generation)
        }
    }

    /// Takes the closure that receives changes from outside.
    public func attach(_ handler: @escaping @Sendable (BackendEvent) -> Void) {
        let old = state.withLock { exchange(&$0.handler, with: handler) }
        withExtendedLifetime(old) {}
    }
}
