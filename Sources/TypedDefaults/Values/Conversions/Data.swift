#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Written as data. The bytes are never interpreted.
extension Data: NativeValue {
    init?(_ stored: PropertyList) {
        guard case .data(let value) = stored else { return nil }
        self = value
    }

    var propertyList: PropertyList { .data(self) }
}
