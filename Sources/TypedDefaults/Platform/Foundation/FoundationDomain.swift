import SettingsFile

#if !canImport(Darwin) && UserDefaults
    import Foundation

    /// What was measured of `UserDefaults` on Linux with Swift 6.3.1: which values and files it ruins. It writes XML property
    /// lists; everything not refused here came back the same in a fresh process.
    enum FoundationDomain {
        /// The name under which the program's own values are found even before they are saved.
        static let standard: String? = "kCFPreferencesCurrentApplication"

        /// Nothing to keep: there is no news there.
        struct State {}

        /// Runs `body` alone: half a commit must neither be read nor saved.
        static func guarding<Result, Failure: Error>(
            _ state: Locked<State>, _ body: () throws(Failure) -> Result
        ) throws(Failure) -> Result {
            try state.withLock { _ throws(Failure) in try body() }
        }

        /// Nothing is saved there unless one asks.
        static let synchronizationDelay: Duration? = .milliseconds(300)

        /// A value that Foundation calls equal to the stored one, as 2.0 to 2, is not written.
        static let skipsEqualValues = true

        /// The file of a domain; nil without a home, when Foundation would write to `/.config`.
        static func path(domain: String) -> String? {
            // Foundation repairs a name that is not UTF-8 in the same way.
            let own = String(decoding: SettingsFolder.executableName, as: UTF8.self)
            let name = domain == standard ? own : domain
            return SettingsFolder.path.map { "\($0)/\(name).plist" }
        }

        /// Why a domain cannot be used: Foundation takes a file that it cannot read for an empty one, and overwrites it.
        static func obstacle(domain: String) -> DefaultsError? {
            guard let path = path(domain: domain) else {
                return DefaultsError(
                    .unavailable,
                    reason:
                        "neither XDG_CONFIG_HOME nor HOME is an absolute path, so there is no place for settings; set one of them"
                        + " or use DefaultsSuite.inMemory()")
            }
            var reason = ""
            // Another process may be making or rewriting the file just now, and for that moment it is empty or cut off.
            for _ in 0..<5 {
                if let data = FileManager.default.contents(atPath: path) {
                    // A file of no bytes has nothing to lose. It is what a kill while Foundation is writing leaves behind.
                    if data.isEmpty { return nil }
                    // Why it cannot be parsed is of no use to anybody; that it cannot is told below.
                    if (try? PropertyListSerialization.propertyList(from: data, format: nil)) is [String: Any] {
                        return nil
                    }
                    reason = "is damaged, and UserDefaults would overwrite it; move it away"
                } else {
                    guard FileManager.default.fileExists(atPath: path) else { return nil }
                    reason = "cannot be read"
                }
                usleep(20_000)
            }
            return DefaultsError(.unavailable, reason: "the file \(path) \(reason)")
        }

        static func synchronize(_ defaults: UserDefaults, domain: String?) -> Bool { defaults.synchronize() }

        /// There is no administration of settings on Linux.
        static func isManaged(_ key: String, _ defaults: UserDefaults, domain: String?) -> Bool { false }

        /// `UserDefaults` reads registered values where the domain has none.
        static let hasFallbackValues = true

        /// The value that `UserDefaults` reads where the domain has none.
        static func fallbackValue(_ key: String, _ defaults: UserDefaults) -> Any? {
            defaults.volatileDomain(forName: UserDefaults.registrationDomain)[key]
        }

        static func check(key: String) throws(DefaultsError) {
            try check(string: key, "a key")
            guard key != "CF$UID" else { throw refusing("“CF$UID” as a key makes the whole file unreadable") }
            // Two keys that differ in this only are one when they are saved.
            guard key.precomposedStringWithCanonicalMapping.hasSameBytes(as: key) else {
                throw refusing("a key that is not in composed form may be taken for another one")
            }
        }

        static func check(_ value: PropertyList) throws(DefaultsError) {
            var path: [String] = []
            do throws(DefaultsError) {
                try check(value, path: &path)
            } catch {
                throw DefaultsError(.refused, path: path, reason: error.reason)
            }
        }

        private static func check(_ value: PropertyList, path: inout [String]) throws(DefaultsError) {
            switch value {
            case .bool, .integer, .data: break
            case .double(let double):
                guard double.bitPattern != (-0.0).bitPattern else { throw refusing("-0.0 loses its sign") }
                guard !double.isNaN || double.bitPattern == Double.nan.bitPattern else {
                    throw refusing("a NaN with a sign or a payload loses it")
                }
            case .date(let date):
                let seconds = date.timeIntervalSinceReferenceDate
                guard seconds.isFinite else {
                    throw refusing("a date that is not finite makes the whole file unreadable")
                }
                guard seconds.rounded() == seconds, seconds.bitPattern != (-0.0).bitPattern else {
                    throw refusing("a date loses its fraction of a second, so round it")
                }
                guard seconds.magnitude <= 3e16 else { throw refusing("a date so far away comes back as another one") }
            case .string(let string): try check(string: string, "a string")
            case .array(let elements):
                for (index, element) in elements.enumerated() {
                    try check(element, below: String(index), &path)
                }
            case .dictionary(let entries):
                if entries.count == 1, case .integer? = entries["CF$UID"] {
                    throw refusing("a dictionary of just “CF$UID” makes the whole file unreadable")
                }
                for (key, element) in entries {
                    try check(string: key, "a dictionary key")
                    try check(element, below: key, &path)
                }
            }
        }

        private static func check(_ value: PropertyList, below key: String, _ path: inout [String])
            throws(DefaultsError)
        {
            path.append(key)
            // Foundation's parser takes time with the third power of the depth, and ends the process at some hundred levels.
            guard path.count <= 32 else { throw refusing("nested deeper than 32 levels") }
            try check(value, path: &path)
            path.removeLast()
        }

        private static func check(string: String, _ what: String) throws(DefaultsError) {
            guard string.unicodeScalars.first != "\u{FEFF}" else {
                throw refusing("\(what) loses a leading byte order mark")
            }
        }

        private static func refusing(_ reason: String) -> DefaultsError {
            DefaultsError(.refused, reason: "UserDefaults on Linux does not give this back: \(reason)")
        }
    }

    /// Whether a domain can be read and written.
    struct DomainAccess: Sendable {
        private let obstacle: DefaultsError?

        init(domain: String?) { obstacle = domain.flatMap { FoundationDomain.obstacle(domain: $0) } }

        func check(_ defaults: UserDefaults) throws(DefaultsError) { if let obstacle { throw obstacle } }

        /// There is no limit.
        func checkSize(
            _ edits: [(key: String, value: PropertyList?)], contents: () -> [String: Any]
        ) throws(DefaultsError) -> DefaultsError? { nil }

        func noteCommit(_ defaults: UserDefaults) {}

        func takeNotice() -> DefaultsError? { nil }

        static let ownKeys: [String] = []
    }
#endif
