// Each kind of type once for the wrapper and once for `default:`, as with ``DefaultKey``. `Codable`
// is preferred, because most types are.

// As a wrapper: `@UserDefault("launchCount") var launchCount = 9`. An optional without an initial
// value has the default `nil`.
extension UserDefault {
    /// Creates the setting of a property of a `Codable` type; its initial value is the default.
    public init(wrappedValue: Value, _ name: String, formerly: String..., in suite: DefaultsSuite = .standard)
    where Value: Codable {
        self.init(DefaultKey(name, default: wrappedValue).formerly(formerly), in: suite)
    }

    /// Creates the setting of an optional property of a `Codable` type; the default is `nil`
    /// without an initial value.
    public init<Wrapped: Codable>(
        wrappedValue: Value = nil, _ name: String, formerly: String..., in suite: DefaultsSuite = .standard
    ) where Value == Wrapped? {
        self.init(DefaultKey(name, default: wrappedValue).formerly(formerly), in: suite)
    }

    /// Creates the setting of a property of a type that converts itself; its initial value is the
    /// default.
    @_disfavoredOverload
    public init(wrappedValue: Value, _ name: String, formerly: String..., in suite: DefaultsSuite = .standard)
    where Value: DefaultConvertible {
        self.init(DefaultKey(name, default: wrappedValue).formerly(formerly), in: suite)
    }

    /// Creates the setting of an optional property of a type that converts itself; the default is
    /// `nil` without an initial value.
    @_disfavoredOverload
    public init<Wrapped: DefaultConvertible>(
        wrappedValue: Value = nil, _ name: String, formerly: String..., in suite: DefaultsSuite = .standard
    ) where Value == Wrapped? {
        self.init(DefaultKey(name, default: wrappedValue).formerly(formerly), in: suite)
    }

    /// Creates the setting of a property of a type with a raw value; its initial value is the
    /// default.
    @_disfavoredOverload
    public init(wrappedValue: Value, _ name: String, formerly: String..., in suite: DefaultsSuite = .standard)
    where Value: RawRepresentable, Value.RawValue: Codable & Sendable {
        self.init(DefaultKey(name, default: wrappedValue).formerly(formerly), in: suite)
    }

    /// Creates the setting of an optional property of a type with a raw value; the default is `nil`
    /// without an initial value.
    @_disfavoredOverload
    public init<Wrapped: RawRepresentable & Sendable>(
        wrappedValue: Value = nil, _ name: String, formerly: String..., in suite: DefaultsSuite = .standard
    ) where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(DefaultKey(name, default: wrappedValue).formerly(formerly), in: suite)
    }

    /// Creates the setting of a property of a type that has a raw value and converts itself; its
    /// initial value is the default.
    @_disfavoredOverload
    public init(wrappedValue: Value, _ name: String, formerly: String..., in suite: DefaultsSuite = .standard)
    where Value: DefaultConvertible & RawRepresentable, Value.RawValue: Codable & Sendable {
        self.init(DefaultKey(name, default: wrappedValue).formerly(formerly), in: suite)
    }

    /// Creates the setting of an optional property of a type that has a raw value and converts
    /// itself; the default is `nil` without an initial value.
    @_disfavoredOverload
    public init<Wrapped: DefaultConvertible & RawRepresentable>(
        wrappedValue: Value = nil, _ name: String, formerly: String..., in suite: DefaultsSuite = .standard
    ) where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(DefaultKey(name, default: wrappedValue).formerly(formerly), in: suite)
    }
}

// As a static setting: `static let launchCount = UserDefault("launchCount", default: 9)`.
extension UserDefault {
    /// Creates a setting of a `Codable` type.
    public init(_ name: String, formerly: String..., default defaultValue: Value, in suite: DefaultsSuite = .standard)
    where Value: Codable {
        self.init(DefaultKey(name, default: defaultValue).formerly(formerly), in: suite)
    }

