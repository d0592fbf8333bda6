/// Writes numbers and counted bytes into one buffer. Numbers are little-endian, counts are LEB128.
package struct ByteWriter: ~Copyable {
    private var memory: GrowingMemory
    package var count: Int { memory.count }

    package init(capacity: Int) { memory = GrowingMemory(capacity: capacity) }

    /// Calls `body` with the bytes written so far.
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(memory.bytes)
    }

    mutating func append(zeros length: Int) { memory.append(length).initializeMemory(as: UInt8.self, repeating: 0) }

    package mutating func append(byte: UInt8) { memory.append(1)[0] = byte }

    package mutating func append(_ other: UnsafeRawBufferPointer) { memory.append(other.count).copyMemory(from: other) }

    package mutating func append(word: UInt64) {
        memory.append(8).storeBytes(of: word.littleEndian, as: UInt64.self)
    }

    /// Overwrites four bytes with a number.
    mutating func replace(at offset: Int, with number: UInt32) {
        (memory.start + offset).storeBytes(of: number.littleEndian, as: UInt32.self)
    }

    /// Appends the number of bytes and the bytes.
    package mutating func append(counted other: UnsafeRawBufferPointer) {
        guard other.count < 0x80 else {
            append(count: other.count)
            return append(other)
        }
        let place = memory.append(other.count + 1)
        place[0] = UInt8(other.count)
        UnsafeMutableRawBufferPointer(rebasing: place[1...]).copyMemory(from: other)
    }

    package mutating func append(count: Int) {
        if count < 0x80 { append(byte: UInt8(count)) } else { insert(count: count, at: self.count) }
    }

    /// Inserts a count at an offset.
    package mutating func insert(count: Int, at offset: Int) {
        var (rest, word, length) = (UInt64(count), UInt64(0), 0)
        repeat {
            word |= (rest & 0x7F | (rest > 0x7F ? 0x80 : 0)) << UInt64(8 * length)
            rest >>= 7
            length += 1
        } while rest > 0
        let tailCount = self.count - offset
        _ = memory.append(length)
        let start = memory.start + offset
        (start + length).copyMemory(from: start, byteCount: tailCount)
        withUnsafeBytes(of: word.littleEndian) { start.copyMemory(from: $0.baseAddress!, byteCount: length) }
    }

    package mutating func append(_ string: String) {
        var string = string
        string.withUTF8 { append(counted: UnsafeRawBufferPointer($0)) }
    }
}
