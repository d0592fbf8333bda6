/// A backend that passes each call to another one, except those that it implements itself.
///
/// ```swift
/// final class ReadOnlyBackend: BackendDecorator {
///     let base: any DefaultsBackend
///     init(_ base: any DefaultsBackend) { self.base = base }
///     func isManaged(_ key: String) -> Bool { true }
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
    /// Begins a write of the base.
    public func beginWrite() throws(DefaultsError) { try base.beginWrite() }
    /// Ends a write of the base.
    public func endWrite() { base.endWrite() }
    /// The generation of the base.
    public var generation: UInt64? { base.generation }
    /// Returns the changes of the base.
    public func changes(since generation: UInt64) throws(DefaultsError) -> (keys: [String]?, generation: UInt64) {
        try base.changes(since: generation)
    }
    /// Passes on the events of the base.
    public func attach(_ handler: @escaping @Sendable (BackendEvent) -> Void) { base.attach(handler) }
    /// Follows the base.
    public func follow(_ key: String?, isOn: Bool) { base.follow(key, isOn: isOn) }
    /// Flushes the base.
    public func synchronize() throws(DefaultsError) { try base.synchronize() }
    /// Returns whether an administrator provides the value in the base.
    public func isManaged(_ key: String) -> Bool { base.isManaged(key) }
    /// Returns whether the base stores a value.
    public func isStored(_ key: String) throws(DefaultsError) -> Bool { try base.isStored(key) }
    /// The traits of the base.
    public var traits: BackendTraits { base.traits }
}
