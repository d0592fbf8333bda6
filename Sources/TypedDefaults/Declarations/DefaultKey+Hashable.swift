import SettingsFile

extension DefaultKey: Hashable {
    /// Returns whether both keys have the same name, by its UTF-8 bytes. Their defaults may differ.
    public static func == (lhs: DefaultKey, rhs: DefaultKey) -> Bool { lhs.name.hasSameBytes(as: rhs.name) }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(ByteString(name)) }
}

/// A type-erased ``DefaultKey``, for collections of keys with different types.
public struct AnyDefaultKey: Hashable, Sendable {
    /// The name of the key.
    public let name: String
    /// The type of its values.
    public let valueType: any Sendable.Type
    private let declaration: any AnyDeclaration

    /// Erases the type of a key.
    public init<Value>(_ key: DefaultKey<Value>) {
        name = key.name
        valueType = Value.self
        declaration = key.declaration
    }

    /// The default in its stored form; `nil` if the default is `nil` or cannot be stored.
    public var defaultValue: PropertyList? { declaration.encodedDefault }

    /// Returns whether both keys have the same name, by its UTF-8 bytes, and the same type.
    public static func == (lhs: AnyDefaultKey, rhs: AnyDefaultKey) -> Bool {
        lhs.name.hasSameBytes(as: rhs.name) && lhs.valueType == rhs.valueType
    }

    /// Hashes the name and the type.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ByteString(name))
        hasher.combine(ObjectIdentifier(valueType))
    }
}

extension AnyDefaultKey: DiscreetlyDescribed {
    /// The type and the name, without the default value.
    public var description: String { "AnyDefaultKey<\(valueType)>(“\(name)”)" }
}
