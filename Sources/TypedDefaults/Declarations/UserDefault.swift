/// A setting: a key with its default, in a suite.
///
/// One type serves as the property wrapper, as its `$` value and as a static setting:
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
/// A setting always has a value: the stored one, or the default if none is stored. All settings
/// with the same key in the same suite share one value. If reading or assigning fails, the suite's
/// ``DefaultsSuite/onFailure`` receives the error; reading then returns the default, and assigning
/// leaves the old value.
///
/// The value can have any type that a ``DefaultKey`` supports. Do not confuse this type with
/// Foundation's `UserDefaults`.
///
/// ## Topics
///
/// ### The value
///
/// - ``value``
/// - ``update(_:)``
/// - ``reset()``
/// - ``removeStored()``
/// - ``isSet``
/// - ``isManaged``
///
/// ### Observing
///
/// - ``observe(initial:_:)``
/// - ``observeOnMainActor(initial:_:)``
/// - ``values``
///
/// ### The setting
///
/// - ``key``
/// - ``store``
/// - ``wrappedValue``
/// - ``projectedValue``
/// - ``init(_:in:)-(DefaultKey<Value>,_)``
/// - ``init(_:in:)-(String,_)``
/// - ``init(in:)``
@propertyWrapper
public struct UserDefault<Value: Sendable>: Sendable {
    let setting: Setting<Value>
    /// The name and the default value.
    public let key: DefaultKey<Value>

    /// Creates the setting of a key in a suite.
    public init(_ key: DefaultKey<Value>, in suite: DefaultsSuite = .standard) {
        self.key = key
        setting = Setting(suite, key)
    }

    /// The stored value, or the default if no value is stored or the stored value cannot be read.
    /// Assigning `nil` to an optional resets it.
    ///
    /// `setting.value += 1` is a read and a separate write, so a write by another thread or process
    /// in between is lost. ``update(_:)`` does both in one step.
    public var value: Value {
        get { setting.get(or: key.defaultValue) }
        nonmutating set { setting.assign(newValue, over: key.defaultValue) }
        nonmutating _modify {
            var edit = setting.edit(or: key.defaultValue)
            defer { setting.apply(edit, or: key.defaultValue) }
            yield &edit.value
        }
    }

    /// The ``value``, for the property wrapper.
    public var wrappedValue: Value {
        get { value }
        nonmutating set { value = newValue }
        nonmutating _modify { yield &value }
    }

    /// The setting itself.
    public var projectedValue: UserDefault { self }

    var name: SettingName { setting.name }
}

extension UserDefault {
    /// Whether a value is stored, even if it cannot be read. If the suite cannot be read, this is
    /// false and the failure handler receives an error.
    ///
    /// Also false if `UserDefaults` has only a registered value or a value in the global domain.
    public var isSet: Bool { setting.isSet }

    /// Whether assigning does not change ``value`` now, because an administrator or a layer before
    /// the stored values provides it; of a config, all of it. See ``DefaultsSuite/layers``.
    ///
    /// ```swift
    /// Toggle("Grid", isOn: $showsGrid.binding).disabled($showsGrid.isManaged)
    /// ```
    ///
    /// A value that you save behind a layer is stored, and counts when the layer is gone. If the
    /// backend itself is managed, such as by a configuration profile on Apple platforms, saving
    /// throws a ``DefaultsError`` of kind ``DefaultsError/Kind/managed``.
    public var isManaged: Bool { setting.isManaged }

    /// Where ``value`` comes from.
    ///
    /// Of a setting in `UserDefaults` whose value a configuration profile provides, this is
    /// `.layer("managed")`. A view that reads this updates when it changes.
    public var source: DefaultSource { setting.source }

    /// Removes the stored value, so that ``value`` is the default again.
    ///
    /// If that fails, the failure handler of the suite receives the error.
    public func reset() { setting.remove() }

    /// Removes the stored value, even if it cannot be read, so that ``value`` is the default again.
    ///
    /// - Throws: A ``DefaultsError``, as ``DefaultStoreType/removeStored()`` does.
    public func removeStored() throws { try setting.removeStored() }

    /// Reads, changes and writes the value in one step, while other writers wait.
    ///
    /// ```swift
    /// try $launchCount.update { $0 += 1 }
    /// ```
    ///
    /// Writers of other processes wait if the suite is a settings file. With `UserDefaults`, only
    /// writers in the same process wait.
    ///
    /// A stored value that cannot be read counts as missing. It is copied to `<key>.unreadable` and
    /// reported, as when you assign a value.
    ///
    /// - Parameter body: Edits the value, which is the default if none is stored. It may run again
    ///   (see ``BackendTraits/readsMayLag``), and nothing is written if it throws.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or a ``DefaultsError``.
    @discardableResult
    public func update<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
        try setting.change(recovering: true, from: key.defaultValue) { value, _ in try body(&value!) }
    }

    /// The same setting as a store, which reads `nil` if no value is stored. It knows the key, but
    /// not its default: a config begins with the default of its type.
    public var store: AnyStore<Value> { AnyStore(PersistentStore(setting)) }
}

// Observers receive the default in place of a missing value.
extension UserDefault {
    /// Calls the handler after each change until the token is cancelled or deallocated.
    ///
    /// If no value is stored or the stored value cannot be read, the change contains the default.
    /// ``DefaultChange/kind`` distinguishes a reset from an assignment. See also
    /// ``DefaultStoreType/observe(initial:_:)``.
    ///
    /// - Parameters:
    ///   - initial: Whether to call the handler with the current value first.
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

    /// The current value, followed by each new value. A slow consumer misses some values, but never
    /// the last one.
    public var values: DefaultUpdates<Value> {
        let (setting, key) = (setting, key)
        return DefaultUpdates { element in setting.observe(initial: true) { element($0.newValue ?? key.defaultValue) } }
    }
}

extension UserDefault: DiscreetlyDescribed {
    /// The type, the key and the suite, without the stored value.
    var summary: String { "UserDefault<\(Value.self)>(\(name))" }
}
