import SettingsFile

/// What one commit has changed in a suite.
public struct SuiteChange: Hashable, Sendable {
    /// The keys that were set to another value or removed, sorted.
    public fileprivate(set) var keys: [String]
    public fileprivate(set) var origin: ChangeOrigin

    init(keys: [String], origin: ChangeOrigin) {
        self.keys = keys.sorted()
        self.origin = origin
    }

    /// Both as one, for somebody who comes late.
    func merged(with later: SuiteChange) -> SuiteChange {
        let all = Set((keys + later.keys).map(ByteString.init))
        let isForeign = origin == .another || later.origin == .another
        return SuiteChange(keys: all.map(\.string), origin: isForeign ? .another : .thisProcess)
    }
}

/// One handler that hears of a suite's changes until it is cancelled.
final class SuiteObserver: Sendable {
    /// How the keys begin that it hears of; nil for those that somebody has declared.
    let prefix: String?
    let handle: @Sendable (SuiteChange) -> Void

    struct State {
        /// The values that it was told of last, or that were there when it began.
        var announced: [ByteString: PropertyList] = [:]
        /// Whether it has not begun yet.
        var isPending = true
        var isCancelled = false
    }
    // Safe: touched only with the lock held that the suite's observers are behind.
    nonisolated(unsafe) var state = State()

    init(prefix: String?, _ handle: @escaping @Sendable (SuiteChange) -> Void) {
        self.prefix = prefix
        self.handle = handle
    }

    /// Whether it is to hear of the key.
    func isAbout(_ key: String, isDeclared: Bool) -> Bool {
        prefix.map { key.utf8.starts(with: $0.utf8) } ?? isDeclared
    }

    /// Takes over what is stored now.
    ///
    /// - Returns: The change; nil if there is none, or it is not to hear of it yet.
    func announce(_ values: [(key: String, value: PropertyList?)], origin: ChangeOrigin) -> SuiteChange? {
        var keys: [String] = []
        for (key, value) in values where state.announced[ByteString(key)] != value {
            state.announced[ByteString(key)] = value
            keys.append(key)
        }
        return keys.isEmpty || state.isPending ? nil : SuiteChange(keys: keys, origin: origin)
    }
}

extension DefaultsSuite {
    /// Calls the handler after each commit that changes one of the keys, once for all of them, until the token is cancelled or let go of.
    ///
    /// ```swift
    /// let token = suite.observe(prefix: "com.example.camera.") { change in print(change.keys) }
    /// ```
    ///
    /// What another process changes in several steps between two looks comes as one change. The rest is as with
    /// ``DefaultStoreType/observe(_:_:)``. Over `UserDefaults`, where others may write, it hears of what they write to the keys that are
    /// there, or are declared, when it begins.
    ///
    /// - Parameters:
    ///   - prefix: How the keys begin that it hears of, `""` for all; nil for those that this process has declared, in a store, a
    ///     ``UserDefault``, a ``StorableConfig`` or through a ``DefaultKey``. Reading or writing `suite[key]` with a key for a
    ///     ``PropertyList`` declares nothing.
    ///   - handler: Called under no lock.
    public func observe(
        prefix: String? = nil, _ handler: @escaping @Sendable (SuiteChange) -> Void
    ) -> ObservationToken {
        core.observe(SuiteObserver(prefix: prefix, handler))
    }

    /// The changes of the suite from now on. A slow consumer gets several as one, with all of their keys.
    ///
    /// ```swift
    /// for await change in suite.changes(prefix: "com.example.camera.") { upload(change.keys) }
    /// ```
    ///
    /// - Parameter prefix: As with ``observe(prefix:_:)``.
    public func changes(prefix: String? = nil) -> DefaultValues<SuiteChange> {
        DefaultValues({ element in observe(prefix: prefix, element) }, merge: { $0.merged(with: $1) })
    }
}
