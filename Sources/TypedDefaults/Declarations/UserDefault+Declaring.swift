// Swift has no constraint "DefaultConvertible or Codable or with a raw value", and no default value
// of a parameter for optionals only. So each kind of type needs two initializers. If several fit, a
// disfavored one loses. Of those that are left, Swift chooses the one that is not generic, then the
// one with fewer parameters. So a type's own conversion comes first, then `Codable`, then the raw
// value.

// As a wrapper: `@UserDefault("launchCount") var launchCount = 9`. An optional without an initial
// value has the default `nil`.
extension UserDefault {
    /// Creates the setting for a property of a `Codable` type; its initial value is the default.
    ///
    /// A `rule` says what a value must be; `nil` if all values are valid.
    public init(
        wrappedValue: Value, _ name: String, rule: DefaultRule<Value>? = nil, in suite: DefaultsSuite = .standard
    ) where Value: Codable {
        self.init(DefaultKey(name, default: wrappedValue, rule: rule), in: suite)
    }

    /// Creates the setting for an optional property of a `Codable` type without an initial value;
    /// the default is `nil`.
    @_disfavoredOverload
    public init<Wrapped: Codable>(_ name: String, in suite: DefaultsSuite = .standard) where Value == Wrapped? {
        self.init(DefaultKey(name), in: suite)
    }

    /// Creates the setting for a property of a ``DefaultConvertible`` type; its initial value is
    /// the default.
    public init(wrappedValue: Value, _ name: String, in suite: DefaultsSuite = .standard)
    where Value: DefaultConvertible {
        self.init(DefaultKey(name, default: wrappedValue), in: suite)
    }

    /// Creates the setting for an optional property of a ``DefaultConvertible`` type; the default
    /// is `nil` without an initial value.
    public init<Wrapped: DefaultConvertible>(
        wrappedValue: Value = nil, _ name: String, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped? {
        self.init(DefaultKey(name, default: wrappedValue), in: suite)
    }

    /// Creates the setting for a property of a type with a raw value; its initial value is the
    /// default.
    @_disfavoredOverload
    public init<Raw: Codable & Sendable>(wrappedValue: Value, _ name: String, in suite: DefaultsSuite = .standard)
    where Value: RawRepresentable<Raw> {
        self.init(DefaultKey(name, default: wrappedValue), in: suite)
    }

    /// Creates the setting for an optional property of a type with a raw value; the default is
    /// `nil` without an initial value.
    @_disfavoredOverload
    public init<Wrapped: RawRepresentable & Sendable>(
        wrappedValue: Value = nil, _ name: String, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(DefaultKey(name, default: wrappedValue), in: suite)
    }
}

extension UserDefault {
    /// Creates a setting of a `Codable` type, such as a static one:
    /// `static let launchCount = UserDefault("launchCount", default: 9)`.
    ///
    /// A `rule` says what a value must be; `nil` if all values are valid.
    public init(
        _ name: String, default defaultValue: Value, rule: DefaultRule<Value>? = nil,
        in suite: DefaultsSuite = .standard
    ) where Value: Codable {
        self.init(DefaultKey(name, default: defaultValue, rule: rule), in: suite)
    }

    /// Creates a setting of a ``DefaultConvertible`` type.
    ///
    /// For an optional, give a key: `UserDefault(DefaultKey<Mode?>("mode", default: .fast))`.
    public init(_ name: String, default defaultValue: Value, in suite: DefaultsSuite = .standard)
    where Value: DefaultConvertible {
        self.init(DefaultKey(name, default: defaultValue), in: suite)
    }

    /// Creates a setting of a type with a raw value. For an optional, give a key.
    @_disfavoredOverload
    public init<Raw: Codable & Sendable>(
        _ name: String, default defaultValue: Value, in suite: DefaultsSuite = .standard
    ) where Value: RawRepresentable<Raw> {
        self.init(DefaultKey(name, default: defaultValue), in: suite)
    }

    /// Creates the setting for a property of a ``DefaultConfig``:
    /// `@UserDefault() var camera: CameraConfig`.
    ///
    /// The key and the default are those of the type.
    public init(in suite: DefaultsSuite = .standard) where Value: DefaultConfig {
        self.init(DefaultKey(Value.self), in: suite)
    }

    /// Creates the setting for a property without an initial value:
    /// `@UserDefault("launchCount", defaultValue: 9) var launchCount: Int`.
    public init(_ name: String, defaultValue: Value, in suite: DefaultsSuite = .standard)
    where Value: Codable {
        self.init(DefaultKey(name, default: defaultValue), in: suite)
    }
}

// Mistakes for which the compiler shows a message of its own.
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
            "the value must be Codable and Sendable, or DefaultConvertible, or RawRepresentable; an element of a collection must be Codable"
    )
    public init(wrappedValue: Value, _ name: String, in suite: DefaultsSuite = .standard) {
        fatalError("unavailable")
    }

    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "the value must be Codable and Sendable, or DefaultConvertible, or RawRepresentable; for an optional that is not Codable, write UserDefault(DefaultKey<Mode?>(\"mode\", default: .fast))"
    )
    public init(_ name: String, default defaultValue: Value, in suite: DefaultsSuite = .standard) {
        fatalError("unavailable")
    }

    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "unless it is optional, a setting needs a default value: @UserDefault(\"launchCount\") var launchCount = 9"
    )
    public init(_ name: String, in suite: DefaultsSuite = .standard) { fatalError("unavailable") }
}
