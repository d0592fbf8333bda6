extension DefaultsSuite {
    /// The value of a key; its default where nothing is stored, or where what is stored cannot be read, which the failure handler hears.
    ///
    /// `suite[.count] += 1` is a read and then a write, and another thread can come between: ``DefaultStoreType/update(_:)`` of
    /// `PersistentStore(.count, suite: suite)` is one step.
    public subscript<Value>(key: DefaultKey<Value>) -> Value {
        get { setting(key).get(or: key.defaultValue) }
        nonmutating set { setting(key).set(newValue) }
    }

    private func setting<Value>(_ key: DefaultKey<Value>) -> Setting<Value> {
        // To look at a stored value as it is, as a dump of all keys does, declares nothing.
        Setting(self, key, isDeclaring: key.declaration.conversion.kind != .propertyList)
    }
}

extension Setting {
    init(_ suite: DefaultsSuite, _ key: DefaultKey<Value>, isDeclaring: Bool = true) {
        self.init(suite, key: key.name, declaredBy: key.declaration, isDeclaring: isDeclaring)
    }
}
