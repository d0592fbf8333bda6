import SettingsFile

#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    /// Whether a domain can be read and written.
    struct DomainAccess: Sendable {
        var firstUnlock: FirstUnlock?
        var sizeLimit: SizeLimit?
        /// A failure to report when the domain is used for the first time.
        private var notice: Notice?

        init(firstUnlock: FirstUnlock? = nil, sizeLimit: SizeLimit? = nil) {
            self.firstUnlock = firstUnlock
            self.sizeLimit = sizeLimit
        }

        func check(_ defaults: UserDefaults) throws(DefaultsError) { try firstUnlock?.check(defaults) }

        /// The failure that is still to be reported; from now on it is not.
        func takeNotice() -> DefaultsError? { notice?.take() }

        func checkSize(
            _ edits: [(key: String, value: PropertyList?)], contents: () -> [String: Any]
        ) throws(DefaultsError) -> DefaultsError? {
            try sizeLimit?.check(edits, contents: contents)
        }

        func noteCommit(_ defaults: UserDefaults) { firstUnlock?.plant(in: defaults) }

        static let ownKeys = [FirstUnlock.sentinel]

        /// On a device that hides settings until it is unlocked after a restart. *Not run on Apple platforms.*
        ///
        /// - Parameters:
        ///   - folder: The folder of the program's own files.
        ///   - isOnMac: Whether this is an app for iOS on a Mac, where settings are neither locked nor limited.
        static func onIOS(
            domain: String?, folder: URL, isOnMac: Bool = ProcessInfo.processInfo.isiOSAppOnMac
        ) -> DomainAccess {
            var access = DomainAccess()
            access.notice = notice(domain: domain)
            guard !isOnMac else { return access }
            access.firstUnlock = domain.map { domain in
                // A group is shared, so its probe is as well: a widget that has never written asks for the one that the app made.
                let shared = groupContainer(domain)?.appending(path: "Library/Application Support")
                return FirstUnlock(
                    FirstUnlock.Probe(folder: (shared ?? folder).appending(path: "TypedDefaults"), domain: domain),
                    domain: domain)
            }
            // "Attempting to store >= 4194304 bytes of data … on this platform is invalid", says the system's log, and stores it:
            // https://developer.apple.com/forums/thread/722096
            access.sizeLimit = SizeLimit(warning: 4_194_304, limit: nil)
            return access
        }

        /// On an Apple TV, which has no lock and little room: a notification at 512 KB, the end of the program at 1 MB. *Not run on Apple
        /// platforms.* https://developer.apple.com/documentation/foundation/userdefaults/sizelimitexceedednotification
        static func onTVOS(domain: String?) -> DomainAccess {
            var access = DomainAccess(sizeLimit: SizeLimit(warning: 460_000, limit: 1_000_000))
            access.notice = notice(domain: domain)
            return access
        }

        /// The folder that the programs of a group share; nil if the domain is no group, or the program has no entitlement for it.
        private static func groupContainer(_ domain: String) -> URL? {
            // The system logs a fault where it is asked for what is no group.
            guard domain.hasPrefix("group.") else { return nil }
            return FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: domain)
        }

        /// Without its entitlement the system stores a group's settings as the program's own, and says nothing.
        private static func notice(domain: String?) -> Notice? {
            guard let domain, domain.hasPrefix("group."), groupContainer(domain) == nil else { return nil }
            return Notice(
                DefaultsError(
                    .unavailable,
                    reason:
                        "the program is not entitled to use the app group \(domain), so it shares these settings with no other"
                        + " program; add the group to the entitlement com.apple.security.application-groups"))
        }

        private final class Notice: Sendable {
            private let failure: Locked<DefaultsError?>
            init(_ failure: DefaultsError) { self.failure = Locked(failure) }

            func take() -> DefaultsError? {
                failure.withLock { failure in
                    defer { failure = nil }
                    return failure
                }
            }
        }
    }
#endif

#if os(tvOS)
    extension DomainAccess {
        init(domain: String?) { self = .onTVOS(domain: domain) }
    }
#elseif (os(iOS) && !targetEnvironment(macCatalyst)) || os(watchOS) || os(visionOS)
    extension DomainAccess {
        init(domain: String?) { self = .onIOS(domain: domain, folder: .applicationSupportDirectory) }
    }
#elseif canImport(Darwin) || canImport(AppleFoundation)
    extension DomainAccess {
        /// On a Mac settings are not locked, there is no limit, and every group has a folder.
        init(domain: String?) { self.init() }
    }
#endif
