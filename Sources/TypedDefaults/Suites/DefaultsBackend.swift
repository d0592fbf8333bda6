/// A place where settings can live: memory, `UserDefaults`, a file.
///
/// A ``DefaultsSuite`` stands on one backend and is the only one in its process that does. It takes care of types, caches,
/// failures and turns among the threads of its process, so that a backend deals in raw values only:
///
/// 1. A value that was committed reads back equal, as ``PropertyList`` defines equal; a key that was not reads nil.
/// 2. Keys are compared by their UTF-8 bytes.
/// 3. The edits of one commit are seen together or not at all, by every reader, whatever happens in between.
/// 4. A commit that throws has changed nothing.
/// 5. What cannot be read is ``DefaultsError/Kind/unavailable``, never nil and never overwritten.
///
/// Any thread may call at any time; ``commit(_:)`` is called between ``beginWrite()`` and ``endWrite()`` only. A value that the place cannot
/// hold exactly is refused by ``commit(_:)`` with a ``DefaultsError`` of kind ``DefaultsError/Kind/refused``.
///
/// The first two requirements and ``commit(_:)`` must be written. Without the others each value is read each time it is asked for.
public protocol DefaultsBackend: AnyObject, Sendable {
    /// The stored value; nil if the key is missing.
    func value(forKey key: String) throws(DefaultsError) -> PropertyList?

    /// All keys that are stored, in no order.
    func keys() throws(DefaultsError) -> [String]

    /// Waits until no other process that shares the place is writing, and makes what they wrote visible.
    ///
    /// The calling suite lets one thread of its process in at a time, and calls ``endWrite()`` once if this returns.
    ///
    /// - Throws: ``DefaultsError/Kind/timedOut`` if other processes leave no turn.
    func beginWrite() throws(DefaultsError)

    /// Lets other processes write.
    func endWrite()

    /// Applies the edits as one; a nil value removes the key. No key occurs twice.
    func commit(_ edits: [(key: String, value: PropertyList?)]) throws(DefaultsError)

    /// A number that differs from what it was as soon as a value may have changed other than by ``commit(_:)``; nil if that cannot be
    /// known, so that each value must be read each time it is asked for.
    ///
    /// Asked for at every read of a setting, so it must cost next to nothing.
    var generation: UInt64? { get }

    /// The keys that may have changed since that generation, 0 for ever, and the generation up to which that is so; nil keys mean all.
    func changes(since generation: UInt64) throws(DefaultsError) -> (keys: [String]?, generation: UInt64)

    /// Returns once every commit so far is where a loss of power does not reach it, or as close to that as the place comes.
    func synchronize() throws(DefaultsError)

    /// How long after a commit the suite calls ``synchronize()`` in the background; zero to have it called before a write returns, and
    /// nil if it is of no use.
    var synchronizationDelay: Duration? { get }

    /// What the program was launched with for the key, as in `-volume 7`; nil, unless the place is one that puts
    /// launch arguments in front of stored values.
    func launchArgument(forKey key: String) -> PropertyList?

    /// Takes the closure to call with failures that the backend meets on its own, such as repaired damage.
    ///
    /// The first suite on a backend calls this before anything else but ``location``, under no lock, so a backend may create suites
    /// here. The call can repeat: after the last suite on the backend was released and a new one is created, or when several
    /// threads create the first one at the same time. Keep the last closure.
    func attach(report: @escaping @Sendable (DefaultsError) -> Void)

    /// Begins to call `news` within some milliseconds after something may have changed other than by ``commit(_:)``, until nil is given.
    ///
    /// The suite has it called while somebody observes, and looks once itself after this has returned.
    ///
    /// - Parameter news: Takes the keys that may have changed; nil if it may be any. It never waits for a writer.
    func watch(_ news: (@Sendable (_ keys: [String]?) -> Void)?)

    /// Whether ``watch(_:)`` tells of all changes that there is any news of, by key, at least of those that ``follow(_:_:)`` has named.
    /// Else, and without a ``generation``, a suite reads all that is observed again at each of its own writes.
    var followsKeys: Bool { get }

    /// Has changes of that key told, or no longer; as often as true was given, false ends it.
    ///
    /// Called for each key that is observed, or tracked by the Observation framework.
    func follow(_ key: String, _ isFollowed: Bool)

    /// Whether an administrator provides the value of the key, so that ``commit(_:)`` throws ``DefaultsError/Kind/managed`` for it.
    func isManaged(_ key: String) -> Bool

    /// Whether a key that is not stored may have a value all the same, as one that was registered with `UserDefaults`.
    ///
    /// Then ``value(forKey:)`` returns that value, and ``isStored(_:)`` tells the two apart.
    var hasFallbackValues: Bool { get }

    /// Whether a value is stored under the key, readable or not. Called only if ``hasFallbackValues`` is true.
    func isStored(_ key: String) throws(DefaultsError) -> Bool

    /// Where the values are stored, for people to read; nil where that is no place that one can name.
    var location: String? { get }
}

extension DefaultsBackend {
    public func beginWrite() {}
    public func endWrite() {}
    public var generation: UInt64? { nil }
    public func changes(since generation: UInt64) -> (keys: [String]?, generation: UInt64) { (nil, generation) }
    public func synchronize() {}
    public var synchronizationDelay: Duration? { nil }
    public func attach(report: @escaping @Sendable (DefaultsError) -> Void) {}
    public func watch(_ news: (@Sendable (_ keys: [String]?) -> Void)?) {}
    public var followsKeys: Bool { false }
    public func follow(_ key: String, _ isFollowed: Bool) {}
    public func launchArgument(forKey key: String) -> PropertyList? { nil }
    public func isManaged(_ key: String) -> Bool { false }
    public var hasFallbackValues: Bool { false }
    public func isStored(_ key: String) throws(DefaultsError) -> Bool { try value(forKey: key) != nil }
    public var location: String? { nil }
}

/// A backend on a settings file.
package protocol SettingsFileBackend: DefaultsBackend {
    /// Calls ``beginWrite()`` and returns the generation. Until ``endWrite()``, only this process changes it.
    func beginWriteReturningGeneration() throws(DefaultsError) -> UInt64?

    /// Copies what is stored under `key`, as it is, between ``beginWrite()`` and ``endWrite()``.
    ///
    /// - Returns: The key that holds the copy: `first` or, if something else is stored there, `second`.
    func copyRawValue(forKey key: String, to first: String, else second: String) throws(DefaultsError) -> String
}
