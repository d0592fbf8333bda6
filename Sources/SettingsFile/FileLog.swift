/// One open settings file: its records, and the index of its values.
///
/// Every access needs the state lock of the `SettingsFile`, except for ``bytes(forKey:)`` and the
/// constants. A file that replaces this one gets a log of its own.
///
/// Three properties restrict the use of a log. Each combination occurs:
///
/// | property | says | ends when |
/// |---|---|---|
/// | `isSealed` | another file has the name or is about to | a writer opens that file, or removes the seal of a dead process |
/// | `damage` | records cannot be appended | a writer replaces the file |
/// | `flushState` | a flush may not prove anything | a flush is proved, or a process replaces the file |
final class FileLog {
    let file: File
    let directory: File
    let identity: File.Identity
    let isWritable: Bool
    let epoch: UInt64
    /// The largest size of the file, which is also the length of the mapping.
    private let sizeLimit: Int
    let window: FileWindow
    // Safe: the lock guarantees exclusive access. Checking it again takes 76 instructions at each
    // of eight uses in a `set`.
    @exclusivity(unchecked)
    private(set) var index: FileIndex
    /// Held while `index` and `tailCache` change, and while a value is looked up in them.
    private let lookup = Locked<Void>(())
    /// The bytes of the newest records and their offsets. Most reads ask for a value in here.
    private var tailCache: (bytes: [UInt8], range: Range<Int>) = ([], 0..<0)
    private static let tailCacheLimit = 4 << 10
    /// A lower bound for the size of the file. All bytes from the end of the records to this size
    /// are zeros.
    private(set) var size: Int

    /// How far this file was flushed, and whether its name was. Says nothing about a file that
    /// replaces this one.
    private(set) var flushed = 0
    private(set) var isNameFlushed = false
    /// The state of flushes of the records after `base`.
    enum FlushState {
        /// A flush may have failed before this process opened the file. The system reports a failed
        /// flush once to each open file and then treats the lost pages as written, so a flush that
        /// succeeds now proves nothing about them.
        case unknown
        /// This process would have seen every failure.
        case good
        case failed
    }

    private(set) var flushState = FlushState.unknown
    /// The problem with the records, if there is one. The file must be replaced before the next
    /// write. If the replacement fails, the file stays as it is.
    enum Damage {
        case none
        /// When the file was opened, bytes followed the zeros after the last record. A writer of
        /// another process may have erased them since.
        case bytesAfterZeros
        /// Records that were read or written before are missing.
        case lostRecords
    }

    private var damage = Damage.none
    /// The end of the records that were flushed before the file got its name.
    private let base: Int
    private var sizeAtFailedCompaction = 0
    /// The time before which readers do not try again to repair the file.
    private var repairPauseEnd: MonotonicTime?

    private init(
        _ file: File, in directory: File, _ identity: File.Identity, isWritable: Bool,
        _ fields: (base: UInt64, epoch: UInt64, crc: UInt32), size: Int, sizeLimit: Int, _ window: consuming FileWindow
    ) {
        (self.file, self.directory, self.identity, self.isWritable) = (file, directory, identity, isWritable)
        (epoch, self.size, self.sizeLimit) = (fields.epoch, size, sizeLimit)
        self.window = window
        // A file of another version has no base, and a damaged file may contain any number.
        base = Int(min(max(fields.base, UInt64(RecordFormat.headerLength)), UInt64(sizeLimit)))
        index = FileIndex(crc: fields.crc)
    }

    var hasLostRecords: Bool { damage == .lostRecords }
    var end: Int { index.end }
    var isSealed: Bool { index.isSealed }

    /// Whether bytes follow the last record, or the file ends too early to tell.
    var hasPendingRecord: Bool { end + 8 > size || window.word(at: end) != 0 }

    /// Whether the file still holds the checksum of the last record. It does not if another file
    /// was copied over this one.
    var holdsLastChecksum: Bool {
        UInt32(truncatingIfNeeded: UInt64(littleEndian: window.word(at: index.crcOffset - 4)) >> 32) == index.crc
    }

    func noteFlush(to end: Int, andName isName: Bool) {
        flushed = max(flushed, end)
        isNameFlushed = isNameFlushed || isName
        flushState = .good
    }

    func noteFailedFlush() { flushState = .failed }
}

extension FileLog {
    /// The result of reading new records.
    struct Progress {
        var changed: [String] = []
        /// Whether the bytes after the last record are neither a record nor zeros: a write in
        /// progress, an unfinished write, or damage.
        var isStopped = false
    }

