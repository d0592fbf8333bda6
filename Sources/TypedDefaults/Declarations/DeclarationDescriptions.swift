// See `Descriptions.swift`.

extension UserDefault: DiscreetlyDescribed {
    /// The type, the key and the suite, without the stored value.
    var summary: String { "UserDefault<\(Value.self)>(\(name))" }
}

extension DefaultKey: DiscreetlyDescribed {
    /// The type and the name, without the default value.
    var summary: String { "DefaultKey<\(Value.self)>(“\(name)”)" }
}
