#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Written as data. Read as it is, never as something inside it; otherwise nil.
extension Data: NativeValue {
    init?(_ stored: PropertyList) {
        guard case .data(let value) = stored else { return nil }
        self = value
    }

    var propertyList: PropertyList { .data(self) }
}
