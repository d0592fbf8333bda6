/// A setting that is bound to its key, its default value and its suite: a property wrapper, its `$`, and a static setting in one type.
///
/// ```swift
/// struct CameraSettings {
///     @UserDefault("launchCount") var launchCount = 9
///     @UserDefault("nickname") var nickname: String?
/// }
///
/// enum Settings {
///     static let quality = UserDefault("quality", default: 0.8)
/// }
/// Settings.quality.value = 0.5
/// ```
///
/// Reading reads the store and assigning stores: all wrappers with one key in one suite show one value, wherever they are.
/// What fails reaches the suite's ``DefaultsSuite/onFailure``; then reading gives the default, and assigning leaves the old value.
///
/// The value may be anything that a ``DefaultKey`` takes. The name is one letter from Foundation's `UserDefaults`, which on Linux is not
/// even behind it.
@propertyWrapper
public struct UserDefault<Value: Sendable>: Sendable {
    /// The name and the default value.
    public let key: DefaultKey<Value>
    private let setting: Setting<Value>

    /// Binds a key to a suite.
    public init(_ key: DefaultKey<Value>, in suite: DefaultsSuite = .standard) {
        self.key = key
        setting = Setting(suite, key)
    }

    /// The stored value; the default where nothing is stored, or nothing that can be read. Assigning nil to an optional resets it.
    public var value: Value {
        get { setting.get(or: key.defaultValue) }
        nonmutating set { setting.set(newValue) }
    }

    public var wrappedValue: Value {
        get { value }
        nonmutating set { value = newValue }
    }

    public var projectedValue: UserDefault { self }

    var name: SettingName { setting.name }
}

extension UserDefault {
    /// Whether anything is stored, readable or not; false where that cannot be known, which the failure handler hears.
    ///
    /// False for a value that `UserDefaults` takes from elsewhere: one that was registered, or one of the global domain.
    public var isSet: Bool { setting.isSet }

    /// Whether an administrator provides the value, by a configuration profile or by device management, so that it cannot be changed.
    ///
    /// ```swift
    /// Toggle("Grid", isOn: $showsGrid.binding).disabled($showsGrid.isManaged)
    /// ```
    ///
    /// Saving a managed setting throws a ``DefaultsError`` of kind ``DefaultsError/Kind/managed``. False where settings cannot be managed,
    /// which is everywhere but in `UserDefaults` on Apple platforms.
    public var isManaged: Bool { setting.isManaged }

    /// Removes what is stored, so that the default reads again.
    public func reset() { setting.remove() }

    /// Changes the value in one step that no other writer comes between.
    ///
    /// ```swift
    /// try $launchCount.update { $0 += 1 }
    /// ```
    ///
    /// - Parameter body: Gets what reads, so the default where nothing is stored, and leaves what is to be stored. It runs once,
    ///   and nothing is written if it throws.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or a ``DefaultsError``. An unreadable value is an error before `body` runs.
    @discardableResult
    public func update<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
        try setting.update { stored in
            var value = stored ?? key.defaultValue
            let result = try body(&value)
            stored = value
            return result
        }
    }

    /// The same setting as a store, which reads nil where nothing is stored.
    public var store: AnyStore<Value> { AnyStore(PersistentStore(setting)) }
}

// What observers hear is what reads: the default in place of nothing.
extension UserDefault {
    /// Calls the handler after each change, with the present value first if `initial` is true, until the token is cancelled or let go of.
    ///
    /// Where nothing is stored, or nothing that can be read, the change holds the default; ``DefaultChange/kind`` tells a reset from
    /// an assignment. The rest is as with ``DefaultStoreType/observe(_:_:)``.
    public func observe(
        initial: Bool = false, _ handler: @escaping @Sendable (DefaultChange<Value>) -> Void
    ) -> ObservationToken {
        let key = key
        return setting.observe(initial ? .initial : []) { handler($0.filled(with: key.defaultValue)) }
    }

    /// Calls the handler on the main actor after each change, with the present value first if `initial` is true.
    public func observe(
        initial: Bool = false, on actor: MainActor, _ handler: @escaping @MainActor (DefaultChange<Value>) -> Void
    ) -> ObservationToken {
        let key = key
        return PersistentStore(setting).observe(initial: initial, on: actor) {
            handler($0.filled(with: key.defaultValue))
        }
    }

    /// The values from now on, the present one first. A slow consumer misses some, never the last.
    public var values: DefaultValues<Value> {
        let (setting, key) = (setting, key)
        return DefaultValues { element in setting.observe(.initial) { element($0.newValue ?? key.defaultValue) } }
    }
}

extension DefaultChange {
    /// The change of what reads, with the default where nothing is stored.
    fileprivate func filled(with defaultValue: Value) -> DefaultChange {
        DefaultChange(
            oldValue: oldValue ?? defaultValue, newValue: newValue ?? defaultValue, kind: kind, origin: origin,
            name: name)
    }
}
