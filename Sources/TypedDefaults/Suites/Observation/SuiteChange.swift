import SettingsFile

/// The keys of a suite that one commit changed.
public struct SuiteChange: Hashable, Sendable {
    /// The keys that were set to another value or removed, sorted.
    public fileprivate(set) var keys: [String]
    /// Where the change was made.
    public fileprivate(set) var origin: ChangeOrigin

    init(keys: [String], origin: ChangeOrigin) {
        self.keys = keys.sorted()
        self.origin = origin
    }

    /// Returns both changes combined, for a slow consumer.
    func merged(with later: SuiteChange) -> SuiteChange {
        let all = Set((keys + later.keys).map(ByteString.init))
        let isForeign = origin == .external || later.origin == .external
        return SuiteChange(keys: all.map(\.string), origin: isForeign ? .external : .local)
    }
}

/// A handler that receives a suite's changes until it is cancelled.
final class SuiteObserver: Sendable {
    /// The prefix of the keys to observe.
    let prefix: String
    /// Whether only declared keys are observed.
    let isForDeclaredKeys: Bool
    let handle: @Sendable (SuiteChange) -> Void

    struct State {
        /// The values that the observer knows.
        var known: [ByteString: PropertyList] = [:]
        /// Whether the observation has not begun.
        var isPending = true
        var isCancelled = false
    }
    // Safe: accessed only while the lock of the suite's observers is held.
    nonisolated(unsafe) var state = State()

    init(prefix: String, isForDeclaredKeys: Bool, _ handle: @escaping @Sendable (SuiteChange) -> Void) {
        self.prefix = prefix
        self.isForDeclaredKeys = isForDeclaredKeys
        self.handle = handle
    }

    /// Returns whether the key is observed.
    func isAbout(_ key: String, isDeclared: Bool) -> Bool {
        (isDeclared || !isForDeclaredKeys) && key.utf8.starts(with: prefix.utf8)
    }

    /// Records the current values.
    ///
    /// - Returns: The change; `nil` if there is none, or if the observation has not begun.
    func enqueue(_ values: [(key: String, value: PropertyList?)], origin: ChangeOrigin) -> SuiteChange? {
        var keys: [String] = []
        for (key, value) in values where state.known[ByteString(key)] != value {
            state.known[ByteString(key)] = value
            keys.append(key)
        }
        return keys.isEmpty || state.isPending ? nil : SuiteChange(keys: keys, origin: origin)
    }
}

extension DefaultsSuite {
    /// Calls the handler once after each commit that changes declared keys, until the token is
    /// cancelled or deallocated.
    ///
    /// A key is declared if this process made a store, a ``UserDefault``, a ``StorableConfig`` or a
    /// ``DefaultKey`` for it. Reading or writing `suite[key]` with a key for a ``PropertyList``
    /// declares nothing.
    ///
    /// Several changes that another process makes in quick succession are reported as one. See also
    /// ``DefaultStoreType/observe(initial:_:)``.
    public func observe(_ handler: @escaping @Sendable (SuiteChange) -> Void) -> ObservationToken {
        current.observe(prefix: "", isForDeclaredKeys: true, handler)
    }

    /// Calls the handler once after each commit that changes keys with a prefix, whether they are
    /// declared or not.
    ///
    /// ```swift
    /// let token = suite.observeAll(prefix: "com.example.camera.") { change in print(change.keys) }
    /// ```
    ///
    /// Over `UserDefaults`, to which other code may write, this reports keys that are stored or
    /// declared when the observation begins.
    ///
    /// - Parameters:
    ///   - prefix: The bytes that a key begins with; `""` for all keys.
    ///   - handler: Receives each change.
    public func observeAll(
        prefix: String = "", _ handler: @escaping @Sendable (SuiteChange) -> Void
    ) -> ObservationToken { current.observe(prefix: prefix, isForDeclaredKeys: false, handler) }

    private func observe(
        prefix: String, isForDeclaredKeys: Bool, _ handler: @escaping @Sendable (SuiteChange) -> Void
    ) -> ObservationToken {
        let handle: @Sendable (SuiteChange) -> Void = { change in
            handler(SuiteChange(keys: change.keys.map(withoutPrefix), origin: change.origin))
        }
        return core.observe(
            SuiteObserver(prefix: withPrefix(prefix), isForDeclaredKeys: isForDeclaredKeys, handle))
    }

    /// The changes of declared keys. A slow consumer receives several changes as one, with all of
    /// their keys.
    public var changes: DefaultUpdates<SuiteChange> {
        DefaultUpdates({ element in observe(element) }, merge: { $0.merged(with: $1) })
    }

    /// The changes of all keys with a prefix. A slow consumer receives several changes as one, with
    /// all of their keys.
    ///
    /// ```swift
    /// for await change in suite.allChanges(prefix: "com.example.camera.") { upload(change.keys) }
    /// ```
    public func allChanges(prefix: String = "") -> DefaultUpdates<SuiteChange> {
        DefaultUpdates({ element in observeAll(prefix: prefix, element) }, merge: { $0.merged(with: $1) })
    }
}
