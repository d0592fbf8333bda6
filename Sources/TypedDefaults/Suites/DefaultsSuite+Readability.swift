import SettingsFile

extension DefaultsSuite {
    /// Throws if the suite cannot be read completely.
    ///
    /// Reading a setting returns its default if the suite cannot be read. A server that must not
    /// run on defaults calls this first:
    ///
    /// ```swift
    /// try DefaultsSuite.standard.checkReadability()
    /// ```
    ///
    /// A missing or empty file is an empty suite. Damage that a program has already set aside is
    /// not found.
    /// For one value, `load()` throws if its type cannot be created from the stored value.
    ///
    /// - Throws: A ``DefaultsError`` of kind ``DefaultsError/Kind/unavailable`` if the file or its
    ///   folder cannot be used, belongs to another user, is damaged, or has a value or a format of
    ///   a newer version of this library. With another backend, the error of reading all keys and
    ///   values.
    public func checkReadability() throws {
        let suite = current
        if let path = suite.core.settingsFile?.traits.location {
            // Opens the file again: where it is open, the values that were read before stay in use.
            let file = FileBackend(path: path)
            let isReadable = try file.keys().allSatisfy { (try? file.value(forKey: $0)) != nil }
            guard isReadable, !file.isDamaged else {
                let problem = isReadable ? "is damaged" : "has values that this version cannot read"
                throw DefaultsError(
                    .unavailable, reason: "the settings file \(path) \(problem); see typed-defaults check")
            }
        }
        _ = try suite.contents()
    }
}
