/// A backend that passes each call to another one, except those that it implements itself.
///
/// ```swift
/// final class ReadOnlyBackend: BackendDecorator {
///     let base: any DefaultsBackend
///     init(_ base: any DefaultsBackend) { self.base = base }
///     func layer(of key: String) -> BackendLayer { .managed }
///     func commit(_ edits: BackendEdits, over generation: UInt64?) throws(DefaultsError) -> CommitOutcome {
///         throw DefaultsError(.managed, reason: "read only")
///     }
/// }
/// ```
///
/// Create one decorator of a backend, and no suite on the backend itself: two suites would not hear
/// of each other's changes. For several parts of one place use ``DefaultsSuite/scoped(_:)``.
public protocol BackendDecorator: DefaultsBackend {
    /// The backend that is decorated.
    var base: any DefaultsBackend { get }
}

extension BackendDecorator {
    /// Reads from the base.
    public func value(forKey key: String) throws(DefaultsError) -> PropertyList? { try base.value(forKey: key) }
    /// Returns the keys of the base.
    public func keys() throws(DefaultsError) -> [String] { try base.keys() }
    /// Commits to the base.
    public func commit(_ edits: BackendEdits, over generation: UInt64?) throws(DefaultsError) -> CommitOutcome {
        try base.commit(edits, over: generation)
    }
    /// Runs the body in a write of the base.
    public func write(_ body: () throws(DefaultsError) -> Void) throws(DefaultsError) { try base.write(body) }
    /// The generation of the base.
    public var generation: UInt64? { base.generation }
    /// Returns the changes of the base.
    public func changes(since generation: UInt64) throws(DefaultsError) -> (keys: [String]?, generation: UInt64) {
        try base.changes(since: generation)
    }
    /// Watches the base.
    public func watch(_ subject: WatchedSubject, _ handler: (@Sendable (BackendEvent) -> Void)?) -> Bool {
        base.watch(subject, handler)
    }
    /// Flushes the base.
    public func synchronize() throws(DefaultsError) { try base.synchronize() }
    /// Returns where the base has a value from.
    public func layer(of key: String) throws(DefaultsError) -> BackendLayer { try base.layer(of: key) }
    /// The traits of the base.
    public var traits: BackendTraits { base.traits }
}
