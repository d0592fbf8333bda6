/// A store that adds something to another store, such as encryption or logging.
///
/// Implement only what differs; everything else is forwarded to ``base``. The type of the values is
/// called `Default`: a generic parameter of this name is enough. To change how values are stored,
/// implement ``value(from:)`` and ``stored(from:)``: reading, writing, updating and observing all
/// use them.
///
/// ```swift
/// struct EncryptedStore<Default: Codable & Sendable>: DefaultStoreDecorator {
///     let base: AnyStore<Data>
///     let cipher: Cipher
///     func value(from stored: Data) throws -> Default { try JSONDecoder().decode(Default.self, from: cipher.open(stored)) }
///     func stored(from value: Default) throws -> Data { try cipher.seal(JSONEncoder().encode(value)) }
/// }
///
/// let data = UserDefault("secrets", default: Data()).store
/// let store = EncryptedStore<Secrets>(base: data, cipher: cipher)
/// ```
///
/// ## Topics
///
/// ### Decorating a store
///
/// - ``base-swift.property``
/// - ``Base-swift.associatedtype``
/// - ``value(from:)``
/// - ``stored(from:)``
public protocol DefaultStoreDecorator<Default>: DefaultStoreType {
    /// The type of the store that is decorated.
    associatedtype Base: DefaultStoreType

    /// The store that is decorated.
    var base: Base { get }

    /// Returns the value for a stored one.
    ///
    /// - Throws: Any error. The stored value then counts as unreadable: ``DefaultStoreType/get()``
    ///   returns `nil`, and every update throws, because the base keeps a copy only of values that
    ///   it cannot read itself. ``DefaultStoreType/set(_:)`` and ``DefaultStoreType/save(_:)``
    ///   overwrite it.
    func value(from stored: Base.Default) throws -> Default

    /// Returns what to store for a value.
    ///
    /// - Throws: Any error. Nothing is stored then.
    func stored(from value: Default) throws -> Base.Default
}

extension DefaultStoreDecorator where Base.Default == Default {
    /// Returns the stored value unchanged.
    public func value(from stored: Default) throws -> Default { stored }
    /// Returns the value unchanged.
    public func stored(from value: Default) throws -> Default { value }
}

extension DefaultStoreDecorator {
    /// Returns the value; `nil` if it is missing or cannot be read.
    public func get() -> Default? {
        do { return try base.get().map(readable) } catch {
            base.fail(with: error)
            return nil
        }
    }

    /// Stores the value. If that fails, the failure handler of the base receives the error.
    public func set(_ value: Default) {
        reportingFailure { base.set(try stored(from: value)) }
    }

    /// Removes the value from the base.
    public func remove() { base.remove() }

    /// Removes the value from the base, or throws.
    public func removeStored() throws { try base.removeStored() }

    /// Loads from the base.
    public func load() throws -> Default? { try base.load().map(readable) }

    /// Saves to the base.
    public func save(_ value: Default) throws { try base.save(try stored(from: value)) }

    /// Updates the base.
    @discardableResult
    public func updateStored<Result>(_ body: (inout Default?) throws -> Result) throws -> Result {
        try base.updateStored { stored in try edit(&stored, body) }
    }

    private func edit<Result>(_ stored: inout Base.Default?, _ body: (inout Default?) throws -> Result) throws -> Result
    {
        var edit = StoreEdit(try stored.map(readable))
        let result = try body(&edit.value)
        if edit.isChange { stored = try edit.value.map(self.stored(from:)) }
        return result
    }

    /// Updates the base, and starts with the default in place of a missing value, or of one that
    /// the base cannot read. Throws if ``value(from:)`` does.
    @discardableResult
    public func update<Result>(
        default defaultValue: @autoclosure () -> Default, _ body: (inout Default) throws -> Result
    ) throws -> Result {
        var (result, hasRun) = (Result?.none, false)
        do {
            try base.updateStored { stored in
                hasRun = true
                result = try stored == nil ? nil : edit(&stored) { try body(&$0!) }
            }
        } catch let error as DefaultsError where error.kind == .unreadable && !hasRun {}
        if let result { return result }
        // The base begins with the default in place of what is missing, or what it cannot read.
        let start = try stored(from: defaultValue())
        return try base.update(default: start) { stored in
            var new = Optional(stored)
            defer { if let new { stored = new } }
            return try edit(&new) { try body(&$0!) }
        }
    }

    /// Observes the base. A change to an equal value is not reported if the type is `Equatable`.
    /// If a new value cannot be read, the failure handler of the base receives the error, once for
    /// each observer, because each converts the value for itself. The change has no new value.
    public func observe(
        initial: Bool, _ handler: @escaping @Sendable (DefaultChange<Default>) -> Void
    ) -> ObservationToken {
        base.observe(initial: initial) { change in
            var new: Default?
            do { new = try change.newValue.map(readable) } catch { base.fail(with: error) }
            let old = change.oldValue.flatMap { try? readable($0) }
            // Equal values may be stored differently, such as encrypted with a new nonce.
            if change.kind != .initial, let old, let new, areKnownSame(old, new) { return }
            handler(
                DefaultChange(
                    oldValue: old, newValue: new, kind: change.kind, origin: change.origin, name: change.name))
        }
    }

    private func readable(_ stored: Base.Default) throws -> Default {
        do { return try value(from: stored) } catch { throw unreadable(error) }
    }

    private func unreadable(_ error: any Error) -> DefaultsError {
        var error =
            error as? DefaultsError
            ?? DefaultsError(.unreadable, type: "\(Default.self)", reason: "the store threw \(type(of: error))")
        if let key = base.key { error = error.about(key: key) }
        return error
    }
}
