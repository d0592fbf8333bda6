/// One settings file that is open: its records, and where the value of each key stands.
///
/// Touched only with the lock of its backend held. After a replacement the new file is another log.
struct FileLog {
    let file: File
    let directory: File
    let status: File.Status
    let isWritable: Bool
    let epoch: UInt64
    private let window: FileWindow

    /// Where the next record goes, and the checksum that it continues from.
    private(set) var end: Int
    private var crc: UInt32
    /// How far the file reaches; from `end` on it holds zeros.
    private var size: Int
    private var index: [ByteString: Range<UInt32>] = [:]
    /// How many bytes the records of the live keys take.
    private(set) var live = 0
    /// Whether another file is to take the place of this one, or has.
    private(set) var isSealed = false

    // Kept here, with the file: what was flushed of another file says nothing of this one.
    /// How far the file was flushed, and whether its name was.
    private(set) var flushed = 0
    private(set) var isNameFlushed = false
    /// Whether a flush has failed, so that nobody knows what is on the disk, and the file must be written anew.
    var isDoubtful = false

    /// What reading on came to.
    struct Progress {
        var changed: [String] = []
        /// Whether what stands behind the last record is neither a record nor nothing: somebody is writing it, or never finished, or
        /// it is damaged.
        var isStopped = false
    }

    /// Whether something stands where the next record goes. A file that was cut off there is one to look at as well.
    var hasMore: Bool { end + 8 > size || window.word(at: end) != 0 }

    mutating func noteFlush(to end: Int) {
        flushed = max(flushed, end)
        isNameFlushed = true
    }

    var keys: [String] { index.keys.map(\.string) }
}

extension FileLog {
    /// Opens a file; nil if nothing has been written to it yet.
    static func opening(_ file: File, in directory: File, isWritable: Bool) throws(FileFailure) -> (
        log: FileLog, progress: Progress
    )? {
        let status = try file.status()
        guard status.isRegular else { throw FileFailure("it is not a regular file") }
        guard status.isOwn else { throw FileFailure("it belongs to another user") }
        guard status.links <= 1 else { throw FileFailure("it has more than one name") }
        guard status.size <= RecordFormat.sizeLimit + RecordFormat.step else {
            throw FileFailure("it is larger than 64 MiB")
        }
        let header = try file.read(at: 0, count: RecordFormat.headerLength)
        // Zeros in front of something are damage, or a file of another kind.
        if header.allSatisfy({ $0 == 0 }), try file.read(at: 0, count: status.size).allSatisfy({ $0 == 0 }) {
            return nil
        }
        let fields = try RecordFormat.fields(ofHeader: header)
        var log = FileLog(
            file: file, directory: directory, status: status, isWritable: isWritable, epoch: fields.epoch,
            window: try FileWindow(file, length: RecordFormat.sizeLimit + RecordFormat.step),
            end: RecordFormat.headerLength, crc: fields.crc, size: status.size)
        let progress = try log.readOn(isOpening: true)
        return (log, progress)
    }

    /// Applies the records that have been added since. At a seal it stays: what comes next is in another file.
    ///
    /// - Parameter isOpening: Whether what stands behind zeros counts as well: a loss of power can leave the second half of a record.
    mutating func readOn(isOpening: Bool = false) throws(FileFailure) -> Progress {
        var progress = Progress()
        // A seal whose writer died is taken back by the next writer, so it is looked at anew.
        isSealed = false
        size = try file.status().size
        let base = end
        let bytes = try file.read(at: base, count: max(size - base, 0))
        bytes.withUnsafeBytes { bytes in
            while true {
                switch RecordFormat.find(in: bytes, at: end - base, after: crc) {
                case .nothing:
                    progress.isStopped = isOpening && bytes[(end - base)...].contains { $0 != 0 }
                    return
                case .bad:
                    progress.isStopped = true
                    return
                case .record(let payload, let length, let crc):
                    switch RecordFormat.contents(of: bytes, payload: payload) {
                    case nil:
                        progress.isStopped = true
                        return
                    case .seal?:
                        isSealed = true
                        return
                    case .edits(let edits)?:
                        for edit in edits { put(edit.value, from: base, edit.key) }
                        progress.changed += edits.map(\.key)
                    }
                    self.crc = crc
                    end += length
                }
            }
        }
        return progress
    }

