/// Reads what ``ByteWriter`` wrote. Returns `nil` for invalid bytes.
@usableFromInline
package struct ByteReader {
    @usableFromInline
    package let bytes: UnsafeRawBufferPointer
    @usableFromInline
    package internal(set) var position: Int

    @inlinable
    package init(_ bytes: UnsafeRawBufferPointer, at position: Int = 0) {
        self.bytes = bytes
        self.position = position
    }

    @inlinable
    package var isAtEnd: Bool { position == bytes.count }

    @inlinable
    package mutating func byte() -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    /// Reads the count of elements that take at least one byte each. Returns `nil` if fewer bytes
    /// follow, so that a forged count cannot cause a huge allocation.
    @inline(__always)
    @inlinable
    package mutating func count() -> Int? {
        guard position < bytes.count, bytes[position] & 0x80 == 0 else { return longCount() }
        let count = Int(truncatingIfNeeded: bytes[position])
        position += 1
        return count <= bytes.count - position ? count : nil
    }

    /// Reads a count of more than one byte.
    @usableFromInline
    @inline(never)
    mutating func longCount() -> Int? {
        var count: UInt64 = 0
        for shift in stride(from: 0, to: 63, by: 7) {
            guard let byte = byte() else { return nil }
            count |= UInt64(byte & 0x7F) << UInt64(shift)
            if byte & 0x80 == 0 { return count <= UInt64(bytes.count - position) ? Int(exactly: count) : nil }
        }
        return nil
    }

    @inlinable
    package mutating func word() -> UInt64? {
        guard bytes.count - position >= 8 else { return nil }
        defer { position += 8 }
        return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }

    /// Reads a count, skips as many bytes, and returns their range.
    @inline(__always)
    @inlinable
    package mutating func counted() -> Range<Int>? {
        guard let count = count() else { return nil }
        defer { position += count }
        return position..<(position + count)
    }

    /// Reads a string: a count, then as many bytes of UTF-8.
    package mutating func string() -> String? {
        guard let range = counted() else { return nil }
        return String(utf8: UnsafeRawBufferPointer(rebasing: bytes[range]))
    }
}
