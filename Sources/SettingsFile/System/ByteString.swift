extension String {
    /// Returns whether both strings have the same UTF-8 bytes. `==` treats composed and decomposed
    /// "é" as equal.
    package func hasSameBytes(as other: String) -> Bool {
        // Copies of a string share its storage, and a short string is stored inline.
        if withUnsafeBytes(of: self, { one in withUnsafeBytes(of: other) { areEqual(one, $0) } }) { return true }
        var (one, other) = (self, other)
        return one.withUTF8 { one in
            other.withUTF8 { areEqual(UnsafeRawBufferPointer(one), UnsafeRawBufferPointer($0)) }
        }
    }
}

/// A string that is compared by its UTF-8 bytes. Keys are looked up in this form.
package struct ByteString: Hashable, Sendable {
    package let string: String
    package init(_ string: String) { self.string = string }
    package static func == (lhs: ByteString, rhs: ByteString) -> Bool { lhs.string.hasSameBytes(as: rhs.string) }
    package func hash(into hasher: inout Hasher) {
        var string = string
        string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension String {
    /// Creates the string of those bytes, or returns `nil` if they are not valid UTF-8.
    ///
    /// `String(validating:as:)` needs iOS 18 and takes ten times as long.
    package init?(utf8 bytes: UnsafeRawBufferPointer) {
        self.init(decoding: bytes, as: UTF8.self)
        // Decoding replaces invalid bytes.
        guard withUTF8({ areEqual(UnsafeRawBufferPointer($0), bytes) }) else { return nil }
    }
}
