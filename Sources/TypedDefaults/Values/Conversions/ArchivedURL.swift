#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    /// The URL in an archive, as `UserDefaults.set(_:forKey:)` stores one; nil for any other data.
    func archivedURL(_ archive: Data) -> URL? {
        // Why the data is no archive does not matter: nothing else that stores URLs writes data.
        (try? NSKeyedUnarchiver.unarchivedObject(ofClass: NSURL.self, from: archive)) as URL?
    }
#else
    #if canImport(FoundationEssentials)
        import FoundationEssentials
    #else
        import Foundation
    #endif

    /// The URL in an archive: there are none but on Apple platforms.
    func archivedURL(_ archive: Data) -> URL? { nil }
#endif
