import TestSupport
import Testing

@testable import SettingsFile

/// Tests the index of a file against a dictionary.
struct FileIndexTests {
    /// Returns the records of the given commits, as they follow a header with the checksum 7.
    private func records(_ commits: [[(key: String, value: [UInt8]?)]]) -> [UInt8] {
        var (bytes, crc) = ([UInt8](), UInt32(7))
        for commit in commits {
            var record = RecordWriter()
            for (key, value) in commit {
                if let value { record.append(key, raw: value[...]) } else { record.append(removalOf: key) }
            }
            crc = record.finish(after: crc)
            record.withBytes { bytes += $0 }
        }
        return bytes + [UInt8](repeating: 0, count: 8)
    }

    private func values(_ index: borrowing FileIndex, of bytes: [UInt8]) -> [String: [UInt8]] {
        var values: [String: [UInt8]] = [:]
        index.visit { key, range in
            let header = RecordFormat.headerLength
            values[String(decoding: key, as: UTF8.self)] = Array(
                bytes[(range.lowerBound - header)..<(range.upperBound - header)])
        }
        return values
    }

    @Test(arguments: [0, 100, 1 << 20]) func theIndexHoldsTheLastValueOfEachKey(fileSize: Int) {
        var generator = SeededGenerator(seed: UInt64(fileSize))
        // Keys of each length that the hash treats differently, and keys that are not ASCII.
        let keys = (0..<3_000).map { number in
            let start = String(repeating: number % 2 == 0 ? "k" : "é", count: number % 41)
            return number < 41 ? start : start + String(number)
        }
        var expected: [String: [UInt8]] = [:]
        var commits: [[(key: String, value: [UInt8]?)]] = []
        for _ in 0..<6_000 {
            var edits: [(key: String, value: [UInt8]?)] = []
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let key = keys.randomElement(using: &generator)!
                let value = Array(key.utf8.reversed()) + [UInt8.random(in: 0...255, using: &generator)]
                edits.append((key, Int.random(in: 0..<5, using: &generator) == 0 ? nil : value))
            }
            for (key, value) in edits { expected[key] = value }
            commits.append(edits)
        }
        let bytes = records(commits)
        var index = FileIndex(crc: 7)
        index.fileSize = fileSize
        var changed: [String]? = []
        let stop = bytes.withUnsafeBytes { index.apply($0, changed: &changed) }
        #expect(stop == .nothing)
        #expect(changed == commits.flatMap { $0.map(\.key) })
        #expect(values(index, of: bytes) == expected)
        #expect(Set(index.keys) == Set(expected.keys))
        for key in keys {
            let range = index.valueRange(forKey: key)
            #expect(range?.count == expected[key]?.count)
        }
        #expect(
            index.live
                == expected.reduce(0) { $0 + RecordFormat.length(ofKey: $1.key.utf8.count, value: $1.value.count) })
    }

    /// The operations of a commit are applied together or not at all, even if the last one has an
    /// unknown form.
    @Test(
        arguments: [
            [3, 1, 107, 0], [1, 1, 0xFF, 0], [2, 2, 0xC3, 0x28], [1, 1, 107], [1, 9, 107, 0], [2],
        ] as [[UInt8]]) func aCommitWithAnInvalidOperationIsNotApplied(operation: [UInt8])
    {
        for valid in [[], [1, 1, 97, 0], [1, 1, 97, 0, 2, 1, 98]] as [[UInt8]] {
            let bytes = (valid + operation).withUnsafeBytes { payload in
                var record = RecordWriter(payload: payload)
                _ = record.finish(after: 7)
                return record.withBytes { Array($0) }
            }
            var index = FileIndex(crc: 7)
            var changed: [String]? = []
            let stop = bytes.withUnsafeBytes { index.apply($0, changed: &changed) }
            #expect(stop == .bad)
            #expect(index.keys == [] && changed == [] && index.end == RecordFormat.headerLength)
        }
    }

    /// Without secrets, someone could choose thousands of keys that collide. With them, two hashers
    /// agree on none of these keys except by chance.
    @Test func hashesDependOnSecretsAndOnEveryByte() {
        let hashers = [KeyHasher(), KeyHasher()]
        func hash(_ key: [UInt8], _ hasher: KeyHasher) -> UInt32 { key.withUnsafeBytes { hasher.hash($0).value } }
        var hashes = Set<UInt32>()
        var count = 0
        for length in 1...70 {
            let key = [UInt8](repeating: 97, count: length)
            #expect(hash(key, hashers[0]) != hash(key, hashers[1]))
            for position in 0..<length {
                var other = key
                other[position] ^= 1
                hashes.insert(hash(other, hashers[0]))
                count += 1
                other[position] = 0x80
                #expect(!other.withUnsafeBytes { hashers[0].hash($0).isASCII })
            }
        }
        // Of 2,485 hashes of 32 bits, two are equal by chance once in 1,400 processes.
        #expect(hashes.count >= count - 1)
    }
}
