import SettingsFile

extension DefaultKey {
    /// Returns every fault of a value that is stored, or about to be stored, under this key.
    ///
    /// ```swift
    /// let faults = DefaultKey(Resize.self).faults(in: try PropertyList(json: body))
    /// guard faults.isEmpty else { return respond(.badRequest, faults) }
    /// ```
    ///
    /// Reading a setting is tolerant: a part at fault takes its value from the default. This lists
    /// all of these parts. The kind of an error tells what is wrong:
    ///
    /// - *unreadable*: the type cannot read the part, or has none of the stored entries;
    /// - *invalid*: the part breaks a ``DefaultRule``, which may correct it;
    /// - *refused*: it cannot be stored;
    /// - *unknown entry*: the type does not have it: it is misspelled, or of another version.
    ///
    /// No error contains a value. A type with a conversion of its own has no parts, and a struct
    /// without properties knows no entry.
    public func faults(in value: PropertyList) -> [DefaultsError] {
        declaration.conversion.faults(in: value).map { $0.about(key: name) }
    }
}

extension SuiteContents {
    /// Returns every fault of the values of keys, such as of imported ones. See
    /// ``DefaultKey/faults(in:)``.
    public func faults<each Value>(_ keys: repeat DefaultKey<each Value>) -> [DefaultsError] {
        var faults: [DefaultsError] = []
        repeat faults.append(contentsOf: self.faults(of: each keys))
        return faults
    }

    fileprivate func faults<Value>(of key: DefaultKey<Value>) -> [DefaultsError] {
        if let stored = stored(key.name) {
            return key.declaration.conversion.faults(in: stored).map { $0.about(key: base.key(of: key.name)) }
        }
        guard contains(key), let error = base.unreadable[ByteString(key.name)] else { return [] }
        return [error.about(key: base.key(of: key.name))]
    }
}

extension DefaultsSuite {
    /// Returns every fault of the stored values of keys, from one consistent snapshot. See
    /// ``DefaultKey/faults(in:)``.
    ///
    /// - Throws: A ``DefaultsError`` if the suite cannot be read.
    public func faults<each Value>(_ keys: repeat DefaultKey<each Value>) throws -> [DefaultsError] {
        try contents().faults(repeat each keys)
    }

    /// Throws if the suite, or the value of one of the keys, cannot be read completely.
    ///
    /// ```swift
    /// try DefaultsSuite.standard.checkReadability(.port, DefaultKey(TLSConfig.self))
    /// ```
    ///
    /// A server that must not run on defaults calls this first: a value that cannot be read, or a
    /// part of it, is the default. An entry that the type does not have is no failure, so that a
    /// release can be rolled back; ``faults(_:)`` lists it. A value of which the type has no entry
    /// at all is a failure. Of a layer, only its own contents tell; see <doc:Layers>.
    ///
    /// - Throws: The error of ``checkReadability()``, or of the first value at fault.
    public func checkReadability<First, each Other>(
        _ first: DefaultKey<First>, _ others: repeat DefaultKey<each Other>
    ) throws {
        try checkReadability()
        let faults = try faults(first, repeat each others)
        if let fault = faults.first(where: { $0.kind != .unknownEntry }) { throw fault }
    }

    /// Throws if the suite, or the value of one of the types, cannot be read completely. See
    /// ``checkReadability(_:_:)-(DefaultKey<First>,_)``.
    public func checkReadability<First: DefaultConfig, each Other: DefaultConfig>(
        _ first: First.Type, _ others: repeat (each Other).Type
    ) throws {
        try checkReadability(DefaultKey(first), repeat DefaultKey(each others))
    }
}
