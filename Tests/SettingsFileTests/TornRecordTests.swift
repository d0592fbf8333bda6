import Testing

@testable import SettingsFile

/// A torn record may be removed without a copy, a damaged one must be kept.
struct TornRecordTests {
    /// Returns a record whose payload ends with zeros, and the room after it.
    private func record(nonzero: Int, of count: Int) -> [UInt8] {
        let payload = (0..<count).map { $0 < nonzero ? UInt8($0 % 255 + 1) : 0 }
        return payload.withUnsafeBytes { payload in
            var record = RecordWriter(payload: payload)
            _ = record.finish(after: 7)
            return record.withBytes { Array($0) } + [UInt8](repeating: 0, count: 64)
        }
    }

    /// Returns the bytes with zeros from an offset on.
    private func cut(_ bytes: [UInt8], at count: Int) -> [UInt8] {
        Array(bytes[..<count]) + [UInt8](repeating: 0, count: bytes.count - count)
    }

    @Test func aRecordOfWhichTheLastBlocksAreMissingIsTorn() {
        let whole = record(nonzero: 1_000, of: 1_000)
        #expect(!RecordFormat.isTorn(whole, at: 0))
        #expect(RecordFormat.isTorn(cut(whole, at: 512), at: 0))
        #expect(RecordFormat.isTorn(cut(whole, at: 504), at: 8), "the block ends there")
        #expect(!RecordFormat.isTorn(cut(whole, at: 500), at: 0), "no block ends there")
        #expect(!RecordFormat.isTorn(Array(whole[..<512]), at: 0), "the file was truncated")
    }

    /// Up to the zeros at the end of its value, the record looks like a torn one.
    @Test func aWholeRecordWithOneChangedBitIsNotTorn() {
        let whole = record(nonzero: 504, of: 1_000)
        #expect(!RecordFormat.isTorn(whole, at: 0))
        for bit in Array(0..<64) + Array(stride(from: 64, to: 512 * 8, by: 61)) {
            var bytes = whole
            bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(!RecordFormat.isTorn(bytes, at: 0), "bit \(bit)")
        }
    }

    /// With a damaged length, a whole record could look longer than it is. Its last byte shows that
    /// it is not.
    @Test func aWholeRecordThatEndsABlockIsNotTorn() {
        var bytes = record(nonzero: 500, of: 503)
        #expect(bytes[511] == 1 && bytes[512] == 0)
        bytes[0] += 8
        #expect(!RecordFormat.isTorn(bytes, at: 0))
    }

    @Test func aRecordBehindAMissingBlockIsNotTorn() {
        let found = record(nonzero: 100, of: 100)
        #expect(!RecordFormat.isTorn([UInt8](repeating: 0, count: 512) + found, at: 0))
    }

    /// No reader accepts a record before its last byte is there, even if all missing bytes are
    /// zeros.
    @Test func aRecordIsReadOnlyWithItsLastByte() {
        let whole = record(nonzero: 10, of: 1_000)
        for end in [20, 512, 1_000, whole.count - 65] {
            let bytes = cut(whole, at: end)
            bytes.withUnsafeBytes { #expect(RecordFormat.commit(in: $0, at: 0, after: 7) == nil) }
        }
    }
}
