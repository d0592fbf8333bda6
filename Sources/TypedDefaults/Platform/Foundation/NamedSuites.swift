#if canImport(Darwin) || UserDefaults
    import Foundation

    extension DefaultsSuite {
        /// The program's own settings.
        ///
        /// On Apple platforms `UserDefaults.standard`. On Linux the same for now, with the package trait `UserDefaults`, in
        /// `~/.config/<executable>.plist`: programs of one file name share it, so prefer a suite of your own name. See
        /// ``UserDefaultsBackend`` for what that cannot promise there.
        public static let standard = DefaultsSuite(userDefaults: .standard)

        /// The settings of that name; on Apple platforms an app group or the like.
        ///
        /// - Throws: ``DefaultsError/Kind/invalidName`` unless the name is 1 to 200 letters, digits, `.`, `_` and `-` of ASCII, and
        ///   does not begin with a dot.
        public init(name: String) throws {
            try Self.check(name: name)
            // The program's own settings under their other name: a second object would not see what the first one has not saved.
            if FoundationDomain.isStandard(name) {
                self = .standard
                return
            }
            core = try SuiteCore.shared(id: name) { () throws(DefaultsError) in
                guard let userDefaults = UserDefaults(suiteName: name) else {
                    throw DefaultsError(.invalidName, reason: "the system keeps this name for itself")
                }
                return UserDefaultsBackend(userDefaults, suiteName: name)
            }
        }
    }
#else
    extension DefaultsSuite {
        /// The program's own settings: *unavailable*, unless the package trait `UserDefaults` is enabled.
        public static let standard = DefaultsSuite(backend: UnavailableBackend())

        /// The settings of that name: *unavailable*, unless the package trait `UserDefaults` is enabled.
        ///
        /// - Throws: ``DefaultsError/Kind/invalidName`` unless the name is 1 to 200 letters, digits, `.`, `_` and `-` of ASCII, and
        ///   does not begin with a dot.
        public init(name: String) throws {
            try Self.check(name: name)
            self.init(backend: UnavailableBackend())
        }
    }

    /// Stands where this build has no place for settings. Goes when the settings file comes.
    final class UnavailableBackend: DefaultsBackend {
        private let error = DefaultsError(
            .unavailable, reason: "this build has no place for settings: enable the trait UserDefaults of TypedDefaults"
        )

        func value(forKey key: String) throws(DefaultsError) -> PropertyList? { throw error }
        func keys() throws(DefaultsError) -> [String] { throw error }
        func withWriteAccess(_ body: () -> Void) { body() }
        func commit(_ edits: [(key: String, value: PropertyList?)]) throws(DefaultsError) { throw error }
        func synchronize() throws(DefaultsError) { throw error }
    }
#endif
