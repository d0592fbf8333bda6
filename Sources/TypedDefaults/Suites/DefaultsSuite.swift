import SettingsFile

/// A set of settings in one place: a file, a domain of `UserDefaults`, or memory.
///
/// ```swift
/// let suite = try DefaultsSuite(name: "com.example.shared")
/// let store = PersistentStore<CameraConfig>(in: suite)
/// ```
///
/// A suite is a handle. Copies, and suites with the same name or backend, share everything.
///
/// Suites and stores of this library throw a ``DefaultsError``.
///
/// Defaults are not registered. They are part of the declaration of a setting, such as a
/// ``DefaultKey`` or the initial values of a config struct.
///
/// ## Topics
///
/// ### Creating a suite
///
/// - ``standard``
/// - ``standardName``
/// - ``init(name:)``
/// - ``init(file:durability:)``
/// - ``inMemory(_:)``
/// - ``scoped(_:)``
/// - ``init(backend:layers:)``
///
/// ### Reading and writing a setting
///
/// - ``subscript(_:)-(DefaultKey<Value>)``
/// - ``subscript(_:)-(Config.Type)``
/// - ``update(_:_:)``
/// - ``read(_:)``
/// - ``contains(_:)``
/// - ``remove(_:_:)``
/// - ``removeStored(_:_:)``
///
/// ### Several settings
///
/// - ``update(_:)``
/// - ``read(_:_:)``
/// - ``contents()``
/// - ``replaceContents(with:)``
/// - ``replaceContents(with:migrating:)``
/// - ``merge(_:)``
/// - ``merge(_:migrating:)``
/// - ``keys()``
/// - ``remove(_:)``
/// - ``removeAll(includingHistory:)``
///
/// ### Observing
///
/// - ``observe(_:initial:_:)``
/// - ``values(_:)->DefaultUpdates<Value>``
/// - ``values(_:)->DefaultUpdates<(Value)>``
/// - ``observeAll(prefix:_:)``
/// - ``allChanges(prefix:)``
///
/// ### Moving and migrating
///
/// - ``move(_:to:)``
/// - ``copy(_:to:)``
/// - ``Selection``
/// - ``MoveReport``
/// - ``migrate(_:)``
/// - ``appliedMigrations()``
///
/// ### Failures and durability
///
/// - ``onFailure``
/// - ``checkReadability()``
/// - ``checkReadability(_:_:)-(DefaultKey<First>,_)``
/// - ``checkReadability(_:_:)-(First.Type,_)``
/// - ``faults(_:)``
/// - ``synchronize()``
/// - ``Durability``
/// - ``location``
/// - ``isReadOnly``
///
/// ### Layers and stand-ins
///
/// - ``layers``
/// - ``Layer``
/// - ``withStandard(_:operation:)``
/// - ``withStandard(_:isolation:operation:)``
// Not `throws(DefaultsError)` here and in the stores: two such calls in one `do` block with a
// `catch where` can crash the Swift 6.3 compiler, and the same code would compile for one store and
// warn for another.
public struct DefaultsSuite: Sendable {
    /// The core of this suite, even while another suite stands in for it.
    let core: SuiteCore
    /// The prefix of a scope; `nil` for a whole suite.
    let scope: Scope?

    /// Creates a suite on a backend. Suites on the same backend share everything.
    ///
    /// - Parameters:
    ///   - backend: The backend.
    ///   - layers: The first ``layers``, unless there is a suite on the backend already.
    public init(backend: some DefaultsBackend, layers: [Layer] = [.stored]) {
        self.init(core: SuiteCore.shared(id: CoreID(backend), layers: Layers(layers)) { backend })
    }

    init(core: SuiteCore, scope: Scope? = nil) { (self.core, self.scope) = (core, scope) }

    /// Returns a new suite in memory with the given values. It shares nothing with other suites.
    public static func inMemory(_ contents: [String: PropertyList] = [:]) -> DefaultsSuite {
        DefaultsSuite(core: SuiteCore(MemoryBackend(contents)))
    }

    /// Receives failures that cannot be thrown to the caller, such as those in
    /// ``DefaultStoreType/get()`` and ``DefaultStoreType/set(_:)``.
    ///
    /// The default handler logs the first failure of each kind: to standard error, or on Apple
    /// platforms to the system's log, where everything but the kind is private. Assigning a handler
    /// replaces it for all handles on the suite. The handler runs on the thread where the failure
    /// occurred, under no lock, and after the end of an update. It may write to the suite.
    public var onFailure: @Sendable (DefaultsError) -> Void {
        get { currentCore.onFailure }
        nonmutating set { currentCore.onFailure = newValue }
    }

