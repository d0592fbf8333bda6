#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    /// Returns the property list of a Foundation number; `nil` for anything else, Swift numbers
    /// included.
    ///
    /// Compares the class, because a cast would convert 1 to `true` and `true` to 1.
    func foundationNumber(_ object: Any) -> PropertyList? {
        guard type(of: object) is NSNumber.Type, let number = object as? NSNumber else { return nil }
        // Foundation has one object for each Boolean value.
        if number === true as NSNumber { return true }
        if number === false as NSNumber { return false }
        switch number.objCType.pointee {
        case CChar(UInt8(ascii: "d")), CChar(UInt8(ascii: "f")): return .double(number.doubleValue)
        case CChar(UInt8(ascii: "Q")): return PropertyList(exactly: number.uint64Value)
        default: return .integer(number.int64Value)
        }
    }
#else
    /// Returns `nil`: there are no Foundation numbers without Foundation.
    func foundationNumber(_ object: Any) -> PropertyList? { nil }
#endif
