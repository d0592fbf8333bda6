package import SettingsFile

/// A place where settings are stored. Conform to this protocol to store settings elsewhere, such as
/// in a database.
///
/// ```swift
/// let suite = DefaultsSuite(backend: DatabaseBackend(connection))
/// ```
///
/// A suite handles types, caching, failures and the order of the writers in its process, so a
/// backend deals only with raw values. It must follow these rules:
///
/// 1. A committed value reads back equal, as ``PropertyList`` defines equality. A key without a
///    value reads `nil`.
/// 2. Keys are compared by their UTF-8 bytes.
/// 3. Every reader sees all edits of one commit or none of them, also after a crash. The library's
///    own backends for `UserDefaults` and iCloud keep this rule only for readers of one process.
/// 4. A commit that throws has changed nothing.
/// 5. A value that cannot be read is an error of kind ``DefaultsError/Kind/unavailable``, never
///    `nil`, and is never overwritten.
///
/// Any thread may call a backend at any time. ``commit(_:)`` is called only between
/// ``beginWrite()`` and ``endWrite()``.
///
/// You must implement only ``value(forKey:)``, ``keys()`` and ``commit(_:)``. Without
/// ``generation``, each read of a setting reads the backend.
public protocol DefaultsBackend: AnyObject, Sendable {
    /// Returns the stored value, or `nil` if the key has none.
    func value(forKey key: String) throws(DefaultsError) -> PropertyList?

    /// Returns all stored keys, in any order.
    func keys() throws(DefaultsError) -> [String]

    /// Waits until no other process is writing to the same place, and makes the changes of other
    /// processes visible.
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
    /// `nil` if the backend cannot know that.
    ///
    /// Each read of a setting calls this, so it must be cheap.
    var generation: UInt64? { get }

    /// Returns the keys that may have changed after a generation, or `nil` for all keys, and the
    /// current generation.
    ///
    /// - Parameter generation: An earlier ``generation``; 0 for any time.
    func changes(since generation: UInt64) throws(DefaultsError) -> (keys: [String]?, generation: UInt64)

    /// Returns once all commits so far survive a power failure, as far as the place can guarantee
    /// that.
    func synchronize() throws(DefaultsError)

    /// Starts calling a closure soon after something may have changed other than by ``commit(_:)``.
    /// Passing `nil` stops it.
    ///
    /// The suite calls this when the first observer is added and when the last one is removed.
    /// After this returns, the suite itself reads the changes so far.
    ///
    /// - Parameter onChange: Takes the keys that may have changed, or `nil` for all keys. It never
    ///   waits for a writer.
    func watch(_ onChange: (@Sendable (_ keys: [String]?) -> Void)?)

    /// Where the values are stored, for messages; `nil` for a place without a name.
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

/// A backend of this library. Its additional requirements serve only the backends of this library.
package protocol SystemBackend: DefaultsBackend {
    /// Returns the stored value, in the form that takes least work.
    func storedValue(forKey key: String) throws(DefaultsError) -> StoredValue?

    /// Does the same as ``DefaultsBackend/commit(_:)``, with values in either form.
    func commit(_ edits: [Edit]) throws(DefaultsError)

    /// Does the same as ``DefaultsBackend/beginWrite()``, and returns the generation.
    ///
    /// - Parameter deadline: When to stop waiting for other processes; `nil` for the timeout of the
    ///   backend.
    func beginWriteReturningGeneration(until deadline: MonotonicTime?) throws(DefaultsError) -> UInt64?

    /// This backend if it is on a settings file. A cast to the protocol would search all
    /// conformances of the program once.
    var settingsFile: (any SettingsFileBackend)? { get }

    /// How long after a commit the suite calls ``flushInBackground()``.
    ///
    /// Zero means before a write returns, and `nil` means never.
    var synchronizationDelay: Duration? { get }

    /// Does the same as ``DefaultsBackend/synchronize()`` while no caller waits for it.
    func flushInBackground() throws(DefaultsError)

    /// The layers of a new suite on this backend.
    var layers: [DefaultsSuite.Layer] { get }

    /// Sets the closure that receives failures which the backend finds on its own, such as repaired
    /// damage.
    ///
    /// The first suite on a backend calls this before anything else but
    /// ``DefaultsBackend/location``, under no lock, so a backend may create suites here. The call
    /// can repeat: after the last suite on the backend was released and a new one is created, or
    /// when several threads create the first one at the same time. Keep the last closure.
    func attach(report: @escaping @Sendable (DefaultsError) -> Void)

    /// Whether ``DefaultsBackend/watch(_:)`` reports all changes by key, at least for the keys that
    /// were passed to ``follow(_:_:)``.
    ///
    /// If not, and if there is no ``DefaultsBackend/generation``, each write of the suite reads all
    /// observed values again.
    var followsKeys: Bool { get }

    /// Starts or stops reporting changes of a key. Calls nest: each call with `true` needs one with
    /// `false`.
    ///
    /// Called for each key that is observed, or tracked by the Observation framework.
    func follow(_ key: String, _ isFollowed: Bool)

    /// Returns whether an administrator provides the value, so that ``DefaultsBackend/commit(_:)``
    /// throws ``DefaultsError/Kind/managed``.
    func isManaged(_ key: String) -> Bool

    /// How many bytes a key may have.
    var keyLimit: Int { get }

    /// Whether a key without a stored value can still have a value, such as one that was registered
    /// with `UserDefaults`.
    ///
    /// Then ``DefaultsBackend/value(forKey:)`` returns that value, and ``isStored(_:)``
    /// distinguishes the two.
    var hasFallbackValues: Bool { get }

    /// Returns whether a value is stored under the key, readable or not. Called only if
    /// ``hasFallbackValues`` is true.
    func isStored(_ key: String) throws(DefaultsError) -> Bool
}

extension SystemBackend {
    package func storedValue(forKey key: String) throws(DefaultsError) -> StoredValue? {
        try value(forKey: key).map(StoredValue.tree)
    }
    package func commit(_ edits: [Edit]) throws(DefaultsError) {
        try commit(edits.map { (key: $0.key, value: $0.value?.tree) })
    }
    package func beginWriteReturningGeneration(until deadline: MonotonicTime?) throws(DefaultsError) -> UInt64? {
        try beginWrite()
        return generation
    }
    package var settingsFile: (any SettingsFileBackend)? { nil }
    package func flushInBackground() throws(DefaultsError) { try synchronize() }
    package var synchronizationDelay: Duration? { nil }
    package var layers: [DefaultsSuite.Layer] { [.stored] }
    package func attach(report: @escaping @Sendable (DefaultsError) -> Void) {}
    package var followsKeys: Bool { false }
    package func follow(_ key: String, _ isFollowed: Bool) {}
    package func isManaged(_ key: String) -> Bool { false }
    package var keyLimit: Int { SettingsFile.keyLimit }
    package var hasFallbackValues: Bool { false }
    package func isStored(_ key: String) throws(DefaultsError) -> Bool { try value(forKey: key) != nil }
}

/// A backend that the program implements.
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
    /// Whether the name refers to the file that readers use, and not to a file with which another
    /// program has replaced it.
    var isInPlace: Bool { get }

    /// Returns the stored bytes, even if they are not a value that this version can read.
    func storedBytes(forKey key: String) throws(DefaultsError) -> [UInt8]?
}

extension SettingsFileBackend {
    package var settingsFile: (any SettingsFileBackend)? { self }
}