    /// Notes where a value stands: that far from a place in the file.
    private mutating func put(_ value: Range<Int>?, from base: Int, _ name: String) {
        let key = ByteString(name)
        if let old = index[key] { live -= RecordFormat.length(ofSetting: name, valueCount: old.count) }
        if let value { live += RecordFormat.length(ofSetting: name, valueCount: value.count) }
        index[key] = value.map { UInt32(base + $0.lowerBound)..<UInt32(base + $0.upperBound) }
    }

    /// The bytes of a value; nil if the key is missing.
    func bytes(forKey key: String) throws(FileFailure) -> [UInt8]? {
        guard let range = index[ByteString(key)] else { return nil }
        let bytes = try file.read(at: Int(range.lowerBound), count: range.count)
        guard bytes.count == range.count else { throw FileFailure("it was cut short from outside") }
        return bytes
    }
}

// Writing, with the file's lock held.
extension FileLog {
    /// Appends a commit.
    mutating func append(_ edits: [FileEdit]) throws(FileFailure) {
        let payload = RecordFormat.payload(edits)
        try append(payload: payload.bytes)
        let base = end - RecordFormat.length(ofPayload: payload.bytes.count) + 8
        for (edit, value) in zip(edits, payload.values) {
            put(value, from: base, edit.key)
        }
    }

    /// Tells all who have this file open that another one takes its place.
    mutating func seal() throws(FileFailure) {
        let (end, crc) = (end, crc)
        try append(payload: RecordFormat.seal)
        // Nothing is behind a seal, so nobody steps over it.
        (self.end, self.crc, isSealed) = (end, crc, true)
    }

    /// Takes the seal back: no other file has come.
    mutating func unseal() throws(FileFailure) {
        // And with it damage that was to be replaced, of which a copy was made before.
        let count = max(RecordFormat.length(ofPayload: RecordFormat.seal.count), try rest().count)
        try file.write([UInt8](repeating: 0, count: count), at: end)
        isSealed = false
    }

    /// What stands behind the last good record, up to the zeros.
    func rest() throws(FileFailure) -> [UInt8] {
        let bytes = try file.read(at: end, count: max(size - end, 0))
        return Array(bytes[..<((bytes.lastIndex { $0 != 0 } ?? -1) + 1)])
    }

    private mutating func append(payload: [UInt8]) throws(FileFailure) {
        let record = RecordFormat.record(payload, after: crc)
        // The word behind the record must be there, and must be zero, before the record is.
        if end + record.bytes.count + 8 > size {
            try extend(to: end + record.bytes.count + 8, isSeal: payload == RecordFormat.seal)
        }
        var written = 0
        do throws(FileFailure) {
            try file.write(record.bytes, at: end, written: &written)
        } catch {
            // Half a record would stand in the way of all that follow. If that fails as well, the next writer repairs the file.
            if written > 0 { try? file.write([UInt8](repeating: 0, count: written), at: end) }
            throw error
        }
        end += record.bytes.count
        crc = record.crc
    }

    private mutating func extend(to length: Int, isSeal: Bool) throws(FileFailure) {
        let newSize = RecordFormat.size(for: length)
        // A full file can still be replaced.
        guard newSize <= RecordFormat.sizeLimit + (isSeal ? RecordFormat.step : 0) else {
            throw FileFailure(limit: "it would be larger than 64 MiB")
        }
        try file.write([UInt8](repeating: 0, count: newSize - size), at: size)
        size = newSize
    }

    /// Whether a record of that length would leave more behind than is worth keeping.
    func isDueForReplacement(appending count: Int) -> Bool {
        let needed = end + count + 8
        let newSize = RecordFormat.size(for: needed)
        return needed > size
            && (newSize > max(RecordFormat.step, 4 * (live + count)) || newSize > RecordFormat.sizeLimit)
    }
}

/// One key of a commit, its value as bytes; nil removes it.
struct FileEdit {
    let key: String
    let value: [UInt8]?
}
