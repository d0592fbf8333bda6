import SettingsFile

#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    /// The behavior of `UserDefaults` on Apple platforms, where the system manages the domains.
    /// *Not tested on Apple platforms.*
    enum UserDefaultsRules {
        /// The domain of `UserDefaults.standard`. For a program without a bundle, such as a
        /// command-line tool, `kCFPreferencesCurrentApplication` means a domain named after the
        /// process.
        static var standard: String? { Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName }

        /// The system saves the settings of an app in the background. `NSUserDefaults.h` asks other
        /// programs to save before they exit.
        static var synchronizationDelay: Duration? { Bundle.main.bundleIdentifier == nil ? .milliseconds(300) : nil }

        /// Saves a domain. `NSUserDefaults.h` names this function for the program's own domain, and
        /// announces that `synchronize()` will be deprecated.
        static func synchronize(_ defaults: UserDefaults, domain: String?) -> Bool {
            domain == standard ? CFPreferencesAppSynchronize(kCFPreferencesCurrentApplication) : defaults.synchronize()
        }

        /// Throws for a NaN other than `Double.nan`: `CFNumber` has a single NaN object, so a sign
        /// or payload is lost.
        static func check(_ value: PropertyList) throws(DefaultsError) {
            var path: [String] = []
            guard !hasOtherNaN(value, path: &path) else {
                throw DefaultsError(
                    .refused, path: path,
                    reason: "UserDefaults cannot store this: a NaN with a sign or a payload loses it")
            }
        }

        /// - Parameter path: Receives the path to the NaN.
        private static func hasOtherNaN(_ value: PropertyList, path: inout [String]) -> Bool {
            switch value {
            case .double(let double): return double.isNaN && double.bitPattern != Double.nan.bitPattern
            case .array(let elements):
                for (index, element) in elements.enumerated() {
                    path.append(String(index))
                    if hasOtherNaN(element, path: &path) { return true }
                    path.removeLast()
                }
                return false
            case .dictionary(let entries):
                for (key, element) in entries {
                    path.append(key)
                    if hasOtherNaN(element, path: &path) { return true }
                    path.removeLast()
                }
                return false
            default: return false
            }
        }

        /// Returns whether an administrator manages the value. `UserDefaults` then accepts a new
        /// value, but still returns the managed one.
        static func isManaged(_ key: String, _ defaults: UserDefaults, domain: String?) -> Bool {
            defaults.objectIsForced(forKey: key)
                || domain.map { defaults.objectIsForced(forKey: key, inDomain: $0) } ?? false
        }

        /// Returns the value that `UserDefaults` reads if the domain has none: that of the global
        /// domain, or the registered one.
        static func fallbackValue(_ key: String, _ defaults: UserDefaults) -> Any? {
            defaults.persistentDomain(forName: UserDefaults.globalDomain)?[key]
                ?? defaults.volatileDomain(forName: UserDefaults.registrationDomain)[key]
        }

        /// Throws for a key that is not in composed form. Swift considers the composed and
        /// decomposed forms of `é` equal, so a dictionary of the domain can hold only one of two
        /// such keys.
        static func check(key: String) throws(DefaultsError) {
            guard key.precomposedStringWithCanonicalMapping.utf8.elementsEqual(key.utf8) else {
                throw DefaultsError(
                    .refused, reason: "UserDefaults lists keys in composed form (NFC) only; use that form")
            }
        }
    }
#endif
