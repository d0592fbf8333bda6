import TestSupport
import Testing

@testable import SettingsFile

/// Tests the table of keys against a dictionary.
struct KeyTableTests {
    private func apply(_ edits: [(key: String, value: [UInt8]?)], to table: inout KeyTable) {
        var record = RecordWriter()
        for (key, value) in edits {
            if let value { record.append(key, raw: value[...]) } else { record.append(removalOf: key) }
        }
        let bytes = record.withBytes { Array($0) }
        table.apply(Records(bytes: bytes, payloads: [8..<bytes.count]))
    }

    private func expect(_ table: KeyTable, _ expected: [ByteString: [UInt8]], _ keys: [String]) {
        #expect(Set(table.keys.map(ByteString.init)) == Set(expected.keys))
        for key in keys { #expect(table.value(forKey: key) == expected[ByteString(key)]) }
        let lengths = expected.map { RecordFormat.length(ofKey: $0.key.string.utf8.count, value: $0.value.count) }
        #expect(table.live == lengths.reduce(0, +))
    }

    /// Also if the hashes of all keys are equal, and with keys that are equal up to their last byte
    /// or up to composed characters.
    @Test(arguments: [false, true]) func aTableHoldsTheLastValueOfEachKey(haveEqualHashes: Bool) {
        var generator = SeededGenerator(seed: haveEqualHashes ? 1 : 2)
        var table = haveEqualHashes ? KeyTable(factor: 0) : KeyTable()
        let keys =
            ["", "é", "e\u{301}"]
            + (1..<300).map { number in String(repeating: "k", count: number % 33) + String(number / 33) }
        var expected: [ByteString: [UInt8]] = [:]
        for round in 0..<5_000 {
            let edits = (0..<Int.random(in: 1...3, using: &generator)).map { _ -> (key: String, value: [UInt8]?) in
                let count = Int.random(in: 0...200, using: &generator)
                // At first, most keys are set, and later, most are removed.
                let isSet = Int.random(in: 0..<5_000, using: &generator) > round
                return (
                    keys.randomElement(using: &generator)!,
                    isSet ? [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: count) : nil
                )
            }
            apply(edits, to: &table)
            for (key, value) in edits { expected[ByteString(key)] = value }
            #expect(table.bytes.count <= max(2 * table.live, 16 << 10))
            if round % 500 == 0 { expect(table, expected, keys) }
        }
        expect(table, expected, keys)
    }

    /// The records of one key do not pile up in memory, and neither do the names of removed keys.
    @Test func supersededEditsLeaveTheMemory() {
        var table = KeyTable()
        for round in 0..<1_000 {
            apply([("key", [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: 64 << 10))], to: &table)
            #expect(table.bytes.count <= 2 * table.live)
        }
        #expect(table.value(forKey: "key") == [UInt8](repeating: UInt8(truncatingIfNeeded: 999), count: 64 << 10))
        for number in 0..<10_000 { apply([("key", nil), ("key\(number)", [1]), ("key\(number)", nil)], to: &table) }
        #expect(table.keys.isEmpty && table.live == 0 && table.bytes.count <= 16 << 10)
        apply([("key", [7])], to: &table)
        expect(table, [ByteString("key"): [7]], ["key", "key9"])
    }

    /// A copy, as the check for room makes one, does not change the original.
    @Test func aCopyOfATableIsIndependent() {
        var table = KeyTable()
        apply([("a", [1]), ("b", [2])], to: &table)
        var copy = table
        apply([("a", nil), ("c", [3])], to: &copy)
        expect(table, [ByteString("a"): [1], ByteString("b"): [2]], ["a", "b", "c"])
        expect(copy, [ByteString("b"): [2], ByteString("c"): [3]], ["a", "b", "c"])
    }
}
