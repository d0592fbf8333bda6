// What stores, settings and changes print: names, and no stored value. Reflection finds nothing in
// them either, so a `dump` of what they are part of shows no value.

extension Setting: DiscreetlyDescribed {
    var description: String { "Setting<\(Value.self)>(\(name))" }
}

extension PersistentStore: DiscreetlyDescribed {
    /// The type, the key and the suite, and no stored value.
    public var description: String { "PersistentStore<\(Default.self)>(\(name))" }
}

extension InMemoryStore: DiscreetlyDescribed {
    /// The type, and no stored value.
    public var description: String { "InMemoryStore<\(Default.self)>" }
}

extension AnyStore: DiscreetlyDescribed {
    /// The description of the store that is hidden; of a store of your own only its type.
    public var description: String { "AnyStore(\(describe(base)))" }
}

extension MappedStore: DiscreetlyDescribed {
    var description: String { "\(describe(base)).map(\(Part.self))" }
}

extension DefaultChange: DiscreetlyDescribed {
    /// The type, the key and the suite, what happened and who did it, and no value.
    public var description: String {
        let name = name.map { " of \($0)" } ?? ""
        return "DefaultChange<\(Value.self)>(\(kind)\(name) by \(origin))"
    }
}

extension DefaultUpdates: DiscreetlyDescribed {
    /// The type, and no value.
    public var description: String { "DefaultUpdates<\(Element.self)>" }
}

extension DefaultUpdates.AsyncIterator: CustomStringConvertible, CustomReflectable {
    /// The type, and no value.
    public var description: String { "DefaultUpdates<\(Element.self)>.AsyncIterator" }
    /// Empty, so that `dump` shows no value.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The description of a store. One that is not of this library may print what it holds.
private func describe<Store: DefaultStoreType>(_ store: Store) -> String {
    (store as? any DiscreetlyDescribed)?.description ?? "\(Store.self)"
}
