#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    /// The checks that a system makes before a domain is read or written.
    struct UserDefaultsAccess: Sendable {
        var firstUnlock: FirstUnlock?
        var sizeLimit: SizeLimit?
        /// A failure to report on first use.
        var notice: DefaultsError?

        /// The checks on a device that hides settings between a restart and the first unlock. *Not
        /// tested on Apple platforms.*
        ///
        /// - Parameters:
        ///   - library: The folder `Library` of the program.
        ///   - isOnMac: Whether this is an iOS app on a Mac, where settings are neither locked nor
        ///     limited.
        static func onIOS(
            domain: String?, library: URL, isOnMac: Bool = ProcessInfo.processInfo.isiOSAppOnMac
        ) -> UserDefaultsAccess {
            guard !isOnMac else { return UserDefaultsAccess(notice: notice(domain: domain)) }
            let firstUnlock = domain.map { domain in
                // The programs of a group share its files, so that a widget that has never written
                // finds those of the app.
                let shared = groupContainer(domain)?.appending(path: "Library")
                return FirstUnlock(FirstUnlock.Probe(library: shared ?? library, domain: domain), domain: domain)
            }
            // The system stores larger data, but logs "Attempting to store >= 4194304 bytes of data
            // … on this platform is invalid": https://developer.apple.com/forums/thread/722096
            let sizeLimit = SizeLimit(warning: 4_194_304, limit: nil)
            return UserDefaultsAccess(firstUnlock: firstUnlock, sizeLimit: sizeLimit, notice: notice(domain: domain))
        }

        /// The checks on an Apple TV, which has no lock but little space: the system posts a
        /// notification at 512 KB and terminates the program at 1 MB. *Not tested on Apple
        /// platforms.*
        /// https://developer.apple.com/documentation/foundation/userdefaults/sizelimitexceedednotification
        static func onTVOS(domain: String?) -> UserDefaultsAccess {
            UserDefaultsAccess(
                sizeLimit: SizeLimit(warning: 460_000, limit: 1_000_000), notice: notice(domain: domain))
        }

        /// Returns the folder that the programs of a group share, or `nil` if the domain is not a
        /// group or the program lacks the entitlement.
        private static func groupContainer(_ domain: String) -> URL? {
            // The system logs a fault if this is called with another name.
            guard domain.hasPrefix("group.") else { return nil }
            return FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: domain)
        }

        /// Returns a failure to report if the program lacks the entitlement for a group. The system
        /// then silently stores the group's settings as the program's own.
        private static func notice(domain: String?) -> DefaultsError? {
            guard let domain, domain.hasPrefix("group."), groupContainer(domain) == nil else { return nil }
            return DefaultsError(
                .unavailable,
                reason:
                    "the program is not entitled to use the app group \(domain), so it shares these settings with no other"
                    + " program; add the group to the entitlement com.apple.security.application-groups")
        }
    }

    extension UserDefaultsAccess {
        #if os(tvOS)
            init(domain: String?) { self = .onTVOS(domain: domain) }
        #elseif (os(iOS) && !targetEnvironment(macCatalyst)) || os(watchOS) || os(visionOS)
            init(domain: String?) { self = .onIOS(domain: domain, library: .libraryDirectory) }
        #else
            /// Performs no checks, because a Mac neither locks nor limits settings, and every group
            /// has a folder.
            init(domain: String?) {}
        #endif
    }
#endif
