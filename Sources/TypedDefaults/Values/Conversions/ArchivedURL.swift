#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    /// Returns the URL in an archive that `UserDefaults.set(_:forKey:)` stored; `nil` for any other
    /// data.
    func archivedURL(_ archive: Data) -> URL? {
        // The error does not matter: no other code stores URLs as data.
        (try? NSKeyedUnarchiver.unarchivedObject(ofClass: NSURL.self, from: archive)) as URL?
    }
#else
    #if canImport(FoundationEssentials)
        import FoundationEssentials
    #else
        import Foundation
    #endif

    /// Returns `nil`: only Apple platforms store URLs as archives.
    func archivedURL(_ archive: Data) -> URL? { nil }
#endif
