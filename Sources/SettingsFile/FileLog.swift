/// One settings file that is open: its records, and where the value of each key stands.
///
/// Touched only with the lock of its backend held. After a replacement the new file is another log.
final class FileLog {
    let file: File
    let directory: File
    let identity: File.Identity
    let isWritable: Bool
    let epoch: UInt64
    /// How large the file may be: as large as the window into it.
    private let sizeLimit: Int
    let window: FileWindow
    // Not checked at each access whether another one is under way, which takes as long as one of a commit's system calls: the lock
    // sees to it.
    @exclusivity(unchecked)
    private(set) var index: FileIndex
    /// The last bytes that came, as far as they are records, and where: mostly what is asked for next.
    private var news: (bytes: [UInt8], place: Range<Int>) = ([], 0..<0)
    private static let newsLength = 4 << 10
    /// The smallest there is on any system.
    private static let pageSize = 4 << 10
    /// How far the file reaches at least; from the end of the records on it holds zeros.
    @exclusivity(unchecked)
    private(set) var size: Int

    // Kept here, with the file: what was flushed of another file says nothing of this one.
    /// How far the file was flushed, and whether its name was.
    private(set) var flushed = 0
    private(set) var isNameFlushed = false
    /// What is known about flushes of the records behind the base.
    enum FlushState {
        /// A flush may have failed before this process opened the file. The system reports a failed flush once to each open file and
        /// then treats the lost pages as written, so a flush that succeeds now proves nothing about them.
        case unknown
        /// Every failure would have been reported to this process.
        case good
        case failed
    }

    private(set) var flushState = FlushState.unknown
    /// Whether records that were read or written before are gone, so that the file must be replaced before the next write.
    private(set) var hasLostRecords = false
    /// Whether zeros followed the last record when the file was opened, and something else behind them.
    private var isStoppedAtZeros = false
    /// Where the records end that were flushed before the file got its name.
    private let base: Int
    private var sizeAtFailedReplacement = 0

    private init(
        _ file: File, in directory: File, _ identity: File.Identity, isWritable: Bool,
        _ fields: (base: UInt64, epoch: UInt64, crc: UInt32), size: Int, sizeLimit: Int, _ window: FileWindow
    ) {
        (self.file, self.directory, self.identity, self.isWritable) = (file, directory, identity, isWritable)
        (epoch, self.size, self.sizeLimit, self.window) = (fields.epoch, size, sizeLimit, window)
        // A file of another version has none, and a number from a file may be any.
        base = Int(min(max(fields.base, UInt64(RecordFormat.headerLength)), UInt64(sizeLimit)))
        index = FileIndex(crc: fields.crc)
    }

    var end: Int { index.end }
    var isSealed: Bool { index.isSealed }

    /// Whether something stands behind the last record.
    var hasMore: Bool { window.hasRecord(at: end, size: size) }

    /// Whether the file still holds the checksum of the last record. Copying another file over this one changes it.
    var holdsLastChecksum: Bool {
        UInt32(truncatingIfNeeded: UInt64(littleEndian: window.word(at: index.crcPlace - 4)) >> 32) == index.crc
    }

    func noteFlush(to end: Int, andName isName: Bool) {
        flushed = max(flushed, end)
        isNameFlushed = isNameFlushed || isName
        flushState = .good
    }

    func noteFailedFlush() { flushState = .failed }
}

extension FileLog {
    /// What reading on came to.
    struct Progress {
        var changed: [String] = []
        /// Whether what stands behind the last record is neither a record nor nothing: somebody is writing it, or never finished, or
        /// it is damaged.
        var isStopped = false
    }

    /// Opens a file by its name; nil if nothing has been written to it yet.
    static func opening(
        _ file: File, named name: String, in directory: File, isWritable: Bool, sizeLimit: Int
    ) throws(FileFailure) -> (log: FileLog, progress: Progress)? {
        let status = try file.status()
        guard status.isRegular else { throw FileFailure("it is not a regular file") }
        guard status.isOwn else { throw FileFailure("it belongs to another user") }
        guard status.links <= 1 else { throw FileFailure("it has more than one name") }
        guard status.size <= sizeLimit + RecordFormat.step else {
            throw FileFailure("it is larger than \(sizeLimit >> 20) MiB")
        }
        let header = try file.read(at: 0, count: RecordFormat.headerLength)
        // Zeros in front of something are damage, or a file of another kind.
        if isZero(header[...]), isZero(try file.read(at: 0, count: status.size)[...]) { return nil }
        let fields = try RecordFormat.fields(ofHeader: header)
        // A mapping keeps what it was made through open, in a forked child as well, and so would keep the lock of a parent that was
        // killed. What this one is made through is never locked.
        let unlocked = try directory.file(name, .readOnly)
        let identity = try file.identity()
        guard try unlocked.identity() == identity else { throw FileFailure(replaced: "it was replaced meanwhile") }
        let log = FileLog(
            file, in: directory, identity, isWritable: isWritable, fields, size: status.size, sizeLimit: sizeLimit,
            try FileWindow(unlocked, length: sizeLimit + RecordFormat.step))
        return (log, try log.readOn(isOpening: true))
    }

