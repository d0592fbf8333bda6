#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    extension DefaultsSuite {
        /// Returns the suite of a name on Apple platforms: the `UserDefaults` with that suite name,
        /// such as an app group.
        static func onUserDefaults(name: String) throws -> DefaultsSuite {
            try check(name: name)
            // This name means the program's own settings.
            if name == UserDefaultsRules.standard { return DefaultsSuite(userDefaults: .standard) }
            let core = try SuiteCore.shared(id: CoreID(domain: name)) { () throws(DefaultsError) in
                guard let userDefaults = UserDefaults(suiteName: name) else {
                    throw DefaultsError(.invalidName, reason: "the system reserves this name")
                }
                return UserDefaultsBackend(userDefaults, suiteName: name)
            }
            return DefaultsSuite(core: core)
        }
    }
#endif
