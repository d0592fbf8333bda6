import SettingsFile

/// A place where settings are stored. Conform to it for a place of your own, such as a database.
///
/// ```swift
/// let suite = DefaultsSuite(backend: DatabaseBackend(connection))
/// ```
///
/// A suite handles types, caching, failures and the turns of its process's writers, so a backend
/// deals with raw values only. It must keep these laws:
///
/// 1. A committed value reads back equal, as ``PropertyList`` defines equality. A key without a
///    value reads `nil`.
/// 2. Keys are compared by their UTF-8 bytes.
/// 3. Every reader sees all edits of one commit or none of them, also after a crash.
/// 4. A commit that throws has changed nothing.
/// 5. A value that cannot be read is an error of kind ``DefaultsError/Kind/unavailable``, never
///    `nil`, and is never overwritten.
///
/// Any thread may call a backend at any time. ``commit(_:)`` is called only between
/// ``beginWrite()`` and ``endWrite()``.
///
/// Only ``value(forKey:)``, ``keys()`` and ``commit(_:)`` must be written. Without ``generation``
/// each read of a setting reads the backend.
public protocol DefaultsBackend: AnyObject, Sendable {
    /// Returns the stored value, or `nil` if the key has none.
    func value(forKey key: String) throws(DefaultsError) -> PropertyList?

    /// Returns all stored keys, in any order.
    func keys() throws(DefaultsError) -> [String]

    /// Waits until no other process that shares the place is writing, and makes its changes
    /// visible.
    ///
    /// The suite lets one thread of its process write at a time. It calls ``endWrite()`` once if
    /// this returns.
    ///
    /// - Throws: ``DefaultsError/Kind/timedOut`` if other processes do not finish.
    func beginWrite() throws(DefaultsError)

    /// Lets other processes write.
    func endWrite()

    /// Applies the edits as one commit. A `nil` value removes the key, and no key occurs twice.
    ///
    /// - Throws: ``DefaultsError/Kind/refused`` for a value that the place cannot store exactly.
    func commit(_ edits: [(key: String, value: PropertyList?)]) throws(DefaultsError)

    /// A number that changes as soon as a value may have changed other than by ``commit(_:)``;
    /// `nil` if that cannot be known.
    ///
    /// Each read of a setting asks for it, so it must be cheap.
    var generation: UInt64? { get }

    /// Returns the keys that may have changed after a generation, `nil` for all keys, and the
    /// present generation.
    ///
    /// - Parameter generation: An earlier ``generation``; 0 for any time.
    func changes(since generation: UInt64) throws(DefaultsError) -> (keys: [String]?, generation: UInt64)

    /// Returns once every commit so far is safe from a loss of power, or as safe as the place makes
    /// it.
    func synchronize() throws(DefaultsError)

    /// Begins to call a closure soon after something may have changed other than by ``commit(_:)``;
    /// `nil` ends that.
    ///
    /// The suite calls this when the first observer comes and when the last one goes, and reads the
    /// changes itself once after this returns.
    ///
    /// - Parameter onChange: Takes the keys that may have changed, or `nil` for all keys. It never
    ///   waits for a writer.
    func watch(_ onChange: (@Sendable (_ keys: [String]?) -> Void)?)

    /// Where the values are stored, for people to read; `nil` for a place without a name.
    var location: String? { get }
}

extension DefaultsBackend {
    /// Does nothing.
    public func beginWrite() {}
    /// Does nothing.
    public func endWrite() {}
    /// Returns `nil`.
    public var generation: UInt64? { nil }
    /// Returns that any key may have changed.
    public func changes(since generation: UInt64) -> (keys: [String]?, generation: UInt64) { (nil, generation) }
    /// Does nothing.
    public func synchronize() {}
    /// Does nothing.
    public func watch(_ onChange: (@Sendable (_ keys: [String]?) -> Void)?) {}
    /// Returns `nil`.
    public var location: String? { nil }
}

