import SettingsFile

/// The name, type and default value of a setting, declared in one place.
///
/// ```swift
/// nonisolated extension DefaultKey<Double> {
///     static let quality = DefaultKey("quality", default: 0.8)
/// }
///
/// suite[.quality] = 0.5
/// ```
///
/// Reading returns the default until a value is stored. The default is not registered or written
/// anywhere, so the next version of a program can change it.
///
/// The value can be `Codable`, ``DefaultConvertible``, have a raw value, or be an optional of such
/// a type. Storing `nil` removes the key, so reading then returns the default, even if that is not
/// `nil`.
///
/// In a module that is isolated to the main actor by default, as in new app projects of Xcode 26,
/// mark your own `Codable` value types, and the extensions and enums that contain keys, as
/// `nonisolated`. In other modules this changes nothing.
///
/// If a stored `Codable` struct lacks a property that a later version of the program added, or
/// holds one that cannot be read, that property takes its value from the default, in JSON data as
/// well.
///
/// If you rename a key, move the stored value in a step of a ``DefaultsMigrator``:
/// ``SuiteContents/rename(_:to:)``.
///
/// Do not declare one name with two types: each declaration finds the values of the other
/// *unreadable*, and copies them to another key before it overwrites them. If a process uses both
/// in one suite, the failure handler receives one error.
///
/// ## Topics
///
/// ### The key
///
/// - ``name``
/// - ``defaultValue``
/// - ``rule``
/// - ``faults(in:)``
/// - ``Form``
///
/// ### Creating a key
///
/// - ``init(_:default:form:rule:)``
/// - ``init(_:)-(Value.Type)``
/// - ``init(_:)-(String)``
public struct DefaultKey<Value: Sendable>: Sendable {
    /// How a value is stored.
    public enum Form: Sendable {
        /// As property list objects.
        case propertyList
        /// As JSON data, for a suite that you share with code that reads and writes JSON.
        ///
        /// A number that is not finite is refused. Storing `nil` still removes the key. Values
        /// stored as property lists can be read, too. A write replaces the data as a whole: if the
        /// type does not know all entries of the old value, the old value is first copied to
        /// `<key>.unreadable`.
        case jsonData
    }

    /// The key under which the value is stored. It can be any string of up to 4,096 bytes and is
    /// compared by its UTF-8 bytes.
    public var name: String { declaration.name }
    /// The value that reading returns if no value is stored.
    public var defaultValue: Value { declaration.defaultBox!.value }  // Safe: `init` passes one.
    /// What a value must be; `nil` if all values are valid. The rules of a config are those of its
    /// type: ``DefaultConfig/rules``.
    public var rule: DefaultRule<Value>? { declaration.rule }
    // One object for everything, so that keys of all types have the same layout, and the compiler
    // has little to do for a struct of many wrappers. Otherwise, generic code would look up the
    // type to find a field.
    let declaration: Declaration<Value>

    init(
        _ name: String, _ defaultValue: Value, _ conversion: Conversion<Value>, _ rule: DefaultRule<Value>? = nil
    ) {
        declaration = Declaration(name, conversion, default: Box(defaultValue), rule: rule)
    }
}

extension DefaultKey: Hashable {
    /// Returns whether both keys have the same name and form. They may have different defaults and
    /// rules.
    public static func == (lhs: DefaultKey, rhs: DefaultKey) -> Bool {
        lhs.name.hasSameBytes(as: rhs.name) && lhs.declaration.conversion.kind == rhs.declaration.conversion.kind
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(ByteString(name)) }
}

// `UserDefault+Declaring` explains which initializer is chosen if several fit. The one for
// `Codable` uses the type's own conversion if the type is also `DefaultConvertible`.
extension DefaultKey {
    /// Creates a key for a `Codable` value, which is stored in the given form. A key for a
    /// ``PropertyList`` is one for a stored value of any type.
    ///
    /// A `rule` says what a value must be; `nil` if all values are valid.
    public init(
        _ name: String, default value: Value, form: Form = .propertyList, rule: DefaultRule<Value>? = nil
    ) where Value: Codable {
        let conversion: Conversion<Value> =
            switch form {
            case .propertyList: .codable(fallback: value)
            case .jsonData: .jsonData(fallback: value)
            }
        if let rule {
            self.init(name, value, conversion.following([rule]), rule)
        } else {
            self.init(name, value, conversion)
        }
    }

    /// Creates a key for a ``DefaultConvertible`` value.
    public init(_ name: String, default value: Value) where Value: DefaultConvertible {
        self.init(name, value, .convertible)
    }

    /// Creates a key for an optional ``DefaultConvertible`` value.
    public init<Wrapped: DefaultConvertible>(_ name: String, default value: Value = nil) where Value == Wrapped? {
        self.init(name, value, Conversion<Wrapped>.convertible.optional)
    }

    /// Creates a key for a value that is stored as its raw value.
    @_disfavoredOverload
    public init<Raw: Codable & Sendable>(_ name: String, default value: Value)
    where Value: RawRepresentable<Raw> {
        self.init(name, value, .rawValue)
    }

    /// Creates a key for an optional value that is stored as its raw value.
    @_disfavoredOverload
    public init<Wrapped: RawRepresentable & Sendable>(_ name: String, default value: Value = nil)
    where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(name, value, Conversion<Wrapped>.rawValue.optional)
    }

    /// Creates a key for an optional value with the default `nil`.
    @_disfavoredOverload
    public init<Wrapped: Codable>(_ name: String) where Value == Wrapped? {
        self.init(name, nil, .codable)
    }

    /// Creates the key of a ``DefaultConfig``, whose default is a new instance.
    public init(_ type: Value.Type) where Value: DefaultConfig { declaration = .ofConfig }

    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "the value must be Codable, DefaultConvertible or RawRepresentable; an element of a collection must be Codable"
    )
    public init(_ name: String, default value: Value) {
        fatalError("unavailable")
    }
}

extension DefaultKey: DiscreetlyDescribed {
    /// The type and the name, without the default value.
    var summary: String { "DefaultKey<\(Value.self)>(“\(name)”)" }
}
