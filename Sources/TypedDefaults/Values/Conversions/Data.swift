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

    init?(foreign stored: PropertyList) {
        guard case .string(let text) = stored else { return nil }
        self.init(base64Encoded: text)
    }

    var propertyList: PropertyList { .data(self) }
}
