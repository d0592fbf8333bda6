// Every way to declare a setting, each the key's way with the name and the default spelled out: as a wrapper with an initial value
// or with `defaultValue:`, as a static setting with `default:`, and each under a string or a raw-valued name. For each kind of type once,
// as with ``DefaultKey``: `Codable` is preferred.

// As a wrapper: `@UserDefault("launchCount") var launchCount = 9`. An optional without an initial value has the default nil.
extension UserDefault {
    public init(wrappedValue: Value, _ name: String, in suite: DefaultsSuite = .standard) where Value: Codable {
        self.init(DefaultKey(name, default: wrappedValue), in: suite)
    }

    public init<Wrapped: Codable>(wrappedValue: Value = nil, _ name: String, in suite: DefaultsSuite = .standard)
    where Value == Wrapped? { self.init(DefaultKey(name, default: wrappedValue), in: suite) }

    @_disfavoredOverload
    public init(wrappedValue: Value, _ name: String, in suite: DefaultsSuite = .standard)
    where Value: DefaultConvertible { self.init(DefaultKey(name, default: wrappedValue), in: suite) }

    @_disfavoredOverload
    public init<Wrapped: DefaultConvertible>(
        wrappedValue: Value = nil, _ name: String, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped? { self.init(DefaultKey(name, default: wrappedValue), in: suite) }

    @_disfavoredOverload
    public init(wrappedValue: Value, _ name: String, in suite: DefaultsSuite = .standard)
    where Value: RawRepresentable, Value.RawValue: Codable & Sendable {
        self.init(DefaultKey(name, default: wrappedValue), in: suite)
    }

    @_disfavoredOverload
    public init<Wrapped: RawRepresentable & Sendable>(
        wrappedValue: Value = nil, _ name: String, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(DefaultKey(name, default: wrappedValue), in: suite)
    }

    @_disfavoredOverload
    public init(wrappedValue: Value, _ name: String, in suite: DefaultsSuite = .standard)
    where Value: DefaultConvertible & RawRepresentable, Value.RawValue: Codable & Sendable {
        self.init(DefaultKey(name, default: wrappedValue), in: suite)
    }

    @_disfavoredOverload
    public init<Wrapped: DefaultConvertible & RawRepresentable>(
        wrappedValue: Value = nil, _ name: String, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(DefaultKey(name, default: wrappedValue), in: suite)
    }

    public init(wrappedValue: Value, _ name: some RawRepresentable<String>, in suite: DefaultsSuite = .standard)
    where Value: Codable { self.init(DefaultKey(name.rawValue, default: wrappedValue), in: suite) }

    public init<Wrapped: Codable>(
        wrappedValue: Value = nil, _ name: some RawRepresentable<String>, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped? { self.init(DefaultKey(name.rawValue, default: wrappedValue), in: suite) }

    @_disfavoredOverload
    public init(wrappedValue: Value, _ name: some RawRepresentable<String>, in suite: DefaultsSuite = .standard)
    where Value: DefaultConvertible { self.init(DefaultKey(name.rawValue, default: wrappedValue), in: suite) }

    @_disfavoredOverload
    public init<Wrapped: DefaultConvertible>(
        wrappedValue: Value = nil, _ name: some RawRepresentable<String>, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped? { self.init(DefaultKey(name.rawValue, default: wrappedValue), in: suite) }

    @_disfavoredOverload
    public init(wrappedValue: Value, _ name: some RawRepresentable<String>, in suite: DefaultsSuite = .standard)
    where Value: RawRepresentable, Value.RawValue: Codable & Sendable {
        self.init(DefaultKey(name.rawValue, default: wrappedValue), in: suite)
    }

    @_disfavoredOverload
    public init<Wrapped: RawRepresentable & Sendable>(
        wrappedValue: Value = nil, _ name: some RawRepresentable<String>, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(DefaultKey(name.rawValue, default: wrappedValue), in: suite)
    }

    @_disfavoredOverload
    public init(wrappedValue: Value, _ name: some RawRepresentable<String>, in suite: DefaultsSuite = .standard)
    where Value: DefaultConvertible & RawRepresentable, Value.RawValue: Codable & Sendable {
        self.init(DefaultKey(name.rawValue, default: wrappedValue), in: suite)
    }

    @_disfavoredOverload
    public init<Wrapped: DefaultConvertible & RawRepresentable>(
        wrappedValue: Value = nil, _ name: some RawRepresentable<String>, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(DefaultKey(name.rawValue, default: wrappedValue), in: suite)
    }
}

// As a wrapper with its default in parentheses: `@UserDefault("launchCount", defaultValue: 9) var launchCount: Int`.
extension UserDefault {
    public init(_ name: String, defaultValue: Value, in suite: DefaultsSuite = .standard) where Value: Codable {
        self.init(DefaultKey(name, default: defaultValue), in: suite)
    }

    @_disfavoredOverload
    public init(_ name: String, defaultValue: Value, in suite: DefaultsSuite = .standard)
    where Value: DefaultConvertible { self.init(DefaultKey(name, default: defaultValue), in: suite) }

    @_disfavoredOverload
    public init<Wrapped: DefaultConvertible>(_ name: String, defaultValue: Value, in suite: DefaultsSuite = .standard)
    where Value == Wrapped? { self.init(DefaultKey(name, default: defaultValue), in: suite) }

    @_disfavoredOverload
    public init(_ name: String, defaultValue: Value, in suite: DefaultsSuite = .standard)
    where Value: RawRepresentable, Value.RawValue: Codable & Sendable {
        self.init(DefaultKey(name, default: defaultValue), in: suite)
    }

    @_disfavoredOverload
    public init<Wrapped: RawRepresentable & Sendable>(
        _ name: String, defaultValue: Value, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(DefaultKey(name, default: defaultValue), in: suite)
    }

    @_disfavoredOverload
    public init(_ name: String, defaultValue: Value, in suite: DefaultsSuite = .standard)
    where Value: DefaultConvertible & RawRepresentable, Value.RawValue: Codable & Sendable {
        self.init(DefaultKey(name, default: defaultValue), in: suite)
    }

    @_disfavoredOverload
    public init<Wrapped: DefaultConvertible & RawRepresentable>(
        _ name: String, defaultValue: Value, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(DefaultKey(name, default: defaultValue), in: suite)
    }

    public init(_ name: some RawRepresentable<String>, defaultValue: Value, in suite: DefaultsSuite = .standard)
    where Value: Codable { self.init(DefaultKey(name.rawValue, default: defaultValue), in: suite) }

    @_disfavoredOverload
    public init(_ name: some RawRepresentable<String>, defaultValue: Value, in suite: DefaultsSuite = .standard)
    where Value: DefaultConvertible { self.init(DefaultKey(name.rawValue, default: defaultValue), in: suite) }

    @_disfavoredOverload
    public init<Wrapped: DefaultConvertible>(
        _ name: some RawRepresentable<String>, defaultValue: Value, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped? { self.init(DefaultKey(name.rawValue, default: defaultValue), in: suite) }

    @_disfavoredOverload
    public init(_ name: some RawRepresentable<String>, defaultValue: Value, in suite: DefaultsSuite = .standard)
    where Value: RawRepresentable, Value.RawValue: Codable & Sendable {
        self.init(DefaultKey(name.rawValue, default: defaultValue), in: suite)
    }

    @_disfavoredOverload
    public init<Wrapped: RawRepresentable & Sendable>(
        _ name: some RawRepresentable<String>, defaultValue: Value, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(DefaultKey(name.rawValue, default: defaultValue), in: suite)
    }

    @_disfavoredOverload
    public init(_ name: some RawRepresentable<String>, defaultValue: Value, in suite: DefaultsSuite = .standard)
    where Value: DefaultConvertible & RawRepresentable, Value.RawValue: Codable & Sendable {
        self.init(DefaultKey(name.rawValue, default: defaultValue), in: suite)
    }

    @_disfavoredOverload
    public init<Wrapped: DefaultConvertible & RawRepresentable>(
        _ name: some RawRepresentable<String>, defaultValue: Value, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(DefaultKey(name.rawValue, default: defaultValue), in: suite)
    }
}

// As a static setting: `static let launchCount = UserDefault("launchCount", default: 9)`.
extension UserDefault {
    public init(_ name: String, default defaultValue: Value, in suite: DefaultsSuite = .standard) where Value: Codable {
        self.init(DefaultKey(name, default: defaultValue), in: suite)
    }

    @_disfavoredOverload
    public init(_ name: String, default defaultValue: Value, in suite: DefaultsSuite = .standard)
    where Value: DefaultConvertible { self.init(DefaultKey(name, default: defaultValue), in: suite) }

    @_disfavoredOverload
    public init<Wrapped: DefaultConvertible>(
        _ name: String, default defaultValue: Value, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped? { self.init(DefaultKey(name, default: defaultValue), in: suite) }

    @_disfavoredOverload
    public init(_ name: String, default defaultValue: Value, in suite: DefaultsSuite = .standard)
    where Value: RawRepresentable, Value.RawValue: Codable & Sendable {
        self.init(DefaultKey(name, default: defaultValue), in: suite)
    }

    @_disfavoredOverload
    public init<Wrapped: RawRepresentable & Sendable>(
        _ name: String, default defaultValue: Value, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(DefaultKey(name, default: defaultValue), in: suite)
    }

    @_disfavoredOverload
    public init(_ name: String, default defaultValue: Value, in suite: DefaultsSuite = .standard)
    where Value: DefaultConvertible & RawRepresentable, Value.RawValue: Codable & Sendable {
        self.init(DefaultKey(name, default: defaultValue), in: suite)
    }

    @_disfavoredOverload
    public init<Wrapped: DefaultConvertible & RawRepresentable>(
        _ name: String, default defaultValue: Value, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(DefaultKey(name, default: defaultValue), in: suite)
    }

    public init(_ name: some RawRepresentable<String>, default defaultValue: Value, in suite: DefaultsSuite = .standard)
    where Value: Codable { self.init(DefaultKey(name.rawValue, default: defaultValue), in: suite) }

    @_disfavoredOverload
    public init(_ name: some RawRepresentable<String>, default defaultValue: Value, in suite: DefaultsSuite = .standard)
    where Value: DefaultConvertible { self.init(DefaultKey(name.rawValue, default: defaultValue), in: suite) }

    @_disfavoredOverload
    public init<Wrapped: DefaultConvertible>(
        _ name: some RawRepresentable<String>, default defaultValue: Value, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped? { self.init(DefaultKey(name.rawValue, default: defaultValue), in: suite) }

    @_disfavoredOverload
    public init(_ name: some RawRepresentable<String>, default defaultValue: Value, in suite: DefaultsSuite = .standard)
    where Value: RawRepresentable, Value.RawValue: Codable & Sendable {
        self.init(DefaultKey(name.rawValue, default: defaultValue), in: suite)
    }

    @_disfavoredOverload
    public init<Wrapped: RawRepresentable & Sendable>(
        _ name: some RawRepresentable<String>, default defaultValue: Value, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(DefaultKey(name.rawValue, default: defaultValue), in: suite)
    }

    @_disfavoredOverload
    public init(_ name: some RawRepresentable<String>, default defaultValue: Value, in suite: DefaultsSuite = .standard)
    where Value: DefaultConvertible & RawRepresentable, Value.RawValue: Codable & Sendable {
        self.init(DefaultKey(name.rawValue, default: defaultValue), in: suite)
    }

    @_disfavoredOverload
    public init<Wrapped: DefaultConvertible & RawRepresentable>(
        _ name: some RawRepresentable<String>, default defaultValue: Value, in suite: DefaultsSuite = .standard
    ) where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(DefaultKey(name.rawValue, default: defaultValue), in: suite)
    }
}

// What gets a sentence from the compiler.
extension UserDefault {
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "the value must be Codable and Sendable, DefaultConvertible or have a raw value; an element of a collection must be Codable"
    )
    public init<Name>(wrappedValue: Value, _ name: Name, in suite: DefaultsSuite = .standard) {
        fatalError("unavailable")
    }

    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "the value must be Codable and Sendable, DefaultConvertible or have a raw value; an element of a collection must be Codable"
    )
    public init<Name>(_ name: Name, defaultValue: Value, in suite: DefaultsSuite = .standard) {
        fatalError("unavailable")
    }

    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "the value must be Codable and Sendable, DefaultConvertible or have a raw value; an element of a collection must be Codable"
    )
    public init<Name>(_ name: Name, default defaultValue: Value, in suite: DefaultsSuite = .standard) {
        fatalError("unavailable")
    }

    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "a setting needs a default value, unless it is optional: @UserDefault(\"launchCount\") var launchCount = 9"
    )
    public init(_ name: String, in suite: DefaultsSuite = .standard) {
        fatalError("unavailable")
    }

    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "a setting needs a default value, unless it is optional: @UserDefault(\"launchCount\") var launchCount = 9"
    )
    public init(_ name: some RawRepresentable<String>, in suite: DefaultsSuite = .standard) {
        fatalError("unavailable")
    }
}
