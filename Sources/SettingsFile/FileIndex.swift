/// What the records of a settings file come to: where the value of each key stands.
///
/// It is given bytes and knows no file, so that any bytes can be tried on it. A hash table of its own, with open addressing: some
/// 60 bytes for a key of 25, where a dictionary of strings takes twice that and five times as long to fill.
struct FileIndex {
    private struct Slot {
        var hash: UInt32 = 0
        /// Where in `names` the key stands, and its length; negative in a slot that no key has.
        var name: UInt32 = 0
        var nameCount: Int32 = -1
        /// Where in the file the value stands, and its length; 0 for a key that was removed, since no value begins there.
        var value: UInt32 = 0
        var valueCount: UInt32 = 0
    }

    /// Where the next record goes, and the checksum that it continues from.
    private(set) var end = RecordFormat.headerLength
    private(set) var crc: UInt32
    /// Where the file holds that checksum, in the header or in the last record.
    private(set) var crcPlace = RecordFormat.headerLength - 4
    /// How many bytes the records of the live keys take.
    private(set) var live = 0
    /// Whether another file is to take the place of this one, or has.
    private(set) var isSealed = false
    /// As many as a power of two, at most three quarters of them with a key.
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

    func place(ofKey key: String) -> Range<Int>? {
        var key = key
        return key.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            let slot = slots[index(of: bytes, Self.hash(bytes))]
            return slot.value == 0 ? nil : Int(slot.value)..<Int(slot.value + slot.valueCount)
        }
    }

    /// Calls `body` with each key and where its value stands.
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
    /// Why reading has come to an end.
    enum Stop: Equatable {
        /// Zeros follow: nothing was written there yet.
        case nothing
        /// So many bytes from the end on would show more.
        case needs(Int)
        /// What follows is neither a record nor nothing: somebody is writing it, or never finished, or it is damaged.
        case bad
        case seal
    }

    /// Applies the records that begin at the end. At a seal it stays: what comes next is in another file.
    ///
    /// - Parameters:
    ///   - bytes: What stands in the file from the end on, perhaps not all of it.
    ///   - changed: Takes the keys of the records, unless it is nil.
    mutating func readOn(_ bytes: UnsafeRawBufferPointer, changed: inout [String]?) -> Stop {
        // A seal whose writer died is taken back by the next writer, so it is looked at anew.
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
                (self.crc, crcPlace) = (crc, end + 4)
                end += length
            }
        }
    }

    /// Takes over a record that was written at the end.
    mutating func append(_ record: borrowing RecordWriter, crc: UInt32) {
        record.withBytes { bytes in
            _ = RecordFormat.forEachEdit(in: bytes, 8..<(8 + record.payloadCount)) { edit in
                put(UnsafeRawBufferPointer(rebasing: bytes[edit.key]), edit.value, at: end)
                return true
            }
        }
        (self.crc, crcPlace) = (crc, end + 4)
        end += record.length
    }

    /// Notes that a seal stands at the end, or does not any more. Nothing is behind it, so nobody steps over it.
    mutating func noteSeal(_ isSealed: Bool) { self.isSealed = isSealed }

    /// Notes where a value stands, that far from a place in the file; nil if it was removed.
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

    /// The slot of that key, or the one that it would get.
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
