/// The name, type and default value of a setting, declared in one place.
///
/// ```swift
/// extension DefaultKey<Double> {
///     static let quality = DefaultKey("quality", default: 0.8)
/// }
///
/// suite[.quality] = 0.5
/// ```
///
/// The default is what reads as long as nothing is stored. It is not registered or written
/// anywhere: what a declaration says in the code holds from the first launch on, and changes with
/// the code.
///
/// The value may be `Codable`, ``DefaultConvertible`` or have a raw value, or be an optional of
/// such a type; then nil is stored by removing the key, and where the default is not nil, that is
/// what reads again.
///
/// In a module that is isolated to the main actor by default, a `Codable` type of one's own needs
/// `nonisolated` to be a value here, and so does an enum that holds keys.
///
/// Of a `Codable` struct a stored property that is missing, because a later version of the program
/// has added it, reads as in the default, in JSON data as well.
///
/// If you rename a key, name the former ones, newest first:
/// `DefaultKey("quality", formerly: "q", default: 0.8)`. A value that is stored under one of them
/// is read as long as there is none under the key, and the first write moves it as one commit.
///
/// Two declarations of one name with different types find each other's values *unreadable*, and
/// move them aside when they write. Where both are used with one suite in one process, the failure
/// handler receives one error, as for two with different defaults. A computed property may return a
/// key whose default differs each time, as one with `UUID()` does: that is one declaration.
public struct DefaultKey<Value: Sendable>: Sendable {
    /// How a value is stored.
    public enum Form: Sendable {
        /// As the plain objects of a property list.
        case propertyList
        /// As JSON in data, for a suite that is shared with code that reads and writes it so.
        ///
        /// A value that JSON does not give back the same is refused, as is a number that is not
        /// finite. Of an optional, nil still removes the key. A property list is read as well.
        case jsonData
    }

    /// The key under which the value is stored, compared by its bytes: any string of up to 4,096
    /// bytes.
    public let name: String
    /// What reads where nothing is stored.
    public var defaultValue: Value { defaultBox.value }
    let declaration: Declaration<Value>
    // An object, so that a key has the same layout for all types. Otherwise generic code looks up
    // the type to find a field.
    private let defaultBox: Box<Value>

    private init(
        _ name: String, _ formerNames: [String], _ defaultValue: Value, _ conversion: Conversion<Value>,
        _ site: DeclarationSite?
    ) {
        self.name = name
        defaultBox = Box(defaultValue)
        declaration = Declaration(conversion, default: defaultBox, formerNames: formerNames, site: site)
    }

    /// Returns a key that also reads what is stored under those names, newest first, and whose
    /// first write moves it.
    func formerly(_ names: [String]) -> DefaultKey {
        names.isEmpty ? self : DefaultKey(name, names, defaultValue, declaration.conversion, declaration.site)
    }
}

// One initialiser for each kind of type. `Codable` is preferred, since most types are, and then
// lets a type that is also `DefaultConvertible` convert itself.
extension DefaultKey {
    /// Creates a key of a `Codable` value.
    public init(
        _ name: String, formerly: String..., default value: Value, fileID: StaticString = #fileID, line: UInt = #line
    )
    where Value: Codable {
        self.init(name, formerly, value, .codable(fallback: value), DeclarationSite(fileID: fileID, line: line))
    }

    /// Creates a key of a value that converts itself.
    @_disfavoredOverload
    public init(
        _ name: String, formerly: String..., default value: Value, fileID: StaticString = #fileID, line: UInt = #line
    )
    where Value: DefaultConvertible {
        self.init(name, formerly, value, .convertible, DeclarationSite(fileID: fileID, line: line))
    }

    /// Creates a key of an optional value that converts itself.
    @_disfavoredOverload
    public init<Wrapped: DefaultConvertible>(
        _ name: String, formerly: String..., default value: Value = nil, fileID: StaticString = #fileID,
        line: UInt = #line
    ) where Value == Wrapped? {
        self.init(
            name, formerly, value, Conversion<Wrapped>.convertible.optional, DeclarationSite(fileID: fileID, line: line)
        )
    }

    /// Creates a key of a value that is stored as its raw value.
    @_disfavoredOverload
    public init(
        _ name: String, formerly: String..., default value: Value, fileID: StaticString = #fileID, line: UInt = #line
    )
    where Value: RawRepresentable, Value.RawValue: Codable & Sendable {
        self.init(name, formerly, value, .rawValue, DeclarationSite(fileID: fileID, line: line))
    }

    /// Creates a key of an optional value that is stored as its raw value.
    @_disfavoredOverload
    public init<Wrapped: RawRepresentable & Sendable>(
        _ name: String, formerly: String..., default value: Value = nil, fileID: StaticString = #fileID,
        line: UInt = #line
    )
    where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(
            name, formerly, value, Conversion<Wrapped>.rawValue.optional, DeclarationSite(fileID: fileID, line: line))
    }

    /// Creates a key of a value with a raw value that converts itself.
    @_disfavoredOverload
    public init(
        _ name: String, formerly: String..., default value: Value, fileID: StaticString = #fileID, line: UInt = #line
    )
    where Value: DefaultConvertible & RawRepresentable, Value.RawValue: Codable & Sendable {
        self.init(name, formerly, value, .convertible, DeclarationSite(fileID: fileID, line: line))
    }

    /// Creates a key of an optional value with a raw value that converts itself.
    @_disfavoredOverload
    public init<Wrapped: DefaultConvertible & RawRepresentable>(
        _ name: String, formerly: String..., default value: Value = nil, fileID: StaticString = #fileID,
        line: UInt = #line
    )
    where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(
            name, formerly, value, Conversion<Wrapped>.convertible.optional, DeclarationSite(fileID: fileID, line: line)
        )
    }

    /// Creates a key for a value that is stored in that form.
    public init(
        _ name: String, formerly: String..., default value: Value, form: Form, fileID: StaticString = #fileID,
        line: UInt = #line
    )
    where Value: Codable {
        let conversion: Conversion<Value> =
            switch form {
            case .propertyList: .codable(fallback: value)
            case .jsonData: .jsonData(fallback: value)
            }
        self.init(name, formerly, value, conversion, DeclarationSite(fileID: fileID, line: line))
    }

    /// Creates a key of optional type whose default is nil.
    public init<Wrapped: Codable>(
        _ name: String, formerly: String..., fileID: StaticString = #fileID, line: UInt = #line
    )
    where Value == Wrapped? {
        self.init(name, formerly, nil, .codable, DeclarationSite(fileID: fileID, line: line))
    }

    /// Creates the key of a ``DefaultConfig``, whose default is a new instance.
    public init(_ type: Value.Type, fileID: StaticString = #fileID, line: UInt = #line) where Value: DefaultConfig {
        self.init(
            Value.key, Value.formerKeys, Value.defaultInstance, .convertible,
            DeclarationSite(fileID: fileID, line: line))
    }

    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "the value must be Codable, DefaultConvertible or have a raw value; an element of a collection must be Codable"
    )
    public init(_ name: String, formerly: String..., default value: Value) {
        fatalError("unavailable")
    }

    /// Creates a key for whatever is stored, as it is.
    public init(
        _ name: String, formerly: String..., default value: PropertyList? = nil, fileID: StaticString = #fileID,
        line: UInt = #line
    )
    where Value == PropertyList? {
        self.init(
            name, formerly, value, Conversion<PropertyList>.propertyList.optional,
            DeclarationSite(fileID: fileID, line: line))
    }
}
