/// Writes numbers and counted bytes into one buffer. Numbers are little-endian, counts are LEB128.
package struct ByteWriter: ~Copyable {
    // Not an array, because an array checks at each byte whether its storage is shared, and takes
    // twice as long.
    private var buffer: UnsafeMutableRawBufferPointer
    package private(set) var count = 0

    init(capacity: Int) { buffer = .allocate(byteCount: capacity, alignment: 8) }

    deinit { buffer.deallocate() }

    /// Calls `body` with the bytes written so far.
    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }

    /// Extends the written part and returns the new bytes, which are uninitialized.
    @inline(__always)
    private mutating func append(_ length: Int) -> UnsafeMutableRawBufferPointer {
        if count + length > buffer.count { grow(by: length) }
        count += length
        return UnsafeMutableRawBufferPointer(rebasing: buffer[(count - length)..<count])
    }

    @inline(never)
    private mutating func grow(by length: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(2 * buffer.count, count + length), alignment: 8)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        buffer.deallocate()
        buffer = larger
    }

    mutating func append(zeros length: Int) { append(length).initializeMemory(as: UInt8.self, repeating: 0) }

    package mutating func append(byte: UInt8) { append(1)[0] = byte }

    mutating func append(_ other: UnsafeRawBufferPointer) { append(other.count).copyMemory(from: other) }

    package mutating func append(word: UInt64) { append(8).storeBytes(of: word.littleEndian, as: UInt64.self) }

    /// Overwrites four bytes with a number.
    mutating func replace(at offset: Int, with number: UInt32) {
        UnsafeMutableRawBufferPointer(rebasing: buffer[offset..<(offset + 4)])
            .storeBytes(of: number.littleEndian, as: UInt32.self)
    }

    /// Appends the number of bytes and the bytes.
    package mutating func append(counted other: UnsafeRawBufferPointer) {
        append(count: other.count)
        append(other)
    }

    /// Returns the number of bytes that `count` bytes take together with their count.
    static func length(counted count: Int) -> Int {
        count + max(1, (Int.bitWidth - count.leadingZeroBitCount + 6) / 7)
    }

    package mutating func append(count: Int) {
        if count < 0x80 { append(byte: UInt8(count)) } else { insert(count: count, at: self.count) }
    }

    mutating func insert(count: Int, at offset: Int) {
        var (rest, word, length) = (UInt64(count), UInt64(0), 0)
        repeat {
            word |= (rest & 0x7F | (rest > 0x7F ? 0x80 : 0)) << UInt64(8 * length)
            rest >>= 7
            length += 1
        } while rest > 0
        let tail = offset..<self.count
        _ = append(length)
        UnsafeMutableRawBufferPointer(rebasing: buffer[(offset + length)...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[tail]))
        withUnsafeBytes(of: word.littleEndian) { word in
            UnsafeMutableRawBufferPointer(rebasing: buffer[offset...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: word[..<length]))
        }
    }

    package mutating func append(_ string: String) {
        var string = string
        string.withUTF8 { append(counted: UnsafeRawBufferPointer($0)) }
    }
}
