import TestSupport
import Testing

@testable import SettingsFile

/// Tests that the processor's instructions and the tables compute the same checksum.
struct CRC32CTests {
    private typealias Checksum = (UnsafeRawBufferPointer, UInt32) -> UInt32
    private let fromTables: Checksum = { CRC32C.checksumFromTables(of: $0, seed: $1) }
    /// By instructions where the processor has them.
    private let standard: Checksum = { CRC32C.checksum(of: $0, seed: $1) }

    @Test func checksumsMatchTheStandardCheckValue() {
        for checksum in [fromTables, standard] {
            let crc = Array("123456789".utf8).withUnsafeBytes { checksum($0, 0) }
            #expect(crc == 0xE306_9283)
            #expect(checksum(UnsafeRawBufferPointer(start: nil, count: 0), 7) == 7)
        }
    }

    /// Computes the checksum bit by bit.
    private func reference(_ bytes: UnsafeRawBufferPointer, _ seed: UInt32) -> UInt32 {
        ~bytes.reduce(~seed) { crc, byte in
            (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in
                crc & 1 == 0 ? crc >> 1 : (crc >> 1) ^ CRC32C.polynomial
            }
        }
    }

    @Test func instructionsAndTablesAgree() {
        var generator = SeededGenerator(seed: 32)
        let bytes = (0..<5_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        bytes.withUnsafeBytes { bytes in
            for round in 0..<2_000 {
                // Each short length at each alignment, then any range.
                let start = round < 1_000 ? round % 8 : .random(in: 0..<4_000, using: &generator)
                let count = round < 1_000 ? round / 8 : .random(in: 0...1_000, using: &generator)
                let part = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + count)])
                let seed = UInt32.random(in: 0 ... .max, using: &generator)
                let expected = reference(part, seed)
                #expect(fromTables(part, seed) == expected)
                #expect(standard(part, seed) == expected)
            }
        }
    }

    #if arch(x86_64) && os(Linux)
        @Test func everyPresentProcessorHasInstructions() { #expect(CRC32C.hasInstructions) }
    #endif
}
