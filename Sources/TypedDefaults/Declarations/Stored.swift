extension StorableConfigBase {
    /// A property of a ``StorableConfig`` that is a setting, with its initial value as the default.
    ///
    /// ```swift
    /// final class AppConfig: StorableConfig {
    ///     @Stored var launchCount = 9
    ///     @Stored("user-name") var userName = ""   // under just this key
    ///     @Stored var nickname: String?            // nil removes
    /// }
    /// ```
    ///
    /// Reading, assigning and `$` are as with ``UserDefault``. A value that an initialiser assigns
    /// before `super.init` becomes the default, and one that it assigns after is stored, each time.
    @propertyWrapper
    public struct Stored<Value: Sendable> {
        /// What copies share: reflection, which finds the name, hands out copies.
        private final class Binding {
            let pinnedKey: String?
            /// The names that the property had before, newest first.
            let formerNames: [String]
            let makeKey: (String) -> DefaultKey<Value>
            var setting: UserDefault<Value>?

            init(
                _ pinnedKey: String?, _ formerNames: [String], _ makeKey: @escaping (String) -> DefaultKey<Value>
            ) {
                self.pinnedKey = pinnedKey
                self.formerNames = formerNames
                self.makeKey = makeKey
            }
        }
        private let binding: Binding

        private init(
            _ pinnedKey: String?, _ formerNames: [String], _ makeKey: @escaping (String) -> DefaultKey<Value>
        ) {
            binding = Binding(pinnedKey, formerNames, makeKey)
        }

        // Here, since without one in the type's own declaration the compiler finds no initial value
        // for `@Stored var nickname: String?`.
        /// Creates a property of a `Codable` type.
        ///
        /// - Parameters:
        ///   - wrappedValue: The default.
        ///   - key: The key; `nil` to derive it from the property's name.
        ///   - formerly: The names that the property had before, newest first. A value that is
        ///     stored under one of them is read as long as there is none under the key, and the
        ///     first write moves it.
        public init(wrappedValue: Value, _ key: String? = nil, formerly: [String] = []) where Value: Codable {
            self.init(key, formerly) { DefaultKey($0, default: wrappedValue) }
        }

        var name: SettingName? { binding.setting?.name }

        /// The setting: its ``UserDefault/value``, `update`, `reset()`, `isSet`, `observe`,
        /// `values` and `store`.
        public var projectedValue: UserDefault<Value> {
            guard let setting = binding.setting else {
                preconditionFailure("a @Stored property is a setting once its StorableConfig has run super.init")
            }
            return setting
        }

        @available(
            *, unavailable,
            message: "@Stored belongs in a class that inherits from StorableConfig; elsewhere use @UserDefault"
        )
        public var wrappedValue: Value {
            get { fatalError("unavailable") }
            set { fatalError("unavailable") }
        }

        // Underscored, but what lets the compiler refuse the wrapper in any other type, as
        // `@Published` does.
        public static subscript<Config: StorableConfigBase>(
            _enclosingInstance config: Config, wrapped property: ReferenceWritableKeyPath<Config, Value>,
            storage storage: ReferenceWritableKeyPath<Config, Stored>
        ) -> Value {
            get { config[keyPath: storage].projectedValue.value }
            set { config[keyPath: storage].projectedValue.value = newValue }
        }
    }
}

/// Stands for ``StorableConfigBase/Stored`` outside of a config class, where it has a message of
/// its own: the class would get one without a line number.
@available(
    *, unavailable,
    message: "@Stored belongs in a class that inherits from StorableConfig; elsewhere use @UserDefault"
)
@propertyWrapper
public struct Stored<Value> {
    /// Unavailable.
    public var wrappedValue: Value
    /// Unavailable.
    public init(wrappedValue: Value, _ key: String? = nil, formerly: [String] = []) { fatalError("unavailable") }
    /// Unavailable.
    public init(_ key: String? = nil, formerly: [String] = []) { fatalError("unavailable") }
}

