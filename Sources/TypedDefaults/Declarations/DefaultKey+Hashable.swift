import SettingsFile

extension DefaultKey: Hashable {
    /// Returns whether both keys have the same name, by its UTF-8 bytes. Their defaults may differ.
    public static func == (lhs: DefaultKey, rhs: DefaultKey) -> Bool { lhs.name.hasSameBytes(as: rhs.name) }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(ByteString(name)) }
}

/// A key of any type, for sets, tables and loops.
public struct AnyDefaultKey: Hashable, Sendable {
    /// The name of the key.
    public let name: String
    /// The type of its values.
    public let valueType: any Sendable.Type
    private let declaration: any AnyDeclaration

    /// Creates a key that hides the type of another one.
    public init<Value>(_ key: DefaultKey<Value>) {
        name = key.name
        valueType = Value.self
        declaration = key.declaration
    }

    /// The names that the key had before, newest first.
    var formerNames: [String] { declaration.formerNames }

    /// The default as it would be stored; `nil` if the default is `nil`, or cannot be stored.
    public var defaultValue: PropertyList? { declaration.content.defaultValue ?? nil }

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
    /// The type and the name, and no default value.
    public var description: String { "AnyDefaultKey<\(valueType)>(“\(name)”)" }
}
