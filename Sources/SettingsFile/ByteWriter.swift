/// Writes numbers and counted bytes into one buffer. Numbers are little-endian, counts are LEB128.
package struct ByteWriter: ~Copyable {
    // An array of its own would ask at each byte whether it is shared, and take twice as long.
    private var room: UnsafeMutableRawBufferPointer
    package private(set) var count = 0

    init(capacity: Int) { room = .allocate(byteCount: capacity, alignment: 8) }

    deinit { room.deallocate() }

    /// Hands out what was written.
    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: room[..<count]))
    }

    /// Makes room behind what was written.
    @inline(__always)
    private mutating func append(_ length: Int) -> UnsafeMutableRawBufferPointer {
        if count + length > room.count { grow(by: length) }
        count += length
        return UnsafeMutableRawBufferPointer(rebasing: room[(count - length)..<count])
    }

    @inline(never)
    private mutating func grow(by length: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(2 * room.count, count + length), alignment: 8)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: room[..<count]))
        room.deallocate()
        room = larger
    }

    mutating func append(zeros length: Int) { append(length).initializeMemory(as: UInt8.self, repeating: 0) }

    package mutating func append(byte: UInt8) { append(1)[0] = byte }

    mutating func append(_ other: UnsafeRawBufferPointer) { append(other.count).copyMemory(from: other) }

    package mutating func append(word: UInt64) { append(8).storeBytes(of: word.littleEndian, as: UInt64.self) }

    /// Writes a number over what stands at that place.
    mutating func replace(at place: Int, with number: UInt32) {
        UnsafeMutableRawBufferPointer(rebasing: room[place..<(place + 4)])
            .storeBytes(of: number.littleEndian, as: UInt32.self)
    }

    /// The count of the bytes and the bytes.
    package mutating func append(counted other: UnsafeRawBufferPointer) {
        append(count: other.count)
        append(other)
    }

    /// How many bytes a count takes together with that many bytes.
    static func length(counted count: Int) -> Int {
        count + max(1, (Int.bitWidth - count.leadingZeroBitCount + 6) / 7)
    }

    package mutating func append(count: Int) {
        if count < 0x80 { append(byte: UInt8(count)) } else { insert(count: count, at: self.count) }
    }

    mutating func insert(count: Int, at place: Int) {
        var (rest, word, length) = (UInt64(count), UInt64(0), 0)
        repeat {
            word |= (rest & 0x7F | (rest > 0x7F ? 0x80 : 0)) << UInt64(8 * length)
            rest >>= 7
            length += 1
        } while rest > 0
        let behind = place..<self.count
        _ = append(length)
        UnsafeMutableRawBufferPointer(rebasing: room[(place + length)...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: room[behind]))
        withUnsafeBytes(of: word.littleEndian) { word in
            UnsafeMutableRawBufferPointer(rebasing: room[place...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: word[..<length]))
        }
    }

    package mutating func append(_ string: String) {
        var string = string
        string.withUTF8 { append(counted: UnsafeRawBufferPointer($0)) }
    }
}
