/// A setting: a key with its default, in a suite.
///
/// One type is the property wrapper, its `$`, and a static setting:
///
/// ```swift
/// struct CameraSettings {
///     @UserDefault("launchCount") var launchCount = 9
///     @UserDefault("nickname") var nickname: String?
///     @UserDefault() var camera: CameraConfig  // a DefaultConfig
/// }
///
/// enum Settings {
///     static let quality = UserDefault("quality", default: 0.8)
/// }
/// Settings.quality.value = 0.5
/// ```
///
/// A setting answers what *counts*, so it is never `nil`: the stored value, or the default if none
/// is stored. All settings with one key in one suite share one value. If reading or assigning
/// fails, the suite's ``DefaultsSuite/onFailure`` receives the error; reading then returns the
/// default, and assigning leaves the old value.
///
/// The value may be of any type that a ``DefaultKey`` takes. Not to be confused with Foundation's
/// `UserDefaults`.
@propertyWrapper
public struct UserDefault<Value: Sendable>: Sendable {
    private let setting: Setting<Value>
    /// The name and the default value.
    public let key: DefaultKey<Value>

    /// Creates the setting of a key in a suite.
    public init(_ key: DefaultKey<Value>, in suite: DefaultsSuite = .standard) {
        self.key = key
        setting = Setting(suite, key)
    }

    /// The stored value. Returns the default if no value is stored, or none that can be read.
    /// Assigning `nil` to an optional resets it.
    ///
    /// `setting.value += 1` is a read and a write, and another writer can come between.
    /// ``update(_:)`` is one step.
    public var value: Value {
        get { setting.get(or: key.defaultValue) }
        nonmutating set { setting.set(newValue) }
    }

    /// The ``value``, for the property wrapper.
    public var wrappedValue: Value {
        get { value }
        nonmutating set { value = newValue }
    }

    /// The setting itself.
    public var projectedValue: UserDefault { self }

    var name: SettingName { setting.name }
    func noteRead() { setting.noteRead() }
}

extension UserDefault {
    /// Whether a value is stored, readable or not. False if the suite cannot be read, which the
    /// failure handler receives.
    ///
    /// False for a value that `UserDefaults` takes from elsewhere: one that was registered, or one
    /// of the global domain.
    public var isSet: Bool { setting.isSet }

    /// Whether an administrator provides the value, by a configuration profile or device
    /// management, so that it cannot be changed.
    ///
    /// ```swift
    /// Toggle("Grid", isOn: $showsGrid.binding).disabled($showsGrid.isManaged)
    /// ```
    ///
    /// Saving a managed setting throws a ``DefaultsError`` of kind ``DefaultsError/Kind/managed``.
    /// Only settings in `UserDefaults` on Apple platforms can be managed.
    public var isManaged: Bool { setting.isManaged }

    /// Removes the stored value, so that the default counts again.
    public func reset() { setting.remove() }

    /// Changes the value in one step that no other writer comes between.
    ///
    /// ```swift
    /// try $launchCount.update { $0 += 1 }
    /// ```
    ///
    /// A stored value that cannot be read counts as missing. It is copied to `<key>.unreadable` and
    /// reported, as when you assign a value.
    ///
    /// - Parameter body: Edits the value, which is the default if none is stored. It runs once, and
    ///   nothing is written if it throws.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or a ``DefaultsError``.
    @discardableResult
    public func update<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
        try setting.update(recovers: true) { stored in
            var value = stored ?? key.defaultValue
            let result = try body(&value)
            stored = value
            return result
        }
    }

    /// The same setting as a store, which reads `nil` if no value is stored.
    public var store: AnyStore<Value> { AnyStore(PersistentStore(setting)) }
}

// Observers receive what counts: the default in place of a missing value.
extension UserDefault {
    /// Calls the handler after each change until the token is cancelled or deallocated.
    ///
    /// If no value is stored, or none that can be read, the change holds the default.
    /// ``DefaultChange/kind`` tells a reset from an assignment. See also
    /// ``DefaultStoreType/observe(initial:_:)``.
    ///
    /// - Parameters:
    ///   - initial: Whether the handler is called with the present value first.
    ///   - handler: Receives each change.
    public func observe(
        initial: Bool = false, _ handler: @escaping @Sendable (DefaultChange<Value>) -> Void
    ) -> ObservationToken {
        let key = key
        return setting.observe(initial: initial) { handler($0.filled(with: key.defaultValue)) }
    }

    /// Calls the handler on the main actor after each change. See
    /// ``DefaultStoreType/observeOnMainActor(initial:_:)``.
    public func observeOnMainActor(
        initial: Bool = false, _ handler: @escaping @MainActor (DefaultChange<Value>) -> Void
    ) -> ObservationToken {
        let key = key
        return PersistentStore(setting).observeOnMainActor(initial: initial) {
            handler($0.filled(with: key.defaultValue))
        }
    }

    /// The values from now on, beginning with the present one. A slow consumer misses some, but
    /// never the last.
    public var values: DefaultUpdates<Value> {
        let (setting, key) = (setting, key)
        return DefaultUpdates { element in setting.observe(initial: true) { element($0.newValue ?? key.defaultValue) } }
    }
}

extension DefaultChange {
    /// Returns the change of what counts, with the default in place of a missing value.
    fileprivate func filled(with defaultValue: Value) -> DefaultChange {
        DefaultChange(
            oldValue: oldValue ?? defaultValue, newValue: newValue ?? defaultValue, kind: kind, origin: origin,
            name: name)
    }
}
