import SettingsFile

/// A store for one part of another store's value.
struct MappedStore<Whole: Sendable, Part: Equatable & Sendable>: OwnStore {
    let base: AnyStore<Whole>
    let part: any WritableKeyPath<Whole, Part> & Sendable
    let defaultWhole: Whole?

    func get() -> Part? { base.get()?[keyPath: part] }
    func load() throws -> Part? { try base.load()?[keyPath: part] }

    func set(_ value: Part) { reportingFailure { try save(value) } }
    func save(_ value: Part) throws {
        try change(recovering: true, from: nil) { part, intent in (part, intent) = (value, .assigning) }
    }
    func remove() { reportingFailure { try removeStored() } }
    func removeStored() throws {
        try change(recovering: false, from: nil) { part, intent in (part, intent) = (nil, .forgetting) }
    }

    func updateStored<Result>(_ body: (inout Part?) throws -> Result) throws -> Result {
        try change(recovering: false, from: nil) { part, _ in try body(&part) }
    }

    func update<Result>(
        default defaultValue: @autoclosure () -> Part, _ body: (inout Part) throws -> Result
    ) throws -> Result {
        try change(recovering: true, from: defaultValue()) { part, _ in
            guard part != nil else { throw missingWhole }
            return try body(&part!)
        }
    }

    func setting<Value>(of type: Value.Type) -> Setting<Value>? { nil }

    /// Changes the part in the whole value, or in the default in place of a missing or unreadable
    /// one.
    func change<Result>(
        recovering: Bool, from start: @autoclosure () -> Part?,
        _ body: (inout Part?, inout ChangeIntent) throws -> Result
    ) throws -> Result {
        var isStart = false
        func startWhole() -> Whole? {
            isStart = defaultWhole != nil
            return defaultWhole
        }
        return try base.changeInPlace(recovering: recovering && defaultWhole != nil, from: startWhole()) {
            whole, intent in
            // The body may run again.
            defer { isStart = false }
            let (old, isMissing) = (isStart ? start() : whole?[keyPath: part], isStart || whole == nil)
            var new = old
            let result = try body(&new, &intent)
            // Removing a part of a missing value does nothing.
            if isMissing, intent != .assigning, areSame(new, old) { return result }
            guard var changed = whole ?? defaultWhole, let value = new ?? defaultWhole?[keyPath: part] else {
                throw missingWhole
            }
            // The value that the default has is stored in place of another one.
            if isMissing, areSame(value, changed[keyPath: part]) { intent = .assigning }
            changed[keyPath: part] = value
            whole = changed
            return result
        }
    }

    func report(_ error: DefaultsError) { base.fail(with: error) }
    var storedKey: String? { base.key }

    private var missingWhole: DefaultsError {
        DefaultsError(
            .refused, type: "\(Whole.self)",
            reason: "cannot set a property of a value that is not stored; pass `default:` to `map`")
    }

    func observe(
        initial: Bool, _ handler: @escaping @Sendable (DefaultChange<Part>) -> Void
    ) -> ObservationToken {
        // The initial call is made even if the part is the same.
        let isInitial = Locked(initial)
        return base.observe(initial: initial) { change in
            let (old, new) = (change.oldValue?[keyPath: part], change.newValue?[keyPath: part])
            let isFirst = isInitial.withLock { isInitial in
                defer { isInitial = false }
                return isInitial
            }
            guard isFirst || !areSame(old, new) else { return }
            handler(
                DefaultChange(
                    oldValue: old, newValue: new, kind: isFirst ? .initial : new == nil ? .removed : .set,
                    origin: change.origin,
                    name: change.name))
        }
    }
}

extension DefaultStoreType {
    /// Returns a store for one part of the value.
    ///
    /// ```swift
    /// let size = AnyStore<CameraConfig>.persistent().map(\.size, default: CameraConfig())
    /// size.set(.large)                                        // keeps the rest of the config
    /// let token = size.observe { change in print(change) }    // only changes of the size
    /// ```
    ///
    /// Each write updates the whole value. The returned store reads `nil` if no value is stored.
    ///
    /// - Parameters:
    ///   - part: The key path of the part. It must go through value types only.
    ///   - defaultWhole: The value in which to set the part if no value is stored or the stored
    ///     value cannot be read. `remove()` resets the part to its value here. Without a
    ///     default, these writes fail.
    public func map<Part: Equatable & Sendable>(
        _ part: any WritableKeyPath<Default, Part> & Sendable, default defaultWhole: Default? = nil
    ) -> AnyStore<Part> {
        AnyStore(MappedStore(base: AnyStore(self), part: part, defaultWhole: defaultWhole))
    }
}