/// A backend of this library, with what only the system's own places need.
package protocol SystemBackend: DefaultsBackend {
    /// How long after a commit the suite calls ``DefaultsBackend/synchronize()`` in the background.
    ///
    /// Zero means before a write returns, and `nil` means never.
    var synchronizationDelay: Duration? { get }

    /// Returns the launch argument for the key, as in `-volume 7`, if the place puts launch
    /// arguments in front of stored values.
    func launchArgument(forKey key: String) -> PropertyList?

    /// Takes the closure to call with failures that the backend meets on its own, such as repaired
    /// damage.
    ///
    /// The first suite on a backend calls this before anything else but
    /// ``DefaultsBackend/location``, under no lock, so a backend may create suites here. The call
    /// can repeat: after the last suite on the backend was released and a new one is created, or
    /// when several threads create the first one at the same time. Keep the last closure.
    func attach(report: @escaping @Sendable (DefaultsError) -> Void)

    /// Whether ``DefaultsBackend/watch(_:)`` reports all changes that the place reports, by key, at
    /// least those of keys that ``follow(_:_:)`` has named.
    ///
    /// If not, and without a ``DefaultsBackend/generation``, a suite reads everything that is
    /// observed again at each of its own writes.
    var followsKeys: Bool { get }

    /// Begins or ends to report changes of a key. Calls with `true` are counted, and as many with
    /// `false` end it.
    ///
    /// Called for each key that is observed, or tracked by the Observation framework.
    func follow(_ key: String, _ isFollowed: Bool)

    /// Returns whether an administrator provides the value, so that ``DefaultsBackend/commit(_:)``
    /// throws ``DefaultsError/Kind/managed``.
    func isManaged(_ key: String) -> Bool

    /// How many bytes a key may have.
    var keyLimit: Int { get }

    /// Whether a key that is not stored may have a value all the same, such as one that was
    /// registered with `UserDefaults`.
    ///
    /// Then ``DefaultsBackend/value(forKey:)`` returns that value, and ``isStored(_:)`` tells the
    /// two apart.
    var hasFallbackValues: Bool { get }

    /// Returns whether a value is stored under the key, readable or not. Called only if
    /// ``hasFallbackValues`` is true.
    func isStored(_ key: String) throws(DefaultsError) -> Bool
}

extension SystemBackend {
    package var synchronizationDelay: Duration? { nil }
    package func launchArgument(forKey key: String) -> PropertyList? { nil }
    package func attach(report: @escaping @Sendable (DefaultsError) -> Void) {}
    package var followsKeys: Bool { false }
    package func follow(_ key: String, _ isFollowed: Bool) {}
    package func isManaged(_ key: String) -> Bool { false }
    package var keyLimit: Int { SettingsFile.keyLimit }
    package var hasFallbackValues: Bool { false }
    package func isStored(_ key: String) throws(DefaultsError) -> Bool { try value(forKey: key) != nil }
}

/// A backend of the program.
final class ForeignBackend: SystemBackend {
    private let base: any DefaultsBackend

    init(_ base: any DefaultsBackend) { self.base = base }

    func value(forKey key: String) throws(DefaultsError) -> PropertyList? { try base.value(forKey: key) }
    func keys() throws(DefaultsError) -> [String] { try base.keys() }
    func beginWrite() throws(DefaultsError) { try base.beginWrite() }
    func endWrite() { base.endWrite() }
    func commit(_ edits: [(key: String, value: PropertyList?)]) throws(DefaultsError) { try base.commit(edits) }
    var generation: UInt64? { base.generation }
    func changes(since generation: UInt64) throws(DefaultsError) -> (keys: [String]?, generation: UInt64) {
        try base.changes(since: generation)
    }
    func synchronize() throws(DefaultsError) { try base.synchronize() }
    func watch(_ onChange: (@Sendable (_ keys: [String]?) -> Void)?) { base.watch(onChange) }
    var location: String? { base.location }
}

/// A backend on a settings file.
package protocol SettingsFileBackend: SystemBackend {
    /// Calls ``DefaultsBackend/beginWrite()`` and returns the generation. Until
    /// ``DefaultsBackend/endWrite()``, only this process changes it.
    func beginWriteReturningGeneration() throws(DefaultsError) -> UInt64?

    /// Copies what is stored under `key`, as it is, between ``DefaultsBackend/beginWrite()`` and
    /// ``DefaultsBackend/endWrite()``.
    ///
    /// - Returns: The key that holds the copy: `first` or, if something else is stored there,
    ///   `second`.
    func copyRawValue(forKey key: String, to first: String, else second: String) throws(DefaultsError) -> String
}
