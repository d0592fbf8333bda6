public import TypedDefaults

/// A backend that passes each call to another one, after a hook that can record it, delay it or
/// refuse it.
///
/// The backends for tests conform to this protocol, and so can yours:
///
/// ```swift
/// final class BusyBackend: BackendInterceptor {
///     let base: any DefaultsBackend
///     init(_ base: any DefaultsBackend) { self.base = base }
///     func willMake(_ call: BackendCall) throws(DefaultsError) {
///         if call.name == .beginWrite { throw DefaultsError(.timedOut, reason: "busy") }
///     }
/// }
/// ```
public protocol BackendInterceptor: BackendDecorator {
    /// Called before each call is passed to the base, on the same thread.
    ///
    /// - Throws: An error that the call throws instead. It is ignored in ``BackendCall/endWrite``
    ///   and ``BackendCall/watch(_:isOn:)``, which cannot throw.
    func willMake(_ call: BackendCall) throws(DefaultsError)
}

extension BackendInterceptor {
    /// Reads from the base.
    public func value(forKey key: String) throws(DefaultsError) -> PropertyList? {
        try willMake(.value(key: key))
        return try base.value(forKey: key)
    }

    /// Returns the keys of the base.
    public func keys() throws(DefaultsError) -> [String] {
        try willMake(.keys)
        return try base.keys()
    }

    /// Runs the body in a write of the base.
    public func write(_ body: () throws(DefaultsError) -> Void) throws(DefaultsError) {
        try willMake(.beginWrite)
        try base.write { () throws(DefaultsError) in
            defer { do throws(DefaultsError) { try willMake(.endWrite) } catch {} }
            try body()
        }
    }

    /// Commits to the base.
    public func commit(_ edits: BackendEdits, over generation: UInt64?) throws(DefaultsError) -> CommitOutcome {
        try willMake(.commit(Dictionary(edits.map { ($0.key, $0.value) }) { _, last in last }))
        return try base.commit(edits, over: generation)
    }

    /// Returns the changes of the base.
    public func changes(since generation: UInt64) throws(DefaultsError) -> (keys: [String]?, generation: UInt64) {
        try willMake(.changes(generation: generation))
        return try base.changes(since: generation)
    }

    /// Flushes the base.
    public func synchronize() throws(DefaultsError) {
        try willMake(.synchronize)
        try base.synchronize()
    }

    /// Watches the base.
    public func watch(_ subject: WatchedSubject, _ handler: (@Sendable (BackendEvent) -> Void)?) -> Bool {
        if subject != .failures {
            do throws(DefaultsError) { try willMake(.watch(subject, isOn: handler != nil)) } catch {}
        }
        return base.watch(subject, handler)
    }
}

/// A backend in memory without a generation, so that each read of a setting is a call.
final class UncachedMemoryBackend: BackendDecorator {
    let base: any DefaultsBackend = MemoryBackend()
    var generation: UInt64? { nil }
}
