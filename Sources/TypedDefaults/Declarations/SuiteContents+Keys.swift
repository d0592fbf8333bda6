import SettingsFile

extension SuiteContents {
    /// The value of a key. Returns the key's default if no value is stored, or none that can be
    /// read.
    ///
    /// Assigning a value over one that cannot be read keeps a copy of the old one under
    /// `<key>.unreadable`.
    public subscript<Value>(key: DefaultKey<Value>) -> Value {
        get { read(key.name, key.declaration) ?? key.defaultValue }
        set { write(newValue, key.name, key.declaration) }
    }

    /// Returns the value of a key, or the key's default if no value is stored.
    ///
    /// - Throws: A ``DefaultsError`` if the value cannot be read.
    public func read<Value>(_ key: DefaultKey<Value>) throws -> Value {
        try load(key.name, key.declaration) ?? key.defaultValue
    }

    /// Removes the values of one or more keys.
    ///
    /// If you have read a key here and its value could not be read, a copy of it is kept under
    /// `<key>.unreadable`, because you got the default in its place.
    // The first one apart: a pack may be empty, and `remove()` would do nothing.
    public mutating func remove<First, each Other>(
        _ key: DefaultKey<First>, _ others: repeat DefaultKey<each Other>
    ) {
        remove(key.name, key.declaration)
        repeat remove((each others).name, (each others).declaration)
    }

    /// Returns whether a value is stored under the key, readable or not.
    public func contains<Value>(_ key: DefaultKey<Value>) -> Bool {
        if let edit = edits[ByteString(key.name)] { return edit != nil }
        return ([key.name] + key.declaration.formerNames).contains { stored($0) != nil || base.isUnknown($0) }
    }
}
