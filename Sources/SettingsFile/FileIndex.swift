/// The state that the records of a settings file add up to: the range of each key's value.
///
/// The index works on bytes and does not know files, so tests can pass it any bytes. It is a hash
/// table with open addressing. A key of 25 bytes takes about 60 bytes; a dictionary of strings
/// takes twice that and fills five times more slowly.
struct FileIndex {
    private struct Slot {
        var hash: UInt32 = 0
        /// The range of the key in `names`; a negative count marks an empty slot.
        var name: UInt32 = 0
        var nameCount: Int32 = -1
        /// The range of the value in the file; 0 for a removed key, because no value starts at 0.
        var value: UInt32 = 0
        var valueCount: UInt32 = 0
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
    /// The count is a power of two. At most three quarters of the slots are used.
    private var slots = [Slot](repeating: Slot(), count: 16)
    private var used = 0
    private var names: [UInt8] = []

    /// Creates the index of a file without records.
    ///
    /// - Parameter crc: The checksum of the header.
    init(crc: UInt32) { self.crc = crc }

    var keys: [String] {
        slots.filter { $0.value != 0 }.map { String(decoding: names[range($0)], as: UTF8.self) }
    }

    func valueRange(forKey key: String) -> Range<Int>? {
        var key = key
        return key.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            let slot = slots[index(of: bytes, Self.hash(bytes))]
            return slot.value == 0 ? nil : Int(slot.value)..<Int(slot.value + slot.valueCount)
        }
    }

    /// Calls `body` with each key and the range of its value.
    func visit(_ body: (_ key: UnsafeRawBufferPointer, _ value: Range<Int>) -> Void) {
        names.withUnsafeBytes { names in
            for slot in slots where slot.value != 0 {
                body(
                    UnsafeRawBufferPointer(rebasing: names[range(slot)]),
                    Int(slot.value)..<Int(slot.value + slot.valueCount))
            }
        }
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
            switch RecordFormat.find(in: bytes, at: end - base, after: crc) {
            case .nothing: return .nothing
            case .cut(let length): return .needs(length)
            case .bad: return .bad
            case .seal:
                isSealed = true
                return .seal
            case .edits(let payload, let length, let crc):
                RecordFormat.forEachEdit(in: bytes, payload) { edit in
                    let key = UnsafeRawBufferPointer(rebasing: bytes[edit.key])
                    put(key, edit.value, at: base)
                    changed?.append(String(decoding: key, as: UTF8.self))
                    return true
                }
                (self.crc, crcOffset) = (crc, end + 4)
                end += length
            }
        }
    }

    /// Applies a record that this process has appended.
    mutating func append(_ record: borrowing RecordWriter, crc: UInt32) {
        record.withBytes { bytes in
            _ = RecordFormat.forEachEdit(in: bytes, 8..<(8 + record.payloadCount)) { edit in
                put(UnsafeRawBufferPointer(rebasing: bytes[edit.key]), edit.value, at: end)
                return true
            }
        }
        (self.crc, crcOffset) = (crc, end + 4)
        end += record.length
    }

    /// Records whether a seal follows the last record. `end` stays before the seal.
    mutating func noteSeal(_ isSealed: Bool) { self.isSealed = isSealed }

    /// Sets the range of a value, relative to `base`, or removes the value if the range is `nil`.
    private mutating func put(_ key: UnsafeRawBufferPointer, _ value: Range<Int>?, at base: Int) {
        let hash = Self.hash(key)
        var index = index(of: key, hash)
        if slots[index].nameCount < 0 {
            guard value != nil else { return }
            if (used + 1) * 4 > slots.count * 3 {
                grow()
                index = self.index(of: key, hash)
            }
            used += 1
            slots[index] = Slot(hash: hash, name: UInt32(names.count), nameCount: Int32(key.count))
            names.append(contentsOf: key)
        }
        if slots[index].value != 0 {
            live -= RecordFormat.length(ofKey: key.count, value: Int(slots[index].valueCount))
        }
        if let value { live += RecordFormat.length(ofKey: key.count, value: value.count) }
        slots[index].value = value.map { UInt32(base + $0.lowerBound) } ?? 0
        slots[index].valueCount = UInt32(value?.count ?? 0)
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: Slot(), count: old.count * 2)
        for slot in old where slot.nameCount >= 0 {
            var index = Int(truncatingIfNeeded: slot.hash) & (slots.count - 1)
            while slots[index].nameCount >= 0 { index = (index + 1) & (slots.count - 1) }
            slots[index] = slot
        }
    }

    /// Returns the slot of a key, or the free slot for it.
    private func index(of key: UnsafeRawBufferPointer, _ hash: UInt32) -> Int {
        var index = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[index].nameCount >= 0 {
            let isSame = names.withUnsafeBytes { names in
                slots[index].hash == hash
                    && areEqual(UnsafeRawBufferPointer(rebasing: names[range(slots[index])]), key)
            }
            if isSame { break }
            index = (index + 1) & (slots.count - 1)
        }
        return index
    }

    private func range(_ slot: Slot) -> Range<Int> { Int(slot.name)..<(Int(slot.name) + Int(slot.nameCount)) }

    private static func hash(_ key: UnsafeRawBufferPointer) -> UInt32 {
        var hasher = Hasher()
        hasher.combine(bytes: key)
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }
}
