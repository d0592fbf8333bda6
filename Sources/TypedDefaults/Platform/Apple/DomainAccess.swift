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
    }
#endif

#if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
    // Not run on Apple platforms.
    extension DomainAccess {
        init(domain: String?) {
            firstUnlock = domain.map { domain in
                let folder = URL.applicationSupportDirectory.appending(path: "TypedDefaults")
                return FirstUnlock(FirstUnlock.Probe(folder: folder, domain: domain))
            }
            sizeLimit = .ofTheSystem
        }
    }
#elseif canImport(Darwin) || canImport(AppleFoundation)
    extension DomainAccess {
        /// On a Mac settings are not locked, and there is no limit.
        init(domain: String?) {}
    }
#endif

#if os(tvOS)
    extension SizeLimit {
        /// A notification at 512 KB, the end of the program at 1 MB:
        /// https://developer.apple.com/documentation/foundation/userdefaults/sizelimitexceedednotification
        static var ofTheSystem: SizeLimit { SizeLimit(warning: 460_000, limit: 1_000_000) }
    }
#elseif os(iOS) || os(watchOS) || os(visionOS)
    extension SizeLimit {
        /// "Attempting to store >= 4194304 bytes of data … on this platform is invalid": https://developer.apple.com/forums/thread/722096
        static var ofTheSystem: SizeLimit { SizeLimit(warning: nil, limit: 4_194_304) }
    }
#endif
