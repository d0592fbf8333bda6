/// The state that the records of a settings file add up to: the range of each key's value.
///
/// The index works on bytes and does not know files, so tests can pass it any bytes. It is a list
/// of the keys and a hash table with open addressing. A key of 25 bytes takes about 60 bytes; a
/// dictionary of strings takes twice that and fills many times more slowly.
struct FileIndex: ~Copyable {
    private struct Entry {
        /// The range of the key in `names`.
        let name: UInt32
        let nameCount: UInt32
        /// The range of the value in the file; 0 for a removed key, because no value starts at 0.
        var value: UInt32
        var valueCount: UInt32
    }

    /// The end of the last record, and the checksum that the next one continues from.
    private(set) var end = RecordFormat.headerLength
    private(set) var crc: UInt32
    /// The offset of that checksum, in the header or in the last record.
    private(set) var crcOffset = RecordFormat.headerLength - 4
    /// The number of bytes that the records of the live keys take.
    private(set) var live = 0
    /// Whether a seal follows the last record: another file replaces this one, or has replaced it.
    private(set) var isSealed = false
    /// The size of the file that the records are from, if it is known. The table then grows in
    /// fewer steps.
    var fileSize = 0
    private var count = 0
    private var entries = GrowingMemory(capacity: 16 * MemoryLayout<Entry>.stride)
    /// The bytes of all keys. Not ranges of the file, because reading a page of the file takes a
    /// system call, and touching a mapped one could raise SIGBUS.
    private var names = GrowingMemory(capacity: 256)
    /// The hash of a key in the upper half, and the number of its entry plus 1 in the lower half.
    private var table = ZeroedTable(count: 16)
    /// The number of keys at which the table grows.
    private var limit = 12
    private let hasher = KeyHasher.shared

    /// Creates the index of a file without records.
    ///
    /// - Parameter crc: The checksum of the header.
    init(crc: UInt32) { self.crc = crc }

    var keys: [String] {
        var keys: [String] = []
        visit { key, _ in keys.append(String(decoding: key, as: UTF8.self)) }
        return keys
    }

    func valueRange(forKey key: String) -> Range<Int>? {
        var key = key
        return key.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            guard let number = find(bytes, hasher.hash(bytes).value).number else { return nil }
            return range(entry(number).pointee)
        }
    }

    /// Calls `body` with each key and the range of its value.
    func visit(_ body: (_ key: UnsafeRawBufferPointer, _ value: Range<Int>) -> Void) {
        for number in 0..<count {
            let entry = entry(number).pointee
            if let range = range(entry) { body(name(entry), range) }
        }
    }

    private func range(_ entry: Entry) -> Range<Int>? {
        entry.value == 0 ? nil : Int(entry.value)..<Int(entry.value + entry.valueCount)
    }

    private func entry(_ number: Int) -> UnsafeMutablePointer<Entry> {
        (entries.start + number * MemoryLayout<Entry>.stride).assumingMemoryBound(to: Entry.self)
    }

    private func name(_ entry: Entry) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: names.start + Int(entry.name), count: Int(entry.nameCount))
    }
}

extension FileIndex {
    /// Why reading stopped.
    enum Stop: Equatable {
        /// Zeros follow: nothing has been written there yet.
        case nothing
        /// The next record needs this many bytes after the last one.
        case needs(Int)
        /// The next bytes are neither a record nor zeros: a write in progress, an unfinished write,
        /// or damage.
        case bad
        case seal
    }

