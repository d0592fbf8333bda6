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
/// 3. Every reader sees all edits of one commit or none of them, even after a crash.
/// 4. A commit that throws has changed nothing, unless the error is of kind
///    ``DefaultsError/Kind/unknownOutcome``.
/// 5. A value that cannot be read is an error of kind ``DefaultsError/Kind/unavailable``, never
///    `nil`, and is never overwritten.
/// 6. If other writers need not wait during ``write(_:)``, the backend says so in
///    ``BackendTraits/readsMayLag``, has a ``generation``, and ``commit(_:over:)`` stores nothing
///    once another writer has committed after the generation that it names. Its reads show the
///    commits of other machines whole and in their order, never go back, and end with the newest
///    values. They show a commit of its own when ``commit(_:over:)`` returns, and ``generation``
///    changes as soon as they do.
///
/// The library's own backend for `UserDefaults` keeps rules 3 and 6 only within one process:
/// `UserDefaults` offers no more.
///
/// Any thread may call a backend at any time. ``commit(_:over:)`` is called only in the body of
/// ``write(_:)``, and after a commit that has stored edits not again.
///
/// The laws of the product `TypedDefaultsTesting` check a backend.
///
/// You must implement only ``value(forKey:)``, ``keys()`` and ``commit(_:over:)``. Without
/// ``generation``, each read of a setting reads the backend. To change what another backend does,
/// see ``BackendDecorator``.
///
/// ## Topics
///
/// ### What each backend needs
///
/// - ``value(forKey:)``
/// - ``commit(_:over:)``
/// - ``BackendEdits``
/// - ``CommitOutcome``
/// - ``keys()``
///
/// ### Several writers
///
/// - ``write(_:)``
/// - ``generation``
/// - ``changes(since:)``
/// - ``watch(_:_:)``
/// - ``WatchedSubject``
/// - ``BackendEvent``
///
/// ### What a backend can do
///
/// - ``traits``
/// - ``layer(of:)``
/// - ``BackendLayer``
/// - ``synchronize()``
// Everything that a backend needs is here. The additional methods of the library's own backends
// only make memory and the settings file faster. `ByteString`, which compares keys by their bytes,
// stays internal, because a dictionary whose keys are `Array(key.utf8)` does the same.
public protocol DefaultsBackend: AnyObject, Sendable {
    /// Returns the stored value, or `nil` if the key has none.
    ///
    /// This need not reflect changes by other code before ``changes(since:)`` or ``write(_:)`` has
    /// found them.
    func value(forKey key: String) throws(DefaultsError) -> PropertyList?

    /// Returns all stored keys, in any order.
    func keys() throws(DefaultsError) -> [String]

    /// Applies the edits as one commit.
    ///
    /// - Parameters:
    ///   - edits: The keys with their new values.
    ///   - generation: The ``generation`` from which the write began; `nil` if there is none. Only
    ///     backends with ``BackendTraits/readsMayLag`` need it: if another writer has committed
    ///     since, none of the edits is stored. Otherwise the edits may be none, or what is stored
    ///     already, and returning confirms that.
    /// - Throws: ``DefaultsError/Kind/refused`` for a value that the storage cannot hold exactly,
    ///   ``DefaultsError/Kind/managed`` for one that an administrator provides, or
    ///   ``DefaultsError/Kind/unknownOutcome`` if it is unknown whether the edits were stored.
    func commit(_ edits: BackendEdits, over generation: UInt64?) throws(DefaultsError) -> CommitOutcome

    /// Runs `body`, once and on the calling thread, while no other process writes to the same
    /// storage. First waits for those that do, and makes their changes visible.
    ///
    /// The suite lets one thread of its process write at a time.
    ///
    /// - Throws: What `body` throws, or ``DefaultsError/Kind/timedOut`` if other processes do not
    ///   finish.
    func write(_ body: () throws(DefaultsError) -> Void) throws(DefaultsError)

    /// A number that changes as soon as a value may have changed, and when reads start or stop
    /// throwing; `nil` if the backend cannot know that. While it stays the same, so do the values
    /// that are read.
    ///
    /// A ``commit(_:over:)`` that stores edits adds 1, and what other code changes counts
    /// separately. Each read of a setting calls this, so it must be cheap. If you implement it,
    /// implement ``changes(since:)`` as well.
    var generation: UInt64? { get }

    /// Returns the keys that may have changed after a generation, or `nil` for all keys, and the
    /// current generation.
    ///
    /// - Parameter generation: An earlier ``generation``; 0 for any time.
    func changes(since generation: UInt64) throws(DefaultsError) -> (keys: [String]?, generation: UInt64)

    /// Starts or stops passing events that the backend finds on its own to the suite.
    ///
    /// The suite watches the failures from the beginning: the first suite on a backend calls this
    /// before anything else but ``traits``, under no lock, so a backend may create suites here. It
    /// watches all changes from when the first observer is added until the last one is removed, and
    /// beside them each key that is observed, or tracked by the Observation framework. A backend
    /// that can only watch everything ignores the keys, and one that can watch keys ignores
    /// `changes`. After this returns, the suite itself reads the changes so far.
    ///
    /// While no changes are watched, a backend need not report one, and the suite ignores it: it
    /// finds changes by ``generation`` alone, or, without one, by reading.
    ///
    /// - Parameters:
    ///   - subject: What to watch.
    ///   - handler: Receives the events; called under no lock of the backend. A suite passes the
    ///     same one for all subjects, or `nil` to stop. Watches of one key nest: each one that
    ///     starts is stopped.
    /// - Returns: Whether each change of a watched key by other code is reported with its key. The
    ///   suite uses the result for `changes` only: if this is false and there is no ``generation``,
    ///   each write of the suite reads all observed values again.
    @discardableResult
    func watch(_ subject: WatchedSubject, _ handler: (@Sendable (BackendEvent) -> Void)?) -> Bool