    private static func isZero(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.withUnsafeBytes(RecordFormat.countBeforeZeros) == 0
    }

    /// Applies the records that have been added since.
    ///
    /// - Parameters:
    ///   - isOpening: Whether what stands behind zeros counts as well: a loss of power can leave the second half of a record.
    ///   - isLookedAt: Whether something was just seen to be there, through the window.
    func readOn(isOpening: Bool = false, isLookedAt: Bool = false) throws(FileFailure) -> Progress {
        var progress = Progress()
        var changed: [String]? = isOpening ? nil : []
        // Piece by piece: the room for all at once would be new to the process, page by page, and take longer than the reading.
        var count = isOpening ? RecordFormat.step : Self.newsLength
        // First from the page that was looked at, without a system call: to read another one, which the disk fails to give or which was
        // cut off, would end the process.
        let pageRest = Self.pageSize - end % Self.pageSize
        var isInView = isLookedAt && end + pageRest <= size
        while true {
            let base = end
            let bytes =
                isInView ? window.bytes(at: base, count: pageRest) : try file.read(at: base, count: count)
            let isAll = !isInView && bytes.count < count
            size = isAll ? base + bytes.count : max(size, base + bytes.count)
            // Beyond its window nobody could see what comes next.
            guard size <= sizeLimit + RecordFormat.step else {
                throw FileFailure("it is larger than \(sizeLimit >> 20) MiB")
            }
            isInView = false
            let stop = bytes.withUnsafeBytes { index.readOn($0, changed: &changed) }
            if bytes.count <= Self.newsLength { news = (bytes, base..<end) }
            switch stop {
            case .nothing:
                if isOpening {
                    progress.isStopped = try !rest().isEmpty
                    isStoppedAtZeros = progress.isStopped
                }
            case .seal: break
            case .needs(let needed) where !isAll:
                count = max(count, needed)
                continue
            case .needs, .bad: progress.isStopped = true
            }
            progress.changed = changed ?? []
            return progress
        }
    }

    /// The bytes of a value; nil if the key is missing.
    func bytes(forKey key: String) throws(FileFailure) -> ArraySlice<UInt8>? {
        guard let place = index.place(ofKey: key) else { return nil }
        if news.place.contains(place.lowerBound), place.upperBound <= news.place.upperBound {
            return news.bytes[(place.lowerBound - news.place.lowerBound)..<(place.upperBound - news.place.lowerBound)]
        }
        let bytes = try file.read(at: place.lowerBound, count: place.count)
        guard bytes.count == place.count else { throw FileFailure("it was cut short from outside") }
        return bytes[...]
    }

    static let lossReason = "some of what was written to it is not there any more"

    /// The bytes of a file that can take the place of this one, made of what this one holds when it is read again.
    func successor() throws(FileFailure) -> [UInt8] {
        try checkedBytes().withUnsafeBytes { RecordFormat.file(epoch: epoch &+ 1, settings: index, of: $0) }
    }

    /// The records that the disk may not hold even after a flush that succeeds, and where they begin; nil if there are none.
    func unprovenRecords() throws(FileFailure) -> (start: Int, bytes: ArraySlice<UInt8>)? {
        guard flushState != .good, base < end else { return nil }
        return (base, try checkedBytes()[base...])
    }

    /// Writes the records behind the base again, so that the next flush covers them. Needs no lock: no process writes anything else there.
    func rewrite() throws(FileFailure) {
        guard let (start, bytes) = try unprovenRecords() else { return }
        try file.write(Array(bytes), at: start)
    }

    /// Throws if the file holds something else than what was read or written before.
    func check() throws(FileFailure) { _ = try checkedBytes() }

    /// The header and the records, if they are what was read or written before.
    ///
    /// After a flush that failed, or on a disk that decays, the file may hold something else. Then the index comes to what is still
    /// there, and this throws.
    private func checkedBytes() throws(FileFailure) -> [UInt8] {
        let bytes = try file.read(at: 0, count: end)
        var again = FileIndex(
            crc: try RecordFormat.fields(ofHeader: Array(bytes.prefix(RecordFormat.headerLength))).crc)
        let isSame = bytes.withUnsafeBytes { bytes in
            let records = UnsafeRawBufferPointer(rebasing: bytes[RecordFormat.headerLength...])
            if bytes.count == end, RecordFormat.checksum(ofCommits: records, after: again.crc) == index.crc {
                return true
            }
            var changed: [String]?
            _ = again.readOn(records, changed: &changed)
            return false
        }
        if isSame { return bytes }
        (index, hasLostRecords) = (again, true)
        throw FileFailure(Self.lossReason)
    }
}

// Writing, with the file's lock held.
extension FileLog {
    /// Appends a commit.
    func append(_ record: inout RecordWriter) throws(FileFailure) {
        let crc = try write(&record)
        index.append(record, crc: crc)
    }

    /// Tells all who have this file open that another one takes its place.
    func seal() throws(FileFailure) {
        var record = withUnsafeBytes(of: RecordFormat.seal) { RecordWriter(payload: $0) }
        _ = try write(&record, isSeal: true)
        index.noteSeal(true)
    }