    /// Applies the records that follow the last one. Stops before a seal, because the next records
    /// are in another file.
    ///
    /// - Parameters:
    ///   - bytes: The file from the end of the last record on, or the first part of that.
    ///   - changed: Receives the keys of the records, unless it is `nil`.
    mutating func apply(_ bytes: UnsafeRawBufferPointer, changed: inout [String]?) -> Stop {
        // The next writer removes the seal of a dead process, so check for the seal again.
        isSealed = false
        let base = end
        while true {
            switch RecordFormat.frame(in: bytes, at: end - base, after: crc) {
            case .nothing: return .nothing
            case .cut(let length): return .needs(length)
            case .bad: return .bad
            case .seal:
                isSealed = true
                return .seal
            case .edits(let payload, let length, let crc):
                guard apply(bytes, payload, at: base, changed: &changed) else { return .bad }
                (self.crc, crcOffset) = (crc, end + 4)
                end += length
            }
        }
    }

    /// Applies the operations of a commit, or none of them if one is invalid. Then returns false.
    @inline(__always)
    private mutating func apply(
        _ bytes: UnsafeRawBufferPointer, _ payload: Range<Int>, at base: Int, changed: inout [String]?
    ) -> Bool {
        var reader = ByteReader(
            UnsafeRawBufferPointer(start: bytes.baseAddress!, count: payload.upperBound), at: payload.lowerBound)
        guard let first = RecordFormat.nextEdit(&reader) else { return false }
        let key = first.key(in: bytes)
        let hash = hasher.hash(key)
        // Most commits have one operation, which needs no second walk.
        if reader.isAtEnd {
            guard hash.isASCII || String(utf8: key) != nil else { return false }
            put(key, hash.value, first.value, at: base)
            changed?.append(String(decoding: key, as: UTF8.self))
            return true
        }
        guard RecordFormat.areValid(in: bytes, payload) else { return false }
        return RecordFormat.forEachEdit(in: bytes, payload) { edit in
            let key = edit.key(in: bytes)
            put(key, hasher.hash(key).value, edit.value, at: base)
            changed?.append(String(decoding: key, as: UTF8.self))
            return true
        }
    }

    /// Applies a record that this process has appended.
    mutating func append(_ record: borrowing RecordWriter, crc: UInt32) {
        record.withBytes { bytes in
            _ = RecordFormat.forEachEdit(in: bytes, 8..<(8 + record.payloadCount)) { edit in
                let key = edit.key(in: bytes)
                put(key, hasher.hash(key).value, edit.value, at: end)
                return true
            }
        }
        (self.crc, crcOffset) = (crc, end + 4)
        end += record.length
    }

    /// Returns whether a record, finished or not, makes the live values smaller.
    func shrinks(by record: borrowing RecordWriter) -> Bool {
        var growth = 0
        record.withBytes { bytes in
            _ = RecordFormat.forEachEdit(in: bytes, 8..<bytes.count) { edit in
                let key = edit.key(in: bytes)
                if let number = find(key, hasher.hash(key).value).number, let old = range(entry(number).pointee) {
                    growth -= RecordFormat.length(ofKey: key.count, value: old.count)
                }
                if let value = edit.value { growth += RecordFormat.length(ofKey: key.count, value: value.count) }
                return true
            }
        }
        return growth < 0
    }

    /// Records whether a seal follows the last record. `end` stays before the seal.
    mutating func noteSeal(_ isSealed: Bool) { self.isSealed = isSealed }

    /// Sets the range of a value, relative to `base`, or removes the value if the range is `nil`.
    private mutating func put(_ key: UnsafeRawBufferPointer, _ hash: UInt32, _ value: Range<Int>?, at base: Int) {
        if count == limit { grow() }
        let (slot, number) = find(key, hash)
        // No number is larger than the limit of a file.
        let start = UInt32(truncatingIfNeeded: value.map { base + $0.lowerBound } ?? 0)
        let length = UInt32(truncatingIfNeeded: value?.count ?? 0)
        if let number {
            let entry = entry(number)
            if entry.pointee.value != 0 {
                live -= RecordFormat.length(ofKey: key.count, value: Int(entry.pointee.valueCount))
            }
            (entry.pointee.value, entry.pointee.valueCount) = (start, length)
        } else {
            guard value != nil else { return }
            let entry = Entry(
                name: UInt32(truncatingIfNeeded: names.count), nameCount: UInt32(truncatingIfNeeded: key.count),
                value: start, valueCount: length)
            names.append(key.count).copyMemory(from: key)
            entries.append(MemoryLayout<Entry>.stride).storeBytes(of: entry, as: Entry.self)
            count += 1
            table[slot] = UInt64(hash) << 32 | UInt64(truncatingIfNeeded: count)
        }
        if let value { live += RecordFormat.length(ofKey: key.count, value: value.count) }
    }