    /// Returns once all commits so far survive a power failure, as far as the storage can guarantee
    /// that.
    func synchronize() throws(DefaultsError)

    /// Returns where the value comes from that ``value(forKey:)`` returns for a key.
    func layer(of key: String) throws(DefaultsError) -> BackendLayer

    /// The fixed properties of this backend.
    var traits: BackendTraits { get }
}

extension DefaultsBackend {
    /// Runs the body.
    public func write(_ body: () throws(DefaultsError) -> Void) throws(DefaultsError) { try body() }
    /// Returns `nil`.
    public var generation: UInt64? { nil }
    /// Returns that any key may have changed.
    public func changes(since generation: UInt64) -> (keys: [String]?, generation: UInt64) { (nil, generation) }
    /// Does nothing.
    public func watch(_ subject: WatchedSubject, _ handler: (@Sendable (BackendEvent) -> Void)?) -> Bool { false }
    /// Does nothing.
    public func synchronize() {}
    /// Returns that each value is stored.
    public func layer(of key: String) -> BackendLayer { .stored }
    /// Returns the traits of a backend in this process, without a name.
    public var traits: BackendTraits { BackendTraits() }
}

/// The fixed properties of a backend.
///
/// ## Topics
///
/// ### Traits
///
/// - ``location``
/// - ``keyLimit``
/// - ``readsMayLag``
/// - ``writeTimeout``
/// - ``synchronizationDelay``
public struct BackendTraits: Sendable {
    /// Where the values are stored, for messages; `nil` for storage without a name.
    public var location: String?
    /// How many bytes a key may have.
    public var keyLimit: Int
    /// Whether a read may return a value that another machine has already replaced, even during
    /// ``DefaultsBackend/write(_:)``.
    ///
    /// Then the body of an update **may run again**: writers of other machines do not wait, so if
    /// one of them has committed since the body began, nothing is stored, and the body runs again
    /// on the newer values, until ``writeTimeout``. Only the result of the last run is stored, but
    /// other effects of the body happen in each run. On all other backends the body runs once. A
    /// write that changes nothing asks the backend whether that is still so.
    public var readsMayLag: Bool
    /// How long a writer waits for the other writers of its process, and how long it keeps retrying
    /// because others were faster, before it throws ``DefaultsError/Kind/timedOut``.
    public var writeTimeout: Duration
    /// How long after a commit the suite calls ``DefaultsBackend/synchronize()`` in the background.
    /// Zero means before a write returns, and `nil` means never.
    public var synchronizationDelay: Duration?

    /// Creates the traits of a backend. The default arguments suit a backend in this process.
    public init(
        location: String? = nil, keyLimit: Int = 4_096, readsMayLag: Bool = false,
        writeTimeout: Duration = .seconds(2), synchronizationDelay: Duration? = nil
    ) {
        (self.location, self.keyLimit, self.readsMayLag) = (location, keyLimit, readsMayLag)
        (self.writeTimeout, self.synchronizationDelay) = (writeTimeout, synchronizationDelay)
    }
}

/// Keys with their new values. A `nil` value removes the key, and no key occurs twice.
public typealias BackendEdits = [(key: String, value: PropertyList?)]

/// The outcome of a commit that did not fail.
public enum CommitOutcome: Sendable, Equatable {
    /// All edits are stored. Contains the ``DefaultsBackend/generation`` that the commit began;
    /// `nil` if the backend has none, or shows the commit together with other changes.
    case committed(generation: UInt64? = nil)
    /// Another writer has committed since the generation that the commit names, and nothing is
    /// stored.
    ///
    /// The suite begins the write again, so return this once a read returns the newer value.
    case changedMeanwhile
}

/// Where a value of a backend comes from.
public enum BackendLayer: Sendable {
    /// An administrator provides it. A commit of the key throws ``DefaultsError/Kind/managed``.
    case managed
    /// It is stored.
    case stored
    /// Nothing is stored, and other code provides a value, such as one that was registered with
    /// `UserDefaults`.
    case registered
}

/// What a suite watches in its backend.
public enum WatchedSubject: Sendable, Hashable {
    /// ``BackendEvent/failed(_:)`` and ``BackendEvent/stale(since:)``.
    case failures
    /// ``BackendEvent/changed(keys:)`` of any key.
    case changes
    /// ``BackendEvent/changed(keys:)`` of one key.
    case key(String)
}

/// An event that a backend finds on its own.
public enum BackendEvent: Sendable {
    /// Values may have changed other than by ``DefaultsBackend/commit(_:over:)``. Contains their
    /// keys, or `nil` for all keys. Also ends ``stale(since:)``, with no keys if none has changed.
    case changed(keys: [String]?)
    /// Something failed that no caller waits for. The suite's failure handler receives the error.
    case failed(DefaultsError)
    /// The storage does not respond, so values may be outdated since that time. The suite's failure
    /// handler receives ``DefaultsError/Kind/unavailable`` once, and not again until
    /// ``changed(keys:)`` says that the storage responds again.
    ///
    /// To make the values count as unavailable instead, let ``DefaultsBackend/value(forKey:)``
    /// throw until then.
    case stale(since: ContinuousClock.Instant)
}
