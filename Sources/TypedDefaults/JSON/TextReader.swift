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
