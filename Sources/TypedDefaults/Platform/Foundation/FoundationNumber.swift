#if canImport(Darwin) || UserDefaults
    import Foundation

    /// The property list of a Foundation number; nil for anything else, a Swift number included.
    func foundationNumber(_ object: Any) -> PropertyList? { nil }
#else
    /// The property list of a Foundation number: there are none without Foundation.
    func foundationNumber(_ object: Any) -> PropertyList? { nil }
#endif
