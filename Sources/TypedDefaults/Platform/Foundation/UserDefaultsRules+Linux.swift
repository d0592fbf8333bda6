import SettingsFile

#if !canImport(Darwin) && UserDefaults
    import Foundation

    /// The behavior of `UserDefaults` on Linux, as measured with Swift 6.3.1: the values and files
    /// that it damages.
    ///
    /// It writes XML property lists. All values that are not refused here came back unchanged in
    /// another process.
    enum UserDefaultsRules {
        /// The name under which the program's own values are visible even before they are saved.
        static let standard: String? = "kCFPreferencesCurrentApplication"

        /// Empty, because `UserDefaults` reports no changes on Linux.
        struct State {}

        /// Runs `body` with a lock, because half a commit must be neither read nor saved.
        static func guarding<Result, Failure: Error>(
            _ state: Locked<State>, _ body: () throws(Failure) -> Result
        ) throws(Failure) -> Result {
            try state.withLock { _ throws(Failure) in try body() }
        }

        /// Foundation saves only when asked to.
        static let synchronizationDelay: Duration? = .milliseconds(300)

        /// Foundation does not write a value that it considers equal to the stored one, such as 2.0
        /// and 2.
        static let skipsEqualValues = true

        /// Returns the file of a domain, or `nil` without a home folder, because Foundation would
        /// write to `/.config`.
        static func path(domain: String) -> String? {
            // Foundation replaces invalid UTF-8 in a name in the same way.
            let own = String(decoding: SettingsFolder.executableName, as: UTF8.self)
            let name = domain == standard ? own : domain
            return SettingsFolder.path.map { "\($0)/\(name).plist" }
        }

        /// Returns why a domain cannot be used. Foundation treats a file that it cannot read as
        /// empty, and overwrites it.
        static func obstacle(domain: String) -> DefaultsError? {
            guard let path = path(domain: domain) else {
                return DefaultsError(
                    .unavailable,
                    reason:
                        "neither XDG_CONFIG_HOME nor HOME is an absolute path, so there is no folder for settings; set one of them"
                        + " or use DefaultsSuite.inMemory()")
            }
            var reason = ""
            // Retry: while another process creates or rewrites the file, it is empty or truncated.
            for _ in 0..<5 {
                if let data = FileManager.default.contents(atPath: path) {
                    // An empty file has nothing to lose. A process that is killed while Foundation
                    // writes leaves one behind.
                    if data.isEmpty { return nil }
                    // The reason of the parser does not help the user.
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

        /// Linux has no managed settings.
        static func isManaged(_ key: String, _ defaults: UserDefaults, domain: String?) -> Bool { false }

        /// Whether `UserDefaults` also reads registered values.
        static let hasFallbackValues = true

        /// Returns the value that `UserDefaults` reads if the domain has none.
        static func fallbackValue(_ key: String, _ defaults: UserDefaults) -> Any? {
            defaults.volatileDomain(forName: UserDefaults.registrationDomain)[key]
        }

        static func check(key: String) throws(DefaultsError) {
            try check(string: key, "a key")
            guard key != "CF$UID" else { throw refusing("“CF$UID” as a key makes the whole file unreadable") }
            // Foundation saves two keys that differ only in their composition as one.
            guard key.precomposedStringWithCanonicalMapping.hasSameBytes(as: key) else {
                throw refusing("a key that is not in composed form may be mistaken for another key")
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
                    throw refusing("a date loses its fraction of a second; round it")
                }
                guard seconds.magnitude <= 3e16 else { throw refusing("a date this distant comes back changed") }
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
            // Foundation's parser takes cubic time in the depth, and crashes at a depth of a few
            // hundred.
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
            DefaultsError(.refused, reason: "UserDefaults on Linux cannot store this: \(reason)")
        }
    }
#endif
