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

        func check(_ defaults: UserDefaults) throws(DefaultsError) { try firstUnlock?.check(defaults) }

        func checkSize(
            _ edits: [(key: String, value: PropertyList?)], contents: () -> [String: Any]
        ) throws(DefaultsError) -> DefaultsError? {
            try sizeLimit?.check(edits, contents: contents)
        }

        func noteCommit(_ defaults: UserDefaults) { firstUnlock?.plant(in: defaults) }

        static let ownKeys = [FirstUnlock.sentinel]

        /// On a device that hides settings until it is unlocked after a restart. *Not run on Apple platforms.*
        ///
        /// - Parameter folder: Where the file is that tells, in a folder of its own.
        static func onIOS(domain: String?, folder: URL) -> DomainAccess {
            let folder = folder.appending(path: "TypedDefaults")
            return DomainAccess(
                firstUnlock: domain.map { FirstUnlock(FirstUnlock.Probe(folder: folder, domain: $0)) },
                // "Attempting to store >= 4194304 bytes of data … on this platform is invalid":
                // https://developer.apple.com/forums/thread/722096
                sizeLimit: SizeLimit(warning: nil, limit: 4_194_304))
        }

        /// On an Apple TV, which has no lock and little room: a notification at 512 KB, the end of the program at 1 MB. *Not run on Apple
        /// platforms.* https://developer.apple.com/documentation/foundation/userdefaults/sizelimitexceedednotification
        static func onTVOS() -> DomainAccess {
            DomainAccess(sizeLimit: SizeLimit(warning: 460_000, limit: 1_000_000))
        }
    }
#endif

#if os(tvOS)
    extension DomainAccess {
        init(domain: String?) { self = .onTVOS() }
    }
#elseif os(iOS) || os(watchOS) || os(visionOS)
    extension DomainAccess {
        init(domain: String?) { self = .onIOS(domain: domain, folder: .applicationSupportDirectory) }
    }
#elseif canImport(Darwin) || canImport(AppleFoundation)
    extension DomainAccess {
        /// On a Mac settings are not locked, and there is no limit.
        init(domain: String?) {}
    }
#endif
