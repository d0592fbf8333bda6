import SettingsFile

#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    /// The rules of `UserDefaults` on Apple platforms, where the system keeps the domains. *Not run there.*
    enum FoundationDomain {
        /// The domain of `UserDefaults.standard`. A program without a bundle, such as a command-line tool, has one named after its
        /// process: that is what `kCFPreferencesCurrentApplication` means there.
        static var standard: String? { Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName }

        /// The system saves the settings of an app in the background. `NSUserDefaults.h` asks programs that are no apps to do so before
        /// they exit.
        static var synchronizationDelay: Duration? { Bundle.main.bundleIdentifier == nil ? .milliseconds(300) : nil }

        /// Saves a domain. `NSUserDefaults.h` names this function for the program's own, and announces that `synchronize()` will be
        /// deprecated.
        static func synchronize(_ defaults: UserDefaults, domain: String?) -> Bool {
            domain == standard ? CFPreferencesAppSynchronize(kCFPreferencesCurrentApplication) : defaults.synchronize()
        }
        static let skipsEqualValues = false
        static func path(domain: String) -> String? { nil }
        static func obstacle(domain: String) -> DefaultsError? { nil }

        /// Just runs `body`: whoever observes `UserDefaults` is called inside a write, and must be able to read.
        static func guarding<Result, Failure: Error>(
            _ state: Locked<State>, _ body: () throws(Failure) -> Result
        ) throws(Failure) -> Result {
            try body()
        }

        /// Throws for a NaN other than `Double.nan`: `CFNumber` has one object for all of them, so a sign or a payload is lost.
        static func check(_ value: PropertyList) throws(DefaultsError) {
            var path: [String] = []
            guard !hasOtherNaN(value, path: &path) else {
                throw DefaultsError(
                    .refused, path: path,
                    reason: "UserDefaults does not give this back: a NaN with a sign or a payload loses it")
            }
        }

        /// - Parameter path: Leads to the NaN afterward.
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

        /// Whether an administrator provides the value. Then `UserDefaults` takes a new one, and goes on to read the old one.
        static func isManaged(_ key: String, _ defaults: UserDefaults, domain: String?) -> Bool {
            defaults.objectIsForced(forKey: key)
                || domain.map { defaults.objectIsForced(forKey: key, inDomain: $0) } ?? false
        }

        /// `UserDefaults` reads more than the domain: the global domain, and registered values.
        static let hasFallbackValues = true

        /// The value that `UserDefaults` reads where the domain has none.
        static func fallbackValue(_ key: String, _ defaults: UserDefaults) -> Any? {
            defaults.persistentDomain(forName: UserDefaults.globalDomain)?[key]
                ?? defaults.volatileDomain(forName: UserDefaults.registrationDomain)[key]
        }

        /// Of two keys that Swift calls equal, `é` in one and in two scalars, a Swift dictionary of a domain holds one only.
        static func check(key: String) throws(DefaultsError) {
            guard key.precomposedStringWithCanonicalMapping.utf8.elementsEqual(key.utf8) else {
                throw DefaultsError(.refused, reason: "UserDefaults lists keys in composed form only")
            }
        }
    }
#endif