    /// Opens a log on a file. Returns `nil` if nothing has been written to the file yet.
    static func opening(
        _ file: File, named name: String, in directory: File, isWritable: Bool, sizeLimit: Int
    ) throws(FileFailure) -> (log: FileLog, progress: Progress)? {
        let status = try file.status()
        guard status.isRegular else { throw FileFailure("it is not a regular file") }
        guard status.isOwn else { throw FileFailure("it belongs to another user") }
        guard status.links <= 1 else {
            throw FileFailure("it has more than one hard link; remove the others, which find -samefile shows")
        }
        guard status.size <= sizeLimit + RecordFormat.step else {
            throw FileFailure("it is larger than \(sizeLimit >> 20) MiB")
        }
        let header = try file.read(at: 0, count: RecordFormat.headerLength)
        // Zeros before other bytes are damage, or a file of another kind.
        if isZero(header[...]), isZero(try file.read(at: 0, count: status.size)[...]) { return nil }
        let fields = try RecordFormat.fields(ofHeader: header)
        // A mapping keeps the open file description alive, even in a forked child, and with it the
        // lock of a parent that was killed. Map through a descriptor that is never locked.
        let unlocked = try directory.file(name, .readOnly)
        let identity = try file.identity()
        guard try unlocked.identity() == identity else {
            throw FileFailure("it was replaced in the meantime", isReplaced: true)
        }
        let log = FileLog(
            file, in: directory, identity, isWritable: isWritable, fields, size: status.size, sizeLimit: sizeLimit,
            try FileWindow(unlocked, length: sizeLimit + RecordFormat.step))
        return (log, try log.readNewRecords(isOpening: true))
    }

    private static func isZero(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.withUnsafeBytes(RecordFormat.countBeforeZeros) == 0
    }

