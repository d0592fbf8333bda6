#if canImport(Darwin) || canImport(AppleFoundation) || UserDefaults
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    /// The property list of a Foundation number; nil for anything else, a Swift number included.
    ///
    /// Told apart by class: a cast would take a number 1 for `true`, and a `true` for 1.
    func foundationNumber(_ object: Any) -> PropertyList? {
        guard type(of: object) is NSNumber.Type, let number = object as? NSNumber else { return nil }
        // Foundation has one object for each of the two Boolean values.
        if number === true as NSNumber { return true }
        if number === false as NSNumber { return false }
        switch number.objCType.pointee {
        case CChar(UInt8(ascii: "d")), CChar(UInt8(ascii: "f")): return .double(number.doubleValue)
        case CChar(UInt8(ascii: "Q")):
            return PropertyList.Integer(exactly: number.uint64Value).map(PropertyList.integer)
        default: return PropertyList.Integer(exactly: number.int64Value).map(PropertyList.integer)
        }
    }
#else
    /// The property list of a Foundation number: without Foundation there are none.
    func foundationNumber(_ object: Any) -> PropertyList? { nil }
#endif