    /// Returns the number of a key's entry, or the free slot for the key.
    @inline(__always)
    private func find(_ key: UnsafeRawBufferPointer, _ hash: UInt32) -> (slot: Int, number: Int?) {
        var slot = Int(truncatingIfNeeded: hash)
        while true {
            let word = table[slot]
            if word == 0 { return (slot, nil) }
            let number = Int(truncatingIfNeeded: word & 0xFFFF_FFFF) - 1
            if word >> 32 == UInt64(hash), areEqual(name(entry(number).pointee), key) { return (slot, number) }
            slot += 1
        }
    }

    /// Makes the table twice as large, or up to eight times if the rest of the file is likely to
    /// hold as many keys.
    @inline(never)
    private mutating func grow() {
        let expected = min(count * 8, count * max(1, fileSize / end))
        var size = table.count * 2
        while expected > size / 4 * 3 { size *= 2 }
        let larger = ZeroedTable(count: size)
        for slot in 0..<table.count where table[slot] != 0 {
            var free = Int(truncatingIfNeeded: table[slot] >> 32)
            while larger[free] != 0 { free += 1 }
            larger[free] = table[slot]
        }
        table = larger
        limit = size / 4 * 3
    }
}

/// Hashes keys with two random numbers, so that keys cannot be chosen to collide.
///
/// Multiplies 16 bytes per step to 128 bits, as wyhash does. `Hasher` takes nine times as many
/// instructions for a key of 25 bytes.
struct KeyHasher {
    /// The hasher of this process.
    static let shared = Self()
    private let first = UInt64.random(in: 0 ... .max)
    private let second = UInt64.random(in: 0 ... .max)

    /// Returns the hash, and whether all bytes are ASCII.
    @inline(__always)
    func hash(_ key: UnsafeRawBufferPointer) -> (value: UInt32, isASCII: Bool) {
        let count = key.count
        func word(_ offset: Int) -> UInt64 { key.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
        func half(_ offset: Int) -> UInt64 { UInt64(key.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
        func byte(_ offset: Int) -> UInt64 { UInt64(key[offset]) }
        func product(_ one: UInt64, _ other: UInt64) -> UInt64 {
            let (high, low) = one.multipliedFullWidth(by: other)
            return high ^ low
        }
        var state = first ^ UInt64(truncatingIfNeeded: count)
        var all: UInt64 = 0
        var offset = 0
        while count &- offset > 16 {
            all |= word(offset) | word(offset &+ 8)
            state = product(state ^ word(offset), second ^ word(offset &+ 8))
            offset &+= 16
        }
        // The last bytes. Words may overlap, because the count is part of the hash.
        let low: UInt64
        let high: UInt64
        if count >= 16 {
            (low, high) = (word(count - 16), word(count - 8))
        } else if count >= 8 {
            (low, high) = (word(0), word(count - 8))
        } else if count >= 4 {
            (low, high) = (half(0), half(count - 4))
        } else {
            (low, high) = (count > 0 ? byte(0) << 16 | byte(count / 2) << 8 | byte(count - 1) : 0, 0)
        }
        state = product(state ^ low, second ^ high)
        state = product(state ^ second, first)
        return (UInt32(truncatingIfNeeded: state ^ state >> 32), (all | low | high) & 0x8080_8080_8080_8080 == 0)
    }
}