    /// Creates a setting of a type that converts itself.
    @_disfavoredOverload
    public init(_ name: String, formerly: String..., default defaultValue: Value, in suite: DefaultsSuite = .standard)
    where Value: DefaultConvertible {
        self.init(DefaultKey(name, default: defaultValue).formerly(formerly), in: suite)
    }

    /// Creates a setting of an optional of a type that converts itself.
    @_disfavoredOverload
    public init<Wrapped: DefaultConvertible>(
        _ name: String, formerly: String..., default defaultValue: Value, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped? {
        self.init(DefaultKey(name, default: defaultValue).formerly(formerly), in: suite)
    }

    /// Creates a setting of a type with a raw value.
    @_disfavoredOverload
    public init(_ name: String, formerly: String..., default defaultValue: Value, in suite: DefaultsSuite = .standard)
    where Value: RawRepresentable, Value.RawValue: Codable & Sendable {
        self.init(DefaultKey(name, default: defaultValue).formerly(formerly), in: suite)
    }

    /// Creates a setting of an optional of a type with a raw value.
    @_disfavoredOverload
    public init<Wrapped: RawRepresentable & Sendable>(
        _ name: String, formerly: String..., default defaultValue: Value, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(DefaultKey(name, default: defaultValue).formerly(formerly), in: suite)
    }

    /// Creates a setting of a type that has a raw value and converts itself.
    @_disfavoredOverload
    public init(_ name: String, formerly: String..., default defaultValue: Value, in suite: DefaultsSuite = .standard)
    where Value: DefaultConvertible & RawRepresentable, Value.RawValue: Codable & Sendable {
        self.init(DefaultKey(name, default: defaultValue).formerly(formerly), in: suite)
    }

    /// Creates a setting of an optional of a type that has a raw value and converts itself.
    @_disfavoredOverload
    public init<Wrapped: DefaultConvertible & RawRepresentable>(
        _ name: String, formerly: String..., default defaultValue: Value, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(DefaultKey(name, default: defaultValue).formerly(formerly), in: suite)
    }
}

extension UserDefault {
    /// Creates the setting of a property of a ``DefaultConfig``:
    /// `@UserDefault() var camera: CameraConfig`.
    ///
    /// The key is the one of the type, and the default a new instance.
    public init(in suite: DefaultsSuite = .standard) where Value: DefaultConfig {
        self.init(DefaultKey(Value.self), in: suite)
    }

    /// The same as `default:`, for a wrapper:
    /// `@UserDefault("launchCount", defaultValue: 9) var launchCount: Int`.
    public init(_ name: String, formerly: String..., defaultValue: Value, in suite: DefaultsSuite = .standard)
    where Value: Codable {
        self.init(DefaultKey(name, default: defaultValue).formerly(formerly), in: suite)
    }
}

// Declarations that the compiler answers with a sentence.
extension UserDefault {
    @_disfavoredOverload
    @available(*, unavailable, message: "use the name's rawValue, or a static DefaultKey")
    public init(wrappedValue: Value, _ name: some RawRepresentable<String>, in suite: DefaultsSuite = .standard) {
        fatalError("unavailable")
    }

    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "the value must be Codable and Sendable, DefaultConvertible or have a raw value; an element of a collection must be Codable"
    )
    public init(wrappedValue: Value, _ name: String, formerly: String..., in suite: DefaultsSuite = .standard) {
        fatalError("unavailable")
    }

    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "the value must be Codable and Sendable, DefaultConvertible or have a raw value; an element of a collection must be Codable"
    )
    public init(_ name: String, formerly: String..., default defaultValue: Value, in suite: DefaultsSuite = .standard) {
        fatalError("unavailable")
    }

    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "a setting needs a default value, unless it is optional: @UserDefault(\"launchCount\") var launchCount = 9"
    )
    public init(_ name: String, formerly: String..., in suite: DefaultsSuite = .standard) { fatalError("unavailable") }
}
