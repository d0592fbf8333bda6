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
    ///   and ``BackendCall/follow(key:isOn:)``, which cannot throw.
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

    /// Begins a write of the base.
    public func beginWrite() throws(DefaultsError) {
        try willMake(.beginWrite)
        try base.beginWrite()
    }

    /// Ends a write of the base.
    public func endWrite() {
        do throws(DefaultsError) { try willMake(.endWrite) } catch {}
        base.endWrite()
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

    /// Follows the base.
    public func follow(_ key: String?, isOn: Bool) {
        do throws(DefaultsError) { try willMake(.follow(key: key, isOn: isOn)) } catch {}
        base.follow(key, isOn: isOn)
    }
}

/// A backend in memory without a generation, so that each read of a setting is a call.
final class UncachedMemoryBackend: BackendDecorator {
    let base: any DefaultsBackend = MemoryBackend()
    var generation: UInt64? { nil }
}
