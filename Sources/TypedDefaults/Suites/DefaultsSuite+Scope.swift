import SettingsFile

extension DefaultsSuite {
    /// Returns a suite of those settings in this suite whose keys begin with a prefix.
    ///
    /// ```swift
    /// let suite = DefaultsSuite.standard.scoped("user-42/")
    /// suite[.quality] = 0.5  // is stored under “user-42/quality”
    /// ```
    ///
    /// The scope adds the prefix to each key that it is given, and removes it from each key that it
    /// returns. Errors name the full key, prefix included. End the prefix with a separator, because
    /// “user-4” is a prefix of “user-42” as well. ``replaceContents(with:)`` and
    /// ``removeAll(includingHistory:)`` of the whole suite include its scopes.
    ///
    /// Keep settings that all scopes share in the suite itself. ``onFailure`` and ``synchronize()``
    /// are those of the whole suite.
    public func scoped(_ prefix: String) -> DefaultsSuite {
        let whole = withPrefix(prefix)
        return DefaultsSuite(core: core, scope: whole.isEmpty ? nil : Scope(prefix: whole))
    }

    // An object, because a string would make each handle larger than a call can pass in registers.
    final class Scope: Sendable {
        let prefix: String

        init(prefix: String) { self.prefix = prefix }
    }

    /// Returns the key in the whole suite.
    func withPrefix(_ key: String) -> String {
        if let scope { scope.prefix + key } else { key }
    }

    /// Returns the key in this scope.
    ///
    /// - Parameter key: A key of the whole suite that begins with the prefix.
    func withoutPrefix(_ key: String) -> String {
        guard let scope else { return key }
        // By bytes, because a combining mark after the prefix belongs to its last character.
        return String(decoding: key.utf8.dropFirst(scope.prefix.utf8.count), as: UTF8.self)
    }

    func isInScope(_ key: String) -> Bool { scope.map { key.utf8.starts(with: $0.prefix.utf8) } ?? true }

    /// The keys of the settings in the scope that are stored, with the prefix.
    func settingsInScope() throws(DefaultsError) -> [String] { try keysInScope().filter { !Histories.isHistory($0) } }

    /// The keys of the scope that are stored, with the prefix: of settings, and of the histories of
    /// scopes.
    func keysInScope() throws(DefaultsError) -> [String] { try core.backend.keys().filter(isInScope) }
}

extension DefaultsSuite: Hashable {
    /// Returns whether both suites have the same core and the same scope.
    public static func == (lhs: DefaultsSuite, rhs: DefaultsSuite) -> Bool {
        lhs.core === rhs.core && lhs.withPrefix("").hasSameBytes(as: rhs.withPrefix(""))
    }

    /// Hashes the identity of the suite, not its values.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(core))
        hasher.combine(ByteString(withPrefix("")))
    }
}
