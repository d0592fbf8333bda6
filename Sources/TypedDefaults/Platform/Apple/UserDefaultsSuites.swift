#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    extension DefaultsSuite {
        /// What a name means on Apple platforms: the `UserDefaults` of that suite name, such as that of an app group.
        static func onUserDefaults(name: String) throws -> DefaultsSuite {
            try check(name: name)
            // The program's own settings under their other name.
            if name == FoundationDomain.standard { return DefaultsSuite(userDefaults: .standard) }
            let core = try SuiteCore.shared(id: UserDefaultsDomain(name: name)) { () throws(DefaultsError) in
                guard let userDefaults = UserDefaults(suiteName: name) else {
                    throw DefaultsError(.invalidName, reason: "the system keeps this name for itself")
                }
                return UserDefaultsBackend(userDefaults, suiteName: name)
            }
            return DefaultsSuite(core: core)
        }
    }
#endif