    /// Takes the seal back: no other file has come.
    func unseal() throws(FileFailure) {
        // And with it damage that was to be replaced, of which a copy was made before.
        try eraseRest()
        index.noteSeal(false)
    }

    /// Erases a record of which blocks are missing, where no other file can take the place of this one.
    ///
    /// - Returns: The number of bytes, or `nil` if anything else stands behind the last good record. That stays.
    func eraseTornRecord() throws(FileFailure) -> Int? {
        guard !isSealed, !hasLostRecords else { return nil }
        let bytes = try file.read(at: end, count: max(0, file.status().size - end))
        guard bytes.withUnsafeBytes({ Salvage.isTornRecord($0, at: end, after: index.crc) }) else { return nil }
        let count = bytes.withUnsafeBytes(RecordFormat.countBeforeZeros)
        try eraseRest()
        // Before the next record is written: otherwise a loss of power could leave part of this one in its place or behind it.
        do throws(FileFailure) { try file.flush() } catch {
            noteFailedFlush()
            throw error
        }
        return count
    }

    /// Writes zeros over all that stands behind the last good record.
    ///
    /// The beginning comes last. Until then every process sees that something stands there, also if this one is killed.
    private func eraseRest() throws(FileFailure) {
        // Any record is at least this long, so the next one covers what is left if the last call is cut short.
        let head = RecordFormat.length(ofPayload: 1)
        let count = max(head, try rest().count)
        try file.write([UInt8](repeating: 0, count: count - head), at: end + head)
        try file.write([UInt8](repeating: 0, count: head), at: end)
        size = max(size, end + count)
    }

    /// What stands behind the last good record, up to the zeros.
    func rest() throws(FileFailure) -> [UInt8] {
        let bytes = try file.read(at: end, count: max(0, file.status().size - end))
        return Array(bytes.prefix(bytes.withUnsafeBytes(RecordFormat.countBeforeZeros)))
    }

    /// Whether something stands behind the last record and behind zeros, which readers do not see.
    func hasRestBehindZeros() throws(FileFailure) -> Bool {
        if isStoppedAtZeros { isStoppedAtZeros = try !rest().isEmpty }
        return isStoppedAtZeros
    }

    /// Whether the file ends in front of the zeros that stand behind the last record.
    var isCutShort: Bool { get throws(FileFailure) { try file.status().size < end + 8 } }

    /// Writes a record at the end, whole or not at all, and returns its checksum.
    private func write(_ record: inout RecordWriter, isSeal: Bool = false) throws(FileFailure) -> UInt32 {
        let crc = record.finish(after: index.crc)
        // The word behind the record must be there, and must be zero, before the record is.
        if end + record.length + 8 > size { try extend(to: end + record.length + 8, isSeal: isSeal) }
        var written = 0
        do throws(FileFailure) {
            try record.withBytes { bytes throws(FileFailure) in try file.write(bytes, at: end, written: &written) }
        } catch {
            // Half a record would stand in the way of all that follow. If that fails as well, the next writer repairs the file.
            if written > 0 { try? file.write([UInt8](repeating: 0, count: written), at: end) }
            throw error
        }
        return crc
    }

    private func extend(to length: Int, isSeal: Bool) throws(FileFailure) {
        let newSize = RecordFormat.size(for: length)
        // A full file can still be replaced.
        guard newSize <= sizeLimit + (isSeal ? RecordFormat.step : 0) else {
            throw sizeFailure
        }
        // Another process may have done it before.
        size = max(size, try file.status().size)
        guard size < newSize else { return }
        try file.write(pages: [UInt8](repeating: 0, count: newSize - size), at: size)
        size = newSize
    }

    /// Whether so many bytes more would leave more behind than is worth keeping, if that is more than `kept` bytes.
    func isDueForReplacement(appending count: Int = 0, keeping kept: Int) -> Bool {
        let newSize = RecordFormat.size(for: end + count + 8)
        let triedSize = sizeAtFailedReplacement + sizeAtFailedReplacement / 2
        return newSize > max(kept, 4 * (index.live + count), triedSize) || newSize > sizeLimit
    }

    /// Notes that the file could not be replaced, so that this is tried again only when the file has grown by half.
    func noteFailedReplacement() { sizeAtFailedReplacement = RecordFormat.size(for: end + 8) }

    /// Whether so many bytes more can be appended.
    func hasRoom(for count: Int) -> Bool { RecordFormat.size(for: end + count + 8) <= sizeLimit }

    /// Throws if so many bytes more do not even fit into a file that holds nothing but what is live.
    func checkRoom(for count: Int) throws(FileFailure) {
        guard !hasRoom(for: count) else { return }
        let smallest = RecordFormat.length(ofFileHolding: index)
        guard RecordFormat.size(for: smallest + count + 8) <= sizeLimit else { throw sizeFailure }
    }

    private var sizeFailure: FileFailure { FileFailure(limit: "it would be larger than \(sizeLimit >> 20) MiB") }
}
