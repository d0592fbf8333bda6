import SettingsFile

/// A type-erased store.
///
/// Use it in a view model, so that the app can pass a store on disk and a test can pass one in
/// memory:
///
/// ```swift
/// @MainActor final class CameraModel {
///     let config: AnyStore<CameraConfig>
///     init(config: AnyStore<CameraConfig> = .persistent()) { self.config = config }
/// }
///
/// let model = CameraModel(config: .inMemory(CameraConfig()))
/// ```
///
/// Copies share the underlying store. It is not `Equatable`, because equality could mean the same
/// store or the same value.
///
/// ## Topics
///
/// ### Creating a store
///
/// - ``persistent(in:)``
/// - ``inMemory(_:)-5hmcq``
/// - ``inMemory(_:)-9vtzl``
/// - ``init(_:)``
///
/// ### The value, or the default
///
/// - ``value``
/// - ``update(_:)``
///
/// ### The stored value
///
/// - ``get()``
/// - ``set(_:)``
/// - ``remove()``
/// - ``load()``
/// - ``save(_:)``
/// - ``updateStored(_:)``
/// - ``update(default:_:)``
///
/// ### Observing
///
/// - ``observe(initial:_:)``
/// - ``observe(_:)``
/// - ``observe(_:initial:_:)``
/// - ``observeOnMainActor(initial:_:)``
/// - ``values``
/// - ``changes``
///
/// ### Storing a property
///
/// - ``map(_:)``
/// - ``map(_:default:)``
public struct AnyStore<Default: Sendable>: RecoveringStore {
    let base: any DefaultStoreType<Default>
    /// `nil` if the base notifies observers itself.
    private let relay: Relay<Default>?

    /// Erases the type of a store. Wrapping an `AnyStore` adds no layer.
    public init(_ store: some DefaultStoreType<Default>) {
        let box = store as? AnyStore<Default>
        base = box?.base ?? store
        relay = box != nil ? box?.relay : store is any FailureReporting ? nil : Relay()
    }

    /// Returns the stored value; `nil` if it is missing, unreadable or unavailable.
    public func get() -> Default? { base.get() }
    /// Stores a value. If that fails, the failure handler of the store's suite receives the error.
    public func set(_ value: Default) { reportingFailure { try notifying { base.set(value) } } }
    /// Removes the stored value.
    public func remove() { reportingFailure { try notifying { base.remove() } } }
    /// Returns the stored value; `nil` if it is missing.
    public func load() throws -> Default? { try base.load() }
    /// Stores a value, or throws and leaves the old one.
    public func save(_ value: Default) throws { try notifying { try base.save(value) } }

    /// Reads, changes and writes the stored value in one step, while other writers wait.
    @discardableResult
    public func updateStored<Result>(_ body: (inout Default?) throws -> Result) throws -> Result {
        try notifying { try base.updateStored(body) }
    }

    func updating<Result>(_ kind: SettingUpdate, _ body: (inout Default?) throws -> Result) throws -> Result {
        try notifying { try base.updating(kind, body) }
    }

    /// Calls the handler after each change of the value.
    ///
    /// If the store is your own and does not implement `observe`, this method reports the changes
    /// that are made through this `AnyStore` and its copies, in order, once each.
    public func observe(
        initial: Bool, _ handler: @escaping @Sendable (DefaultChange<Default>) -> Void
    ) -> ObservationToken {
        guard let relay else { return base.observe(initial: initial, handler) }
        if relay.isNeeded.withLock({ $0 }) == nil {
            // Observe without the initial call here, because it would be made twice.
            let token = base.observe(initial: false, initial ? { @Sendable _ in } : handler)
            relay.isNeeded.withLock { $0 = token.isInert }
            if !initial, !token.isInert { return token }
        }
        guard relay.isNeeded.withLock({ $0 }) == true else { return base.observe(initial: initial, handler) }
        return relay.add(Observer(handler), to: base, initial: initial)
    }

    private func notifying<Result>(_ body: () throws -> Result) throws -> Result {
        // A store that notifies observers itself must not do so while the relay's lock is held.
        guard let relay, relay.isNeeded.withLock({ $0 }) != false else { return try body() }
        try NotificationDepth.check()
        return try relay.notifying(base, body)
    }

    func report(_ error: DefaultsError) { base.fail(with: error) }
    var storedKey: String? { base.key }
}

extension AnyStore where Default: DefaultConvertible {
    /// Returns a ``PersistentStore`` in a suite.
    public static func persistent(in suite: DefaultsSuite = .standard) -> AnyStore {
        AnyStore(PersistentStore(in: suite))
    }

    /// Returns an ``InMemoryStore`` with an initial value; `nil` for an empty store.
    public static func inMemory(_ initial: Default? = nil) -> AnyStore {
        AnyStore(InMemoryStore(initial))
    }
}

extension AnyStore where Default: Codable {
    /// Returns an ``InMemoryStore`` with an initial value; `nil` for an empty store.
    @_disfavoredOverload
    public static func inMemory(_ initial: Default? = nil) -> AnyStore {
        AnyStore(InMemoryStore(initial))
    }
}
