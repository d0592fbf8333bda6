// See `Descriptions.swift`.

extension UserDefault: DiscreetlyDescribed {
    /// The type, the key and the suite, without the stored value.
    public var description: String { "UserDefault<\(Value.self)>(\(name))" }
}

extension StorableConfigBase.Stored: DiscreetlyDescribed {
    /// The type, the key and the suite, without the stored value.
    public var description: String { "Stored<\(Value.self)>(\(name.map { "\($0)" } ?? "not bound yet"))" }
}

extension DefaultKey: DiscreetlyDescribed {
    /// The type and the name, without the default value.
    public var description: String { "DefaultKey<\(Value.self)>(“\(name)”)" }
}
