#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Written as a date, exact to the bit of its seconds since 2001-01-01 UTC. Not read from a number,
/// because its reference date is unknown.
extension Date: NativeValue {
    init?(_ stored: PropertyList) {
        guard case .date(let value) = stored else { return nil }
        self = value
    }

    var propertyList: PropertyList { .date(self) }
}