/// A `@Stored` property of any type.
protocol AnyStored {
    /// The key that the declaration gives; nil if it is derived from the property's name.
    var pinnedKey: String? { get }
    /// The names that the property had before, newest first.
    var formerNames: [String] { get }
    func bind(to suite: DefaultsSuite, _ key: String, formerKeys: [String])
    var key: String { get }
    var formerKeys: [String] { get }
    var kind: ConversionKind { get }
    func encodedValue() throws(DefaultsError) -> PropertyList?
    func encodedDefault() throws(DefaultsError) -> PropertyList?
}

extension StorableConfigBase.Stored: AnyStored {
    var pinnedKey: String? { binding.pinnedKey }
    var formerNames: [String] { binding.formerNames }

    func bind(to suite: DefaultsSuite, _ key: String, formerKeys: [String]) {
        binding.setting = UserDefault(binding.makeKey(key).formerly(formerKeys), in: suite)
    }

    var key: String { projectedValue.key.name }
    var formerKeys: [String] { projectedValue.key.declaration.formerNames }
    var kind: ConversionKind { projectedValue.key.declaration.conversion.kind }
    func encodedValue() throws(DefaultsError) -> PropertyList? {
        try projectedValue.key.declaration.conversion.encode(projectedValue.value)
    }
    func encodedDefault() throws(DefaultsError) -> PropertyList? {
        try projectedValue.key.declaration.conversion.encode(projectedValue.key.defaultValue)
    }
}

// For each other kind of type once, as with ``DefaultKey``.
extension StorableConfigBase.Stored {
    /// Creates the property of an optional `Codable` value.
    public init<Wrapped: Codable>(wrappedValue: Value = nil, _ key: String? = nil, formerly: [String] = [])
    where Value == Wrapped? {
        self.init(key, formerly) { DefaultKey($0, default: wrappedValue) }
    }

    /// Creates the property of a value that converts itself.
    @_disfavoredOverload
    public init(wrappedValue: Value, _ key: String? = nil, formerly: [String] = []) where Value: DefaultConvertible {
        self.init(key, formerly) { DefaultKey($0, default: wrappedValue) }
    }

    /// Creates the property of an optional value that converts itself.
    @_disfavoredOverload
    public init<Wrapped: DefaultConvertible>(wrappedValue: Value = nil, _ key: String? = nil, formerly: [String] = [])
    where Value == Wrapped? {
        self.init(key, formerly) { DefaultKey($0, default: wrappedValue) }
    }

    /// Creates the property of a value that is stored as its raw value.
    @_disfavoredOverload
    public init(wrappedValue: Value, _ key: String? = nil, formerly: [String] = [])
    where Value: RawRepresentable, Value.RawValue: Codable & Sendable {
        self.init(key, formerly) { DefaultKey($0, default: wrappedValue) }
    }

    /// Creates the property of an optional value that is stored as its raw value.
    @_disfavoredOverload
    public init<Wrapped: RawRepresentable & Sendable>(
        wrappedValue: Value = nil, _ key: String? = nil, formerly: [String] = []
    )
    where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(key, formerly) { DefaultKey($0, default: wrappedValue) }
    }

    /// Creates the property of a value with a raw value that converts itself.
    @_disfavoredOverload
    public init(wrappedValue: Value, _ key: String? = nil, formerly: [String] = [])
    where Value: DefaultConvertible & RawRepresentable, Value.RawValue: Codable & Sendable {
        self.init(key, formerly) { DefaultKey($0, default: wrappedValue) }
    }

    /// Creates the property of an optional value with a raw value that converts itself.
    @_disfavoredOverload
    public init<Wrapped: DefaultConvertible & RawRepresentable>(
        wrappedValue: Value = nil, _ key: String? = nil, formerly: [String] = []
    )
    where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(key, formerly) { DefaultKey($0, default: wrappedValue) }
    }

    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "the value must be Codable and Sendable, DefaultConvertible or have a raw value; an element of a collection must be Codable"
    )
    public init(wrappedValue: Value, _ key: String? = nil, formerly: [String] = []) { fatalError("unavailable") }

    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "a setting needs a default value, unless it is optional: @Stored(\"user-name\") var userName = \"\""
    )
    public init(_ key: String, formerly: [String] = []) { fatalError("unavailable") }
}