    /// Applies the records that were appended since the last call.
    ///
    /// - Parameters:
    ///   - isOpening: Whether to look for bytes after zeros too. A power failure can leave only the
    ///     second half of a record.
    ///   - hasPendingRecord: Whether the caller has just seen a record in the mapping.
    func readNewRecords(isOpening: Bool = false, hasPendingRecord: Bool = false) throws(FileFailure) -> Progress {
        var progress = Progress()
        var changed: [String]? = isOpening ? nil : []
        // Read in chunks, because page-faulting one buffer for the whole file costs more than
        // reading it.
        var count = isOpening ? RecordFormat.step : Self.tailCacheLimit
        // Start with the mapped page that the caller has just touched. It needs no system call.
        // Touching any other page could raise SIGBUS, after a disk error or if the file was
        // truncated.
        let pageRest = File.pageSize - end % File.pageSize
        var isInView = hasPendingRecord && end + pageRest <= size
        while true {
            let base = end
            let bytes =
                isInView ? window.bytes(at: base, count: pageRest) : try file.read(at: base, count: count)
            let isAll = !isInView && bytes.count < count
            size = isAll ? base + bytes.count : max(size, base + bytes.count)
            // Readers could not see further records, because the mapping ends here.
            guard size <= sizeLimit + RecordFormat.step else {
                throw FileFailure("it is larger than \(sizeLimit >> 20) MiB")
            }
            isInView = false
            let stop = lookup.withLock { _ in
                index.fileSize = size
                defer { if bytes.count <= Self.tailCacheLimit { tailCache = (bytes, base..<end) } }
                return bytes.withUnsafeBytes { index.apply($0, changed: &changed) }
            }
            switch stop {
            case .nothing:
                if isOpening {
                    progress.isStopped = try !trailingBytes().isEmpty
                    if progress.isStopped { damage = .bytesAfterZeros }
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

    /// Returns the bytes of a value, or `nil` if the key is missing.
    func bytes(forKey key: String) throws(FileFailure) -> ArraySlice<UInt8>? {
        let (range, cached) = lookup.withLock { _ -> (Range<Int>?, ArraySlice<UInt8>?) in
            guard let range = index.valueRange(forKey: key) else { return (nil, nil) }
            let start = tailCache.range.lowerBound
            guard range.lowerBound >= start, range.upperBound <= tailCache.range.upperBound else { return (range, nil) }
            return (range, tailCache.bytes[(range.lowerBound - start)..<(range.upperBound - start)])
        }
        guard let range, cached == nil else { return cached }
        let bytes = try file.read(at: range.lowerBound, count: range.count)
        guard bytes.count == range.count else { throw FileFailure("it was truncated by another program") }
        return bytes[...]
    }

    static let lossReason = "some of its records have disappeared"

    /// Returns the contents of a file that can replace this one, after reading this file again.
    func successor() throws(FileFailure) -> [UInt8] {
        try checkedBytes().withUnsafeBytes { RecordFormat.file(epoch: epoch &+ 1, settings: index, of: $0) }
    }

    /// Returns the records that may be missing on disk even after a successful flush, or `nil` if
    /// there are none.
    func unprovenRecords() throws(FileFailure) -> (start: Int, bytes: ArraySlice<UInt8>)? {
        guard flushState != .good, base < end else { return nil }
        return (base, try checkedBytes()[base...])
    }

    /// Writes the records after `base` again, so that the next flush covers them.
    ///
    /// Needs no file lock, because every process writes the same bytes there.
    func rewrite() throws(FileFailure) {
        guard let (start, bytes) = try unprovenRecords() else { return }
        try file.write(Array(bytes), at: start)
    }

    /// Reads the header and the records again, and checks them against the index.
    ///
    /// After a failed flush, or on a failing disk, the file may hold other bytes. In that case this
    /// throws, and the index keeps only the records that are still valid.
    func checkedBytes() throws(FileFailure) -> [UInt8] {
        let bytes = try file.read(at: 0, count: end)
        var again = FileIndex(
            crc: try RecordFormat.fields(ofHeader: Array(bytes.prefix(RecordFormat.headerLength))).crc)
        let isSame = bytes.withUnsafeBytes { bytes in
            let records = UnsafeRawBufferPointer(rebasing: bytes[RecordFormat.headerLength...])
            if bytes.count == end, RecordFormat.checksum(ofCommits: records, after: again.crc) == index.crc {
                return true
            }
            var changed: [String]?
            _ = again.apply(records, changed: &changed)
            return false
        }
        if isSame { return bytes }
        lookup.withLock { _ in swap(&index, &again) }
        damage = .lostRecords
        throw FileFailure(Self.lossReason)
    }
}

// These methods need the file lock.
extension FileLog {
    /// Appends a commit.
    func append(_ record: inout RecordWriter) throws(FileFailure) {
        let crc = try write(&record)
        lookup.withLock { _ in index.append(record, crc: crc) }
    }

    /// Tells every process that has this file open that another file replaces it.
    func seal() throws(FileFailure) {
        var record = withUnsafeBytes(of: RecordFormat.seal) { RecordWriter(payload: $0) }
        _ = try write(&record, isSeal: true)
        lookup.withLock { _ in index.noteSeal(true) }
    }

    /// Removes the seal, because no other file has taken the name.
    func unseal() throws(FileFailure) {
        // This also erases damage after the seal, which has been copied aside.
        try eraseTrailingBytes()
        lookup.withLock { _ in index.noteSeal(false) }
    }

    /// Erases a record with missing blocks, which its writer has never finished.
    ///
    /// - Returns: The number of erased bytes, or `nil` if the bytes after the last valid record are
    ///   anything else. Those are kept.
    func eraseTornRecord() throws(FileFailure) -> Int? {
        guard !isSealed, !hasLostRecords else { return nil }
        let bytes = try file.read(at: end, count: max(0, file.status().size - end))
        guard bytes.withUnsafeBytes({ Salvage.isTornRecord($0, at: end, after: index.crc) }) else { return nil }
        let count = bytes.withUnsafeBytes(RecordFormat.countBeforeZeros)
        try eraseTrailingBytes()
        // Flush before the next write. Otherwise a power failure could leave parts of the erased
        // record next to the new one.
        do throws(FileFailure) { try file.flush() } catch {
            noteFailedFlush()
            throw error
        }
        return count
    }

    /// Writes zeros over everything after the last valid record.
    private func eraseTrailingBytes() throws(FileFailure) {
        // No record is shorter than this.
        let count = max(RecordFormat.length(ofPayload: 1), try trailingBytes().count)
        try erase(count)
        size = max(size, end + count)
    }

    /// Writes zeros over bytes after the last valid record.
    ///
    /// The first bytes are erased last. Until then, every process sees that the file needs a
    /// repair, even if this process is killed. If the last call writes only some of these bytes,
    /// the next record covers the others.
    private func erase(_ count: Int) throws(FileFailure) {
        let head = min(count, RecordFormat.length(ofPayload: 1))
        try file.write([UInt8](repeating: 0, count: count - head), at: end + head)
        try file.write([UInt8](repeating: 0, count: head), at: end)
    }

    /// Returns the bytes after the last valid record, without the zeros at the end of the file.
    func trailingBytes() throws(FileFailure) -> [UInt8] {
        let bytes = try file.read(at: end, count: max(0, file.status().size - end))
        return Array(bytes.prefix(bytes.withUnsafeBytes(RecordFormat.countBeforeZeros)))
    }

    /// Returns whether the file must be replaced before the next write. Readers do not look at the
    /// bytes after zeros.
    func isDamaged() throws(FileFailure) -> Bool {
        if damage == .bytesAfterZeros, try trailingBytes().isEmpty { damage = .none }
        return damage != .none
    }

    /// Whether the file ends before the zeros that must follow the last record.
    var isCutShort: Bool { get throws(FileFailure) { try file.status().size < end + 8 } }

    /// Appends a record, completely or not at all, and returns its checksum.
    private func write(_ record: inout RecordWriter, isSeal: Bool = false) throws(FileFailure) -> UInt32 {
        let crc = record.finish(after: index.crc)
        // The word after the record must exist and be zero before the record is written.
        if end + record.length + 8 > size {
            // Allow the seal of a full file, so that it can still be compacted.
            guard isSeal ? hasRoom(for: record.length, beyondLimit: RecordFormat.step) : hasRoom(for: record) else {
                throw sizeFailure
            }
            try extend(forRecordOf: record.length)
        }
        // It must also be allocated. A large record that failed may have left a hole there, and on
        // a full tmpfs a reader that touches a mapped hole gets SIGBUS.
        let next = end + record.length
        if next / File.pageSize != end / File.pageSize {
            try file.write([UInt8](repeating: 0, count: 8), at: next)
        }
        var written = 0
        do throws(FileFailure) {
            try record.withBytes { bytes throws(FileFailure) in try file.write(bytes, at: end, written: &written) }
        } catch {
            // If only zeros are missing, the file holds the whole record, and another process may
            // have read it.
            let rest = record.withBytes { bytes in
                RecordFormat.countBeforeZeros(UnsafeRawBufferPointer(rebasing: bytes[written...]))
            }
            if rest == 0 { return crc }
            // A partial record would block all further ones. If it cannot be erased either, the
            // next writer repairs the file.
            try? erase(written)
            throw error
        }
        return crc
    }

    private func extend(forRecordOf length: Int) throws(FileFailure) {
        // Another process may have extended the file.
        size = max(size, try file.status().size)
        let newSize = RecordFormat.size(forRecordOf: length, endingAt: end + length)
        guard size < newSize else { return }
        // Pages that the record fills need no zeros of their own: a hole reads as zeros too.
        let start = max(size, (end + length) / File.pageSize * File.pageSize)
        try file.write([UInt8](repeating: 0, count: newSize - start), at: start)
        size = newSize
    }

    /// Returns whether the file should be compacted before `count` bytes are appended.
    ///
    /// - Parameter keptSize: The size up to which a file is never compacted.
    func isDueForCompaction(appending count: Int = 0, keeping keptSize: Int) -> Bool {
        let newSize = RecordFormat.size(for: end + count + 8)
        let triedSize = sizeAtFailedCompaction + sizeAtFailedCompaction / 2
        return newSize > max(keptSize, 4 * (index.live + count), triedSize) || newSize > sizeLimit
    }

    /// Postpones the next attempt until the file has grown by half.
    func noteFailedCompaction() { sizeAtFailedCompaction = RecordFormat.size(for: end + 8) }

    var isRepairPaused: Bool { repairPauseEnd.map { .lastTick < $0 } ?? false }

    /// Lets readers try again to repair the file in a second. An attempt can take as long as
    /// writing the whole file.
    ///
    /// - Returns: Whether this is the first failure.
    func noteFailedRepair() -> Bool {
        defer { repairPauseEnd = .lastTick + .seconds(1) }
        return repairPauseEnd == nil
    }

    private func hasRoom(for count: Int, beyondLimit: Int = 0) -> Bool {
        RecordFormat.size(for: end + count + 8) <= sizeLimit + beyondLimit
    }

    /// Returns whether a record can be appended.
    ///
    /// A record that makes the live values smaller may use the step beyond the limit, so that a
    /// full file can be emptied. It leaves room for a seal.
    func hasRoom(for record: borrowing RecordWriter) -> Bool {
        if hasRoom(for: record.length) { return true }
        let seal = RecordFormat.length(ofPayload: 1)
        return index.shrinks(by: record) && hasRoom(for: record.length + seal, beyondLimit: RecordFormat.step)
    }

    /// Returns whether a compaction makes enough room for a record.
    func hasRoomOnceCompacted(for record: borrowing RecordWriter) -> Bool {
        RecordFormat.size(for: RecordFormat.length(ofFileHolding: index) + record.length + 8) <= sizeLimit
    }

    var sizeFailure: FileFailure { FileFailure("it would be larger than \(sizeLimit >> 20) MiB", isLimit: true) }
}
