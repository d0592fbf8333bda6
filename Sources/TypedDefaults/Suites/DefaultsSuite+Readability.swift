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
    /// A missing file is an empty suite. Damage is left for `typed-defaults check`; the next access
    /// to a setting would set it aside. Damage that a program has already set aside is not found.
    /// For one value, `load()` throws if its type cannot be created from the stored value.
    ///
    /// - Throws: A ``DefaultsError`` of kind ``DefaultsError/Kind/unavailable`` if the file or its
    ///   folder cannot be used, belongs to another user, is damaged, or has a value or a format of
    ///   a newer version of this library. With another backend, the error of reading all keys and
    ///   values.
    public func checkReadability() throws {
        let suite = current
        if let path = suite.core.settingsFile?.traits.location, let file = try FileInspection(path) {
            guard file.isComplete, file.values.count == file.keys.count else {
                let problems = file.problems.joined(separator: "; ")
                throw DefaultsError(
                    .unavailable, reason: "the settings file \(path) \(problems); see typed-defaults check")
            }
        }
        _ = try suite.contents()
    }
}
