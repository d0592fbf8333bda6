/// Written as a string of decimal digits, because a property list holds no integer beyond 64 bits.
/// Also read from an integer, and from a double that is a whole number.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Int128: NativeValue {
    init?(_ stored: PropertyList) { self.init(digitsOrNumber: stored) }
    var propertyList: PropertyList { .string(description) }
}

/// Written and read like `Int128`.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension UInt128: NativeValue {
    init?(_ stored: PropertyList) { self.init(digitsOrNumber: stored) }
    var propertyList: PropertyList { .string(description) }
}

extension FixedWidthInteger {
    fileprivate init?(digitsOrNumber stored: PropertyList) {
        switch stored {
        case .string(let digits):
            // Only the written form: "007" and "+7" are other strings.
            guard let value = Self(digits, radix: 10), value.description == digits else { return nil }
            self = value
        case .integer(let value):
            guard let value = Self(exactly: value) else { return nil }
            self = value
        case .double(let value):
            guard let value = Self(exactly: value) else { return nil }
            self = value
        default: return nil
        }
    }
}
