import SettingsFile

#if !canImport(Darwin) && UserDefaults
    import Foundation

    /// Checks whether a domain can be read and written.
    struct UserDefaultsAccess: Sendable {
        private let obstacle: DefaultsError?

        init(domain: String?) { obstacle = domain.flatMap { UserDefaultsRules.obstacle(domain: $0) } }

        func check(_ defaults: UserDefaults) throws(DefaultsError) { if let obstacle { throw obstacle } }

        /// Does nothing, because there is no limit.
        func checkSize(
            _ edits: [(key: String, value: PropertyList?)], contents: () -> [String: Any]
        ) throws(DefaultsError) -> DefaultsError? { nil }

        func noteCommit(_ defaults: UserDefaults) {}

        func takeNotice() -> DefaultsError? { nil }

        static let ownKeys: [String] = []
    }
#endif
