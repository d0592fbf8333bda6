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
    /// The values that both processes share.
    public var base: any DefaultsBackend { memory }
    private let memory: MemoryBackend
    private let outside: DefaultsSuite
    private let handler = AttachedHandler()
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
        let keys = try changedKeys(body)
        if !keys.isEmpty { handler(.changed(keys: keys)) }
    }

    private func changedKeys(_ body: (inout SuiteContents) throws -> Void) throws -> [String] {
        try lock()
        defer { writerLock.signal() }
        let before = try outside.contents()
        try outside.update(body)
        let after = try outside.contents()
        return Set(before.keys + after.keys).filter { before[$0] != after[$0] }
    }

    /// Runs the body while the other process is not writing.
    public func write(_ body: () throws(DefaultsError) -> Void) throws(DefaultsError) {
        try lock()
        defer { writerLock.signal() }
        try body()
    }

    private func lock() throws(DefaultsError) {
        guard writerLock.wait(timeout: .now() + 2) == .success else {
            throw DefaultsError(.timedOut, reason: "another process held the backend for more than 2 seconds")
        }
    }

    /// Takes the closure that receives changes from outside.
    public func watch(_ subject: WatchedSubject, _ handler: (@Sendable (BackendEvent) -> Void)?) -> Bool {
        if let handler { self.handler.attach(handler) }
        return false
    }
}
