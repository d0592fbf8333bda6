import Testing

@testable import SettingsFile

/// A torn record may be erased, a damaged one must be kept.
struct TornRecordTests {
    private let crc: UInt32 = 7

    /// Returns a record whose payload ends with zeros, and the room after it.
    private func record(nonzero: Int, of count: Int) -> [UInt8] {
        let payload = (0..<count).map { $0 < nonzero ? UInt8($0 % 255 + 1) : 0 }
        return payload.withUnsafeBytes { payload in
            var record = RecordWriter(payload: payload)
            _ = record.finish(after: crc)
            return record.withBytes { Array($0) } + [UInt8](repeating: 0, count: 64)
        }
    }

    private func isTorn(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { Salvage.isTornRecord($0, at: 0, after: crc) }
    }

    @Test func aRecordOfWhichTheLastBlocksAreMissingIsTorn() {
        let whole = record(nonzero: 1_000, of: 1_000)
        #expect(!isTorn(whole))
        #expect(isTorn(Array(whole[..<512]) + [UInt8](repeating: 0, count: whole.count - 512)))
        #expect(!isTorn(Array(whole[..<500]) + [UInt8](repeating: 0, count: whole.count - 500)), "no block ends there")
    }

    /// Up to the zeros at the end of its value, the record looks like a torn one.
    @Test func aCompleteRecordWithOneChangedBitIsNotTorn() {
        let whole = record(nonzero: 504, of: 1_000)
        #expect(!isTorn(whole))
        for bit in Array(0..<64) + Array(stride(from: 64, to: 512 * 8, by: 61)) {
            var bytes = whole
            bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(!isTorn(bytes), "bit \(bit)")
        }
    }

    /// After a missing block, the rest of its record may follow, or whole records.
    @Test func aWholeRecordBehindAMissingBlockIsNotTorn() {
        var record = RecordWriter()
        record.append("key", raw: [UInt8](repeating: 1, count: 100)[...])
        // A checksum that continues from lost bytes.
        _ = record.finish(after: 99)
        let (missing, found) = ([UInt8](repeating: 0, count: 512), record.withBytes { Array($0) })
        #expect(!isTorn(missing + found))
        #expect(isTorn(missing + found[..<64]), "its length goes beyond the end")
        #expect(isTorn(missing + [UInt8](repeating: 1, count: 200)), "it is no record")
    }
}
