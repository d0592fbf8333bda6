public import TypedDefaults

/// A backend that passes each call to another one, after a hook that can note it, delay it or
/// refuse it.
///
/// The backends for tests are decorators. Conform to this protocol to write your own:
///
/// ```swift
/// final class ReadOnlyBackend: BackendDecorator {
///     let base: any DefaultsBackend
///     init(_ base: any DefaultsBackend) { self.base = base }
///     func willMake(_ call: BackendCall) throws(DefaultsError) {
///         if call.name == .commit { throw DefaultsError(.managed, reason: "read only") }
///     }
/// }
/// ```
public protocol BackendDecorator: DefaultsBackend {
    /// The backend that is decorated.
    var base: any DefaultsBackend { get }

    /// Called before each call is passed to ``base``, on the same thread.
    ///
    /// - Throws: An error that the call throws instead. It is ignored in ``BackendCall/endWrite``
    ///   and ``BackendCall/watch(isOn:)``, which cannot throw.
    func willMake(_ call: BackendCall) throws(DefaultsError)
}

extension BackendDecorator {
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
    public func commit(_ edits: [(key: String, value: PropertyList?)]) throws(DefaultsError) {
        try willMake(.commit(Dictionary(edits.map { ($0.key, $0.value) }) { _, last in last }))
        try base.commit(edits)
    }

    /// The generation of the base.
    public var generation: UInt64? { base.generation }

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
    public func watch(_ onChange: (@Sendable (_ keys: [String]?) -> Void)?) {
        do throws(DefaultsError) { try willMake(.watch(isOn: onChange != nil)) } catch {}
        base.watch(onChange)
    }

    /// The location of the base.
    public var location: String? { base.location }
}

/// A backend in memory without a generation, so that each read of a setting is a call.
final class UncachedMemoryBackend: BackendDecorator {
    let base: any DefaultsBackend = MemoryBackend()
    func willMake(_ call: BackendCall) {}
    var generation: UInt64? { nil }
}
