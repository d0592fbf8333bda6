/// What the records of a settings file come to: where the value of each key stands.
///
/// It is given bytes and knows no file, so that any bytes can be tried on it.
struct FileIndex {
    /// Where the next record goes, and the checksum that it continues from.
    private(set) var end = RecordFormat.headerLength
    private(set) var crc: UInt32
    private var places: [ByteString: Range<UInt32>] = [:]
    /// How many bytes the records of the live keys take.
    private(set) var live = 0
    /// Whether another file is to take the place of this one, or has.
    private(set) var isSealed = false

    /// Creates the index of a file without records.
    ///
    /// - Parameter crc: The checksum of the header.
    init(crc: UInt32) { self.crc = crc }

    var keys: [String] { places.keys.map(\.string) }

    func place(ofKey key: String) -> Range<Int>? {
        places[ByteString(key)].map { Int($0.lowerBound)..<Int($0.upperBound) }
    }

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
    /// - Parameter bytes: What stands in the file from the end on, perhaps not all of it.
    mutating func readOn(_ bytes: UnsafeRawBufferPointer, changed: inout [String]) -> Stop {
        // A seal whose writer died is taken back by the next writer, so it is looked at anew.
        isSealed = false
        let base = end
        while true {
            switch RecordFormat.find(in: bytes, at: end - base, after: crc) {
            case .nothing: return .nothing
            case .cut(let length): return .needs(length)
            case .bad: return .bad
            case .record(let payload, let length, let crc):
                switch RecordFormat.contents(of: bytes, payload: payload) {
                case nil: return .bad
                case .seal?:
                    isSealed = true
                    return .seal
                case .edits(let edits)?:
                    for edit in edits { put(edit.value, at: base, edit.key) }
                    changed += edits.map(\.key)
                }
                self.crc = crc
                end += length
            }
        }
    }

    /// Takes over a record that was written at the end.
    mutating func append(_ edits: [FileEdit], _ values: [Range<Int>?], length: Int, crc: UInt32) {
        for (edit, value) in zip(edits, values) { put(value, at: end + 8, edit.key) }
        self.crc = crc
        end += length
    }

    /// Notes that a seal stands at the end, or does not any more. Nothing is behind it, so nobody steps over it.
    mutating func noteSeal(_ isSealed: Bool) { self.isSealed = isSealed }

    /// Notes where a value stands: that far from a place in the file.
    private mutating func put(_ value: Range<Int>?, at base: Int, _ name: String) {
        let key = ByteString(name)
        if let old = places[key] { live -= RecordFormat.length(ofSetting: name, valueCount: old.count) }
        if let value { live += RecordFormat.length(ofSetting: name, valueCount: value.count) }
        places[key] = value.map { UInt32(base + $0.lowerBound)..<UInt32(base + $0.upperBound) }
    }
}

/// One key of a commit, its value as bytes; nil removes it.
struct FileEdit {
    let key: String
    let value: [UInt8]?
}
