// Descriptions of stores, settings and changes contain names but no stored values. Their mirrors
// are empty, so that `dump` shows no values either.

extension Setting: DiscreetlyDescribed {
    var summary: String { "Setting<\(Value.self)>(\(name))" }
}

extension PersistentStore: DiscreetlyDescribed {
    /// The type, the key and the suite, without the stored value.
    var summary: String { "PersistentStore<\(Default.self)>(\(name))" }
}

extension InMemoryStore: DiscreetlyDescribed {
    /// The type, without the stored value.
    var summary: String { "InMemoryStore<\(Default.self)>" }
}

extension AnyStore: DiscreetlyDescribed {
    /// The description of the underlying store; for a store of your own, only its type.
    var summary: String { "AnyStore(\(describe(base)))" }
}

extension MappedStore: DiscreetlyDescribed {
    var summary: String { "\(describe(base.base)).map(\(Part.self))" }
}

extension DefaultChange: DiscreetlyDescribed {
    /// The type, the key, the suite, the kind and the origin of the change, without the values.
    var summary: String {
        let name = name.map { " of \($0)" } ?? ""
        return "DefaultChange<\(Value.self)>(\(kind)\(name) by \(origin))"
    }
}

extension DefaultUpdates: DiscreetlyDescribed {
    /// The type, without the values.
    var summary: String { "DefaultUpdates<\(Element.self)>" }
}

extension DefaultUpdates.AsyncIterator: DiscreetlyDescribed {
    /// The type, without the values.
    var summary: String { "DefaultUpdates<\(Element.self)>.AsyncIterator" }
}

/// Returns the description of a store. A store from outside this library might include its value in
/// its description, so only its type is returned.
private func describe<Store: DefaultStoreType>(_ store: Store) -> String {
    (store as? any DiscreetlyDescribed)?.description ?? "\(Store.self)"
}
