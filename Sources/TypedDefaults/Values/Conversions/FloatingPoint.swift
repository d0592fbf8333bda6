/// Written as a double, bit for bit. Also read from an integer that a double holds exactly.
extension Double: NativeValue {
    init?(_ stored: PropertyList) {
        switch stored {
        case .double(let value): self = value
        case .integer(let value):
            guard let value = Double(exactly: value) else { return nil }
            self = value
        case .unsigned(let value):
            guard let value = Double(exactly: value) else { return nil }
            self = value
        default: return nil
        }
    }

    var propertyList: PropertyList { .double(self) }
}

/// Written as the double of the same value, NaN payloads included. Also read from any other double
/// or integer within the range of `Float`, rounded.
extension Float: NativeValue {
    init?(_ stored: PropertyList) {
        switch stored {
        case .integer(let value): self.init(value)
        case .unsigned(let value): self.init(value)
        case .double(let value): self.init(rounding: value)
        default: return nil
        }
    }

    private init?(rounding double: Double) {
        if double.isNaN {
            // Converted bit by bit, because the processor would make a signaling NaN quiet.
            let payload = UInt32(truncatingIfNeeded: double.bitPattern >> 29) & 0x007F_FFFF
            guard payload != 0 else { return nil }
            self.init(bitPattern: (double.sign == .minus ? 0xFF80_0000 : 0x7F80_0000) | payload)
        } else {
            self.init(double)
            if isInfinite && !double.isInfinite { return nil }
        }
    }

    var propertyList: PropertyList {
        guard isNaN else { return .double(Double(self)) }
        let payload = UInt64(bitPattern & 0x007F_FFFF) << 29
        return .double(Double(bitPattern: (sign == .minus ? 0xFFF0_0000_0000_0000 : 0x7FF0_0000_0000_0000) | payload))
    }
}

extension NativeValue where Self: BinaryFloatingPoint & LosslessStringConvertible {
    /// Reads the nearest number.
    init?(foreign stored: PropertyList) {
        switch stored {
        case .integer(let value): self.init(value)
        case .unsigned(let value): self.init(value)
        default: self.init(stored.digits ?? "")
        }
    }

    init?(argument: String) { self.init(argument) }
}
