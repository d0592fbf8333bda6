#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    /// What is to be known of the domains of `UserDefaults` on Apple platforms, where the system keeps them. *Not run there.*
    enum FoundationDomain {
        static var standard: String? { Bundle.main.bundleIdentifier }
        static let synchronizationDelay: Duration? = nil
        static let skipsEqualValues = false
        static func path(domain: String) -> String? { nil }
        static func obstacle(domain: String) -> DefaultsError? { nil }

        /// Just runs `body`: whoever observes `UserDefaults` is called inside a write, and must be able to read.
        static func guarding<Result, Failure: Error>(
            _ state: Locked<State>, _ body: () throws(Failure) -> Result
        ) throws(Failure) -> Result {
            try body()
        }

        static func check(_ value: PropertyList) throws(DefaultsError) {}

        /// Of two keys that Swift calls equal, `é` in one and in two scalars, a Swift dictionary of a domain holds one only.
        static func check(key: String) throws(DefaultsError) {
            guard key.precomposedStringWithCanonicalMapping.utf8.elementsEqual(key.utf8) else {
                throw DefaultsError(.refused, reason: "UserDefaults lists keys in composed form only")
            }
        }
    }
#endif
