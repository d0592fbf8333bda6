import SettingsFile

/// A store for one part of another store's value.
struct MappedStore<Whole: Sendable, Part: Equatable & Sendable>: DefaultStoreType {
    let base: AnyStore<Whole>
    let part: any WritableKeyPath<Whole, Part> & Sendable
    let defaultWhole: Whole?

    func get() -> Part? { base.get()?[keyPath: part] }
    func load() throws -> Part? { try base.load()?[keyPath: part] }

    func set(_ value: Part) { reportingFailure { try save(value) } }
    func save(_ value: Part) throws {
        try WriteIntent.assigning.with(Whole.self) { try updateWhole { whole, _ in whole[keyPath: part] = value } }
    }
    func remove() { reportingFailure { try removeStored() } }
    func removeStored() throws { try WriteIntent.forgetting.with(Whole.self) { try updateStored { $0 = nil } } }

    func updateStored<Result>(_ body: (inout Part?) throws -> Result) throws -> Result {
        try passingOnIntent {
            try base.updateStored { stored in
                var value = stored?[keyPath: part]
                let result = try body(&value)
                // Removing a part of a missing value does nothing.
                if value == nil, stored == nil { return result }
                guard var whole = stored ?? defaultWhole, let value = value ?? defaultWhole?[keyPath: part] else {
                    throw missingWhole
                }
                whole[keyPath: part] = value
                stored = whole
                return result
            }
        }
    }

    func update<Result>(
        default defaultValue: @autoclosure () -> Part, _ body: (inout Part) throws -> Result
    ) throws -> Result {
        try passingOnIntent {
            // Whether the new value is the one that the default in place of the whole has.
            var isDefault = false
            let result = try updateWhole { whole, isMissing in
                isDefault = false
                guard isMissing else { return try body(&whole[keyPath: part]) }
                let start = defaultValue()
                var value = start
                let result = try body(&value)
                guard !areSame(value, start) else { return result }
                isDefault = areSame(value, whole[keyPath: part])
                whole[keyPath: part] = value
                return result
            }
            if isDefault { try WriteIntent.assigning.with(Whole.self) { try updateWhole { _, _ in } } }
            return result
        }
    }

    /// Updates the whole value, or the default in place of a missing or unreadable one. Without a
    /// default, these are errors.
    private func updateWhole<Result>(_ body: (inout Whole, _ isMissing: Bool) throws -> Result) throws -> Result {
        guard let defaultWhole else {
            return try base.updateStored { stored in
                guard var whole = stored else { throw missingWhole }
                defer { stored = whole }
                return try body(&whole, false)
            }
        }
        var isMissing = false
        func start() -> Whole {
            isMissing = true
            return defaultWhole
        }
        return try base.update(default: start()) { whole in
            defer { isMissing = false }
            return try body(&whole, isMissing)
        }
    }

    /// An intent for the part is one for the whole value.
    private func passingOnIntent<Result>(_ write: () throws -> Result) rethrows -> Result {
        try WriteIntent.current(for: Part.self)?.with(Whole.self, write) ?? write()
    }

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