    /// Whether a handler has not yet returned from a change, for tests.
    package var hasWaitingChanges: Bool {
        currentCore.state.withLock { !$0.observers.queue.isIdle || $0.observers.initialCalls > 0 }
    }

    /// Passes an error to the failure handler, once no lock is held. For what you build on a suite,
    /// such as a store of your own.
    public func report(_ error: DefaultsError) { currentCore.report(error) }

    /// Where the suite is stored, for messages; `nil` for storage without a name, such as memory.
    public var location: String? { currentCore.traits.location }

    /// Whether no value can be stored, because the suite is a settings file in a place that this
    /// process may not write, or because there is no place, such as without `HOME`.
    ///
    /// It can change at any time, so a write still needs its own error. See
    /// <doc:ChangingYourSettings> for old settings in such a place.
    public var isReadOnly: Bool { currentCore.settingsFile?.file.isReadOnly ?? false }

    /// Returns once all changes so far survive a power failure, as far as the backend can guarantee
    /// that.
    ///
    /// - Throws: A ``DefaultsError`` of kind ``DefaultsError/Kind/unavailable`` if the changes
    ///   could not be saved.
    public func synchronize() throws { try currentCore.synchronize() }
}

extension DefaultsSuite {
    static let nameBytes = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-".utf8)

    /// Throws unless the name is valid on every platform and cannot lead to another folder.
    static func check(name: String) throws(DefaultsError) {
        guard (1...200).contains(name.utf8.count), name.utf8.allSatisfy(nameBytes.contains), !name.hasPrefix(".") else {
            throw DefaultsError(
                .invalidName,
                reason:
                    "a suite's name is 1 to 200 ASCII letters, digits, “.”, “_” and “-”, and does not begin with “.”")
        }
    }

    /// Returns the stored keys, sorted.
    public func keys() throws -> [String] {
        let suite = current
        let names = try suite.consistently { () throws(DefaultsError) in try suite.settingsInScope() }
        return names.map(suite.withoutPrefix).sortedByBytes()
    }

    /// Removes the values of keys, in one commit.
    ///
    /// If removing fails, nothing is removed, and ``onFailure`` receives the error.
    public func remove(_ keys: some Sequence<String>) {
        do throws(DefaultsError) { try removeStored(named: keys) } catch { report(error) }
    }

    func removeStored(named keys: some Sequence<String>) throws(DefaultsError) {
        let suite = current
        let names = Set(keys.map { ByteString(suite.withPrefix($0)) }).filter { !Histories.isHistory($0.string) }
        try suite.core.removing { core throws(DefaultsError) in
            var stored: [String] = []
            for name in names.map(\.string) where try core.isStored(name) { stored.append(name) }
            return stored
        }
    }

    /// Removes all values in this suite, in one commit.
    ///
    /// The suite stays in the form of the present version: steps of migrations that it has been
    /// through stay recorded, so they do not run on values that are stored later.
    ///
    /// In `UserDefaults`, this removes only values in the suite's own domain, and no managed
    /// values.
    ///
    /// - Parameter includingHistory: Whether to forget these steps as well, and the names of all
    ///   scopes, such as those of users.
    /// - Throws: A ``DefaultsError``, as ``DefaultStoreType/removeStored()`` does.
    public func removeAll(includingHistory: Bool = false) throws {
        let suite = current
        try suite.core.removing { core throws(DefaultsError) in
            // Histories come last, for backends that store key by key and may be interrupted.
            let histories = includingHistory ? try suite.keysInScope().filter(Histories.isHistory) : []
            return try (suite.settingsInScope() + histories).filter { !core.isManaged($0) }
        }
    }
}

extension SuiteCore {
    fileprivate func removing(_ keys: (SuiteCore) throws(DefaultsError) -> [String]) throws(DefaultsError) {
        try write { () throws(DefaultsError) in
            let edits = try keys(self).map { Edit($0, .remove) }
            if edits.isEmpty { try commitNothing() } else { try commit(edits) }
        }
    }
}

extension DefaultsSuite: DiscreetlyDescribed {
    /// The location and the prefix of a scope, without values.
    var summary: String {
        "DefaultsSuite(\(location ?? "in memory")\(scope.map { ", “\($0.prefix)”" } ?? ""))"
    }
}
