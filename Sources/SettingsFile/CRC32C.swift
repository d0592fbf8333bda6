internal import CChecksum

/// The checksum of records: CRC-32C (Castagnoli), computed by the processor's own instructions, or
/// from tables where it has none, eight bytes per step.
package enum CRC32C {
    static let polynomial: UInt32 = 0x82F6_3B78
    static let hasInstructions = crc32c_is_available() != 0
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var value = UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 0 ? value >> 1 : (value >> 1) ^ polynomial }
            tables[byte] = value
        }
        for index in 256..<(8 * 256) {
            let value = tables[index - 256]
            tables[index] = (value >> 8) ^ tables[low(UInt64(value))]
        }
        return tables
    }()

    /// Returns the lowest byte, which is an index into a table.
    private static func low(_ word: UInt64) -> Int { Int(truncatingIfNeeded: word & 0xFF) }

    /// Returns the checksum of `bytes`, continuing from `seed`.
    package static func checksum(of bytes: UnsafeRawBufferPointer, seed: UInt32 = 0) -> UInt32 {
        guard hasInstructions else { return checksumFromTables(of: bytes, seed: seed) }
        return crc32c(seed, bytes.baseAddress, UInt(bytes.count))
    }

    static func checksumFromTables(of bytes: UnsafeRawBufferPointer, seed: UInt32 = 0) -> UInt32 {
        tables.withUnsafeBufferPointer { checksum(of: bytes, seed: seed, from: $0) }
    }

    private static func checksum(
        of bytes: UnsafeRawBufferPointer, seed: UInt32, from tables: UnsafeBufferPointer<UInt32>
    ) -> UInt32 {
        var crc = ~seed
        var index = 0
        while index + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian ^ UInt64(crc)
            crc =
                tables[0x700 + low(word)] ^ tables[0x600 + low(word >> 8)]
                ^ tables[0x500 + low(word >> 16)] ^ tables[0x400 + low(word >> 24)]
                ^ tables[0x300 + low(word >> 32)] ^ tables[0x200 + low(word >> 40)]
                ^ tables[0x100 + low(word >> 48)] ^ tables[low(word >> 56)]
            index += 8
        }
        // The four bytes before a record's checksum take this path.
        if index + 4 <= bytes.count {
            let word = UInt64(bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self).littleEndian ^ crc)
            crc =
                tables[0x300 + low(word)] ^ tables[0x200 + low(word >> 8)]
                ^ tables[0x100 + low(word >> 16)] ^ tables[low(word >> 24)]
            index += 4
        }
        while index < bytes.count {
            crc = (crc >> 8) ^ tables[low(UInt64(crc) ^ UInt64(bytes[index]))]
            index += 1
        }
        return ~crc
    }
}
