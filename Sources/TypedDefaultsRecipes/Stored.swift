public import TypedDefaults

extension StorableConfigBase {
    /// A property of a ``StorableConfig`` that is a setting, with its initial value as the default.
    ///
    /// ```swift
    /// final class PlayerConfig: StorableConfig {
    ///     @Stored var launchCount = 9
    ///     @Stored("owner-name") var owner = ""     // under just this key
    ///     @Stored var nickname: String?            // nil removes
    /// }
    /// ```
    ///
    /// Reading, assigning and `$` work as with `UserDefault`. A value that an initializer assigns
    /// before `super.init` becomes the default. A value that it assigns after `super.init` is
    /// stored, each time an instance is created.
    @propertyWrapper
    public struct Stored<Value: Sendable> {
        /// The state that copies share. Reflection, which finds the property's name, works on a
        /// copy.
        private final class Binding {
            let pinnedKey: String?
            let makeKey: (String) -> DefaultKey<Value>
            /// A ``Bound``. Not an optional of its type, which generic code would look up at each
            /// use.
            var bound: AnyObject?

            init(_ pinnedKey: String?, _ makeKey: @escaping (String) -> DefaultKey<Value>) {
                self.pinnedKey = pinnedKey
                self.makeKey = makeKey
            }
        }
        private final class Bound {
            let setting: UserDefault<Value>
            init(_ setting: UserDefault<Value>) { self.setting = setting }
        }
        private let binding: Binding

        private init(_ pinnedKey: String?, _ makeKey: @escaping (String) -> DefaultKey<Value>) {
            binding = Binding(pinnedKey, makeKey)
        }

        // Not in an extension: without an initializer here, the compiler finds no initial value for
        // `@Stored var nickname: String?`.
        /// Creates a property of a `Codable` type.
        ///
        /// - Parameters:
        ///   - wrappedValue: The default.
        ///   - key: The key; `nil` to derive it from the property's name.
        ///   - rule: What a value must be; `nil` if all values are valid.
        public init(
            wrappedValue: Value, _ key: String? = nil, rule: DefaultRule<Value>? = nil
        ) where Value: Codable {
            self.init(key) { DefaultKey($0, default: wrappedValue, rule: rule) }
        }

        fileprivate var setting: UserDefault<Value>? { binding.bound == nil ? nil : projectedValue }

        /// The setting, with its `value`, `update`, `reset()`, `isSet`, `observe`,
        /// `values` and `store`.
        public var projectedValue: UserDefault<Value> {
            guard let bound = binding.bound else {
                preconditionFailure("a @Stored property is a setting once its StorableConfig has run super.init")
            }
            // Safe: nothing else is stored there. A checked cast takes 407 instructions at each
            // use.
            return unsafeDowncast(bound, to: Bound.self).setting
        }

        fileprivate func bind(_ setting: UserDefault<Value>) { binding.bound = Bound(setting) }

        @available(
            *, unavailable,
            message: "@Stored belongs in a class that inherits from StorableConfig; elsewhere use @UserDefault"
        )
        public var wrappedValue: Value {
            get { fatalError("unavailable") }
            set { fatalError("unavailable") }
        }

        // Restricts the wrapper to config classes. The feature is underscored, but `@Published`
        // uses it, too.
        public static subscript<Config: StorableConfigBase>(
            _enclosingInstance config: Config, wrapped property: ReferenceWritableKeyPath<Config, Value>,
            storage storage: ReferenceWritableKeyPath<Config, Stored>
        ) -> Value {
            get { config[keyPath: storage].projectedValue.value }
            set { config[keyPath: storage].projectedValue.value = newValue }
            _modify { yield &config[keyPath: storage].projectedValue.value }
        }
    }
}

/// Takes the place of ``StorableConfigBase/Stored`` outside of a config class, so that the
/// compiler's message has a line number.
@available(
    *, unavailable,
    message: "@Stored belongs in a class that inherits from StorableConfig; elsewhere use @UserDefault"
)
@propertyWrapper
public struct Stored<Value> {
    /// Unavailable.
    public var wrappedValue: Value
    /// Unavailable.
    public init(wrappedValue: Value, _ key: String? = nil) { fatalError("unavailable") }
    /// Unavailable.
    public init(_ key: String? = nil) { fatalError("unavailable") }
}

/// A `@Stored` property of any type.
protocol AnyStored {
    /// The key in the declaration; `nil` if the key is derived from the property's name.
    var pinnedKey: String? { get }
    func bind(to suite: DefaultsSuite, _ key: String)
    var key: String { get }
    func encodedValue() throws -> PropertyList?
    func encodedDefault() throws -> PropertyList?
}

extension StorableConfigBase.Stored: AnyStored {
    var pinnedKey: String? { binding.pinnedKey }

    func bind(to suite: DefaultsSuite, _ key: String) { bind(UserDefault(binding.makeKey(key), in: suite)) }

    var key: String { projectedValue.key.name }
    func encodedValue() throws -> PropertyList? { try encode(projectedValue.value) }
    func encodedDefault() throws -> PropertyList? { try encode(projectedValue.key.defaultValue) }

    private func encode(_ value: Value) throws -> PropertyList? {
        let (suite, key) = (DefaultsSuite.inMemory(), projectedValue.key)
        try UserDefault(key, in: suite).store.save(value)
        return try suite.contents()[key.name]
    }
}

extension StorableConfigBase.Stored: CustomStringConvertible, CustomReflectable {
    /// The type, the key and the suite, without the stored value.
    public var description: String { "Stored(\(setting.map { "\($0)" } ?? "not bound yet"))" }
    /// Empty, so that `dump` shows no value.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

// One initializer for each other kind of type; see `UserDefault+Declaring`.
extension StorableConfigBase.Stored {
    /// Creates a property of an optional `Codable` type without an initial value.
    @_disfavoredOverload
    public init<Wrapped: Codable>(_ key: String? = nil) where Value == Wrapped? {
        self.init(key) { DefaultKey($0) }
    }

    /// Creates a property of a `DefaultConvertible` type.
    public init(wrappedValue: Value, _ key: String? = nil) where Value: DefaultConvertible {
        self.init(key) { DefaultKey($0, default: wrappedValue) }
    }

    /// Creates a property of an optional `DefaultConvertible` type.
    public init<Wrapped: DefaultConvertible>(wrappedValue: Value = nil, _ key: String? = nil)
    where Value == Wrapped? {
        self.init(key) { DefaultKey($0, default: wrappedValue) }
    }

    /// Creates a property of a type that is stored as its raw value.
    @_disfavoredOverload
    public init<Raw: Codable & Sendable>(wrappedValue: Value, _ key: String? = nil)
    where Value: RawRepresentable<Raw> {
        self.init(key) { DefaultKey($0, default: wrappedValue) }
    }

    /// Creates a property of an optional type that is stored as its raw value.
    @_disfavoredOverload
    public init<Wrapped: RawRepresentable & Sendable>(wrappedValue: Value = nil, _ key: String? = nil)
    where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(key) { DefaultKey($0, default: wrappedValue) }
    }

    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "the value must be Codable and Sendable, or DefaultConvertible, or RawRepresentable; an element of a collection must be Codable"
    )
    public init(wrappedValue: Value, _ key: String? = nil) { fatalError("unavailable") }

    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "unless it is optional, a setting needs a default value: @Stored(\"user-name\") var userName = \"\""
    )
    public init(_ key: String) { fatalError("unavailable") }
}
