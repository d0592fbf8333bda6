/// A reader of tokens with white space between them.
protocol TextReader {
    /// The text in UTF-8.
    var bytes: [UInt8] { get }
    /// The index of the first byte that is not read.
    var position: Int { get set }
}

extension TextReader {
    /// The next byte that is not white space; `nil` at the end.
    var next: UInt8? {
        mutating get {
            while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
            return position < bytes.count ? bytes[position] : nil
        }
    }

    /// Skips a text if it is the next one.
    mutating func skip(_ text: String) -> Bool {
        guard next != nil, bytes[position...].starts(with: text.utf8) else { return false }
        position += text.utf8.count
        return true
    }
}

// The names of doubles for which JSON and XML have no form.
extension Double {
    /// The name of a double that is infinite or not a number.
    var name: String {
        if isInfinite { return self < 0 ? "-inf" : "inf" }
        return bitPattern == Double.nan.bitPattern ? "nan" : "0x" + String(bitPattern, radix: 16)
    }

    /// Creates the double of such a name, or of any bits in hexadecimal digits; `nil` for anything
    /// else.
    init?(named name: String) {
        switch name {
        case "inf": self = .infinity
        case "-inf": self = -.infinity
        case "nan": self = .nan
        default:
            // Without a sign, which `UInt64` takes.
            guard name.hasPrefix("0x"), name.dropFirst(2).first?.isHexDigit == true,
                let bits = UInt64(name.dropFirst(2), radix: 16)
            else { return nil }
            self.init(bitPattern: bits)
        }
    }
}
