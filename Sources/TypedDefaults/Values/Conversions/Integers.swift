/// Written as an integer, whatever the width and sign of the type. Also read from a double that is
/// a whole number. A number that does not fit the type is not read.
extension NativeValue where Self: FixedWidthInteger {
    init?(_ stored: PropertyList) {
        switch stored {
        case .integer(let value):
            guard let value = Self(exactly: value) else { return nil }
            self = value
        case .unsigned(let value):
            guard let value = Self(exactly: value) else { return nil }
            self = value
        case .double(let value):
            guard let value = Self(exactly: value) else { return nil }
            self = value
        default: return nil
        }
    }

    init?(argument: String) { self.init(argument, radix: 10) }

    // Safe: the types below have at most 64 bits.
    var propertyList: PropertyList { PropertyList(exactly: self)! }
}

extension Int: NativeValue {}
extension Int8: NativeValue {}
extension Int16: NativeValue {}
extension Int32: NativeValue {}
extension Int64: NativeValue {}
extension UInt: NativeValue {}
extension UInt8: NativeValue {}
extension UInt16: NativeValue {}
extension UInt32: NativeValue {}
extension UInt64: NativeValue {}
