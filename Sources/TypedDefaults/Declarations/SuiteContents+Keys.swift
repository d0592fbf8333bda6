extension SuiteContents {
    /// The value of a key. If no value is stored, that of a layer after
    /// ``DefaultsSuite/Layer/stored``, or the key's default, which is also returned if the stored
    /// value cannot be read.
    ///
    /// If the old value cannot be read, assigning a new one keeps a copy of the old value under
    /// `<key>.unreadable`.
    public subscript<Value>(key: DefaultKey<Value>) -> Value {
        get { read(key.name, key.declaration, orBehind: true) ?? key.defaultValue }
        set { write(newValue, key.name, key.declaration) }
        _modify {
            var value = editable(self[key], key.declaration.conversion)
            defer { write(value, key.name, key.declaration, isAssigned: false) }
            yield &value
        }
    }

    /// Returns the value of a key, or the key's default if no value is stored.
    ///
    /// - Throws: A ``DefaultsError`` if the value cannot be read.
    public func read<Value>(_ key: DefaultKey<Value>) throws -> Value {
        try load(key.name, key.declaration, orBehind: true) ?? key.defaultValue
    }

    /// Removes the values of one or more keys.
    ///
    /// If you have read a key here and got the default because its value is unreadable, a copy of
    /// the value is kept under `<key>.unreadable`.
    // The first key is a separate parameter, because a parameter pack can be empty.
    public mutating func remove<First, each Other>(
        _ key: DefaultKey<First>, _ others: repeat DefaultKey<each Other>
    ) {
        remove(key.name, key.declaration)
        repeat remove((each others).name, (each others).declaration)
    }

    /// Returns whether a value is stored under the key, even if it cannot be read.
    public func contains<Value>(_ key: DefaultKey<Value>) -> Bool {
        stored(key.name) != nil || !isEdited(key.name) && base.isUnreadable(key.name)
    }
}
