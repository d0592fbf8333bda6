/// An open settings file: what never changes about it. The mapping of its first page tells readers
/// of new records.
final class OpenFile: Sendable {
    let file: File
    let directory: File
    let name: String
    let identity: File.Identity
    let owner: UInt32
    let isWritable: Bool
    let epoch: UInt64
    let words: HeaderWords

    fileprivate init(
        _ file: File, named name: String, in directory: File, isWritable: Bool, epoch: UInt64,
        _ words: consuming HeaderWords
    ) throws(FileFailure) {
        (self.file, self.name, self.directory) = (file, name, directory)
        (self.isWritable, self.epoch) = (isWritable, epoch)
        let entry = try file.entry()
        (identity, owner) = (entry.identity, entry.owner)
        self.words = words
    }
}

/// Records in the bytes of a file.
package struct Records {
    package let bytes: [UInt8]
    package let payloads: [Range<Int>]

    package init(bytes: [UInt8], payloads: [Range<Int>]) { (self.bytes, self.payloads) = (bytes, payloads) }

    var keys: [String] { bytes.withUnsafeBytes { bytes in payloads.flatMap { RecordFormat.keys(in: bytes, $0) } } }
}

/// How far this process has read and flushed an open file. A part of the state of a
/// `SettingsFile`, so it needs no lock of its own.
///
/// Only zeros follow the last record. Anything else is a record that is not committed yet, one that
/// its writer never finished, or damage.
package struct Log {
    let open: OpenFile
    /// The end of the last record, and the checksum that the next one continues from.
    private(set) var end = RecordFormat.headerLength
    private var crc: UInt32
    /// The offset of that checksum, in the header or in the last record.
    private var crcOffset = RecordFormat.headerLength - 4
    /// A lower bound for the size of the file.
    private var size = 0
    /// The committed end of the file at which all of its records were read.
    private(set) var committed: CommittedEnd
    /// Whether the records that were found are the committed ones, and only zeros follow.
    private(set) var isSettled = false
    /// Whether records that had been committed or flushed are damaged or missing.
    private(set) var isDamaged = false
    /// How far this file was flushed, and whether its name was.
    var flushed = 0
    var isNameFlushed = false
    var hasFailedFlush = false
    /// The end of the records that were there when the file was opened. The system tells the
    /// failure of an earlier flush only to processes that had the file open then.
    private var unproven = 0
    private var sizeAtFailedCompaction = 0

    private init(_ open: OpenFile, crc: UInt32, committed: CommittedEnd) {
        (self.open, self.crc, self.committed) = (open, crc, committed)
    }

    /// Opens a log on a file. Returns `nil` if nothing has been written to the file yet.
    ///
    /// - Parameters:
    ///   - name: The name of the file now.
    ///   - finalName: The name that the file gets; `nil` if it has it.
    static func opening(
        _ file: File, named name: String, as finalName: String? = nil, in directory: File, isWritable: Bool,
        sizeLimit: Int
    ) throws(FileFailure) -> (log: Log, values: KeyTable)? {
        let status = try file.status()
        guard status.isRegular else { throw FileFailure("it is not a regular file") }
        guard status.links <= 1 else {
            throw FileFailure("it has more than one hard link; “find -samefile” lists them")
        }
        guard status.links == 1 else {
            throw FileFailure(
                "it was removed; if it is mounted here by itself, mount its folder instead", isReplaced: true)
        }
        try checkSize(status.size, sizeLimit)
        let header = try file.read(at: 0, count: RecordFormat.headerLength)
        if !header.contains(where: { $0 != 0 }) {
            guard try file.read(at: 0, count: status.size).contains(where: { $0 != 0 }) else { return nil }
        }
        let fields = try RecordFormat.fields(ofHeader: header[...])
        // A mapping keeps the open file description alive, even in a forked child, and with it the
        // lock of a parent that was killed. Map through a descriptor that is never locked.
        let unlocked = try directory.file(name, isWritable ? .readWrite : .readOnly)
        guard try unlocked.identity() == file.identity() else { throw FileFailure.isReplacedMeanwhile }
        let words = try HeaderWords(unlocked)
        // Loaded before the records are read: what is behind this end may be written over.
        // The flushed end first, so that it is not beyond the other one.
        let flushed = words.flushed
        guard let committed = words.committed else { throw FileFailure.isOverwritten }
        let limit = committed.limit(flushed: flushed)
        let size = max(status.size, min(committed.end, RecordFormat.sizeLimit + RecordFormat.reserve))
        let bytes = try file.read(at: 0, count: size)
        let open = try OpenFile(
            file, named: finalName ?? name, in: directory, isWritable: isWritable, epoch: fields.epoch, words)
        var log = Log(open, crc: fields.crc, committed: CommittedEnd(tag: committed.tag, end: committed.end))
        let payloads = log.pass(bytes, from: RecordFormat.headerLength, upTo: limit)
        let hasRest = bytes[min(log.end, bytes.count)...].withUnsafeBytes { !RecordFormat.areZeros($0) }
        log.isDamaged = log.isDamaged(hasRest: hasRest, committed: committed.end, flushed: flushed)
        log.isSettled = !hasRest && log.end == committed.end && limit == committed.end && !committed.isReplaced
        // A record whose word is still to come was in the file too.
        log.unproven = log.isSettled ? log.end : bytes.count
        var values = KeyTable()
        values.apply(Records(bytes: bytes, payloads: payloads))
        return (log, values)
    }

    private static func checkSize(_ size: Int, _ limit: Int) throws(FileFailure) {
        guard size - RecordFormat.reserve <= limit else { throw FileFailure("it is larger than \(limit >> 20) MiB") }
    }

    /// Whether that is so for records that had been flushed. A power failure leaves only a part of
    /// others.
    var lacksFlushedRecords: Bool { isDamaged && open.words.flushed > UInt64(end) }

    /// Returns whether records after the last one had been committed or flushed. After a power
    /// failure, only zeros may be left of those that no flush had covered.
    private func isDamaged(hasRest: Bool, committed: Int, flushed: UInt64) -> Bool {
        if hasRest { return max(UInt64(committed), flushed) > UInt64(end) }
        return flushed > UInt64(end) && flushed <= UInt64(RecordFormat.sizeLimit + RecordFormat.reserve)
    }

    /// Whether this log is of the same file and has all of the records of the other one.
    func contains(_ old: Log) -> Bool { open.identity == old.open.identity && end >= old.end }

    /// Passes the records that follow the last one and end at a limit. Returns their payloads.
    private mutating func pass(_ bytes: [UInt8], from start: Int, upTo limit: Int) -> [Range<Int>] {
        var (payloads, offset) = ([Range<Int>](), start)
        size = max(size, end + bytes.count - start)
        bytes.withUnsafeBytes { bytes in
            while let commit = RecordFormat.commit(in: bytes, at: offset, after: crc),
                commit.end - offset <= limit - end
            {
                payloads.append(commit.payload)
                (crcOffset, crc) = (end + 4, commit.crc)
                end += commit.end - offset
                offset = commit.end
            }
        }
        return payloads
    }

    /// Reads the records that were committed since the last call.
    mutating func readRecords(upTo new: CommittedEnd, sizeLimit: Int) throws(FileFailure) -> Records {
        // The word may be wrong, so the size of the file counts.
        let size = new.end > sizeLimit ? try open.file.entry().size : new.end
        try Self.checkSize(size, sizeLimit)
        guard new.tag == committed.tag, new.end >= end, new.end <= size else { throw FileFailure.isOverwritten }
        let (bytes, start) = try readRest(upTo: new.end)
        let records = Records(bytes: bytes, payloads: pass(bytes, from: end - start, upTo: new.end))
        guard end == new.end else { throw FileFailure.isOverwritten }
        committed = CommittedEnd(tag: new.tag, end: new.end)
        return records
    }

    /// Returns the checksum of the last record with what follows the record, and the offset of
    /// these bytes.
    private func readRest(upTo limit: Int) throws(FileFailure) -> (bytes: [UInt8], start: Int) {
        let bytes = try open.file.read(at: crcOffset, count: max(0, limit - crcOffset))
        // Another program may have truncated the file, or copied another one over it.
        guard crcOffset + bytes.count >= end,
            bytes.withUnsafeBytes({ UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)) }) == crc
        else { throw FileFailure.isOverwritten }
        return (bytes, crcOffset)
    }

    /// Commits the whole records up to the limit of the words, and cuts off what follows. The
    /// caller holds the file lock.
    ///
    /// - Parameter setAside: Called before the cut if records are damaged or missing, with what is
    ///   left of them and the flushed end.
    mutating func settle(
        sizeLimit: Int, _ setAside: (_ damage: [UInt8], _ end: Int, _ flushed: UInt64) throws(FileFailure) -> Void
    ) throws(FileFailure) -> Records {
        guard let old = open.words.committed else { throw FileFailure.isOverwritten }
        let flushed = open.words.flushed
        let size = try open.file.entry().size
        try Self.checkSize(size, sizeLimit)
        var new = self
        let (bytes, start) = try readRest(upTo: size)
        let payloads = new.pass(bytes, from: end - start, upTo: old.limit(flushed: flushed))
        let rest = bytes[(new.end - start)...]
        let cut = Array(rest[..<(rest.lastIndex { $0 != 0 }.map { $0 + 1 } ?? rest.startIndex)])
        if new.isDamaged(hasRest: !cut.isEmpty, committed: old.end, flushed: flushed) {
            try setAside(cut, new.end, flushed)
        }
        // Another tag makes processes that have read lost records read the file again.
        let word = CommittedEnd(tag: old.end <= new.end ? old.tag : CommittedEnd.randomTag(), end: new.end)
        if flushed > UInt64(new.end) { try open.file.writeWord(0, at: RecordFormat.flushedOffset) }
        // The word first: a process that has the file open must not write behind the cut.
        if word != old { try open.file.writeWord(word.rawValue, at: RecordFormat.committedOffset) }
        if !cut.isEmpty {
            try open.file.truncate(to: new.end)
            new.size = new.end
        }
        (new.committed, new.isSettled, new.isDamaged, new.unproven) = (word, true, false, min(unproven, new.end))
        self = new
        return Records(bytes: bytes, payloads: payloads)
    }

    /// Says to readers whether they must look up the name. The caller holds the file lock.
    func setReplaced(_ isReplaced: Bool) throws(FileFailure) {
        let word = CommittedEnd(tag: committed.tag, end: committed.end, isReplaced: isReplaced)
        try open.file.writeWord(word.rawValue, at: RecordFormat.committedOffset)
    }

    /// Appends a commit, completely or not at all. The caller holds the file lock.
    mutating func append(_ record: inout RecordWriter) throws(FileFailure) -> Records {
        let newCRC = record.finish(after: crc)
        let newEnd = end + record.length
        // A larger size takes no space. Writing then fails if the disk is full.
        let newSize = newEnd <= size ? size : (newEnd + RecordFormat.step - 1) / RecordFormat.step * RecordFormat.step
        let word = CommittedEnd(tag: committed.tag, end: newEnd)
        var written = 0
        do throws(FileFailure) {
            if open.words.flushed > UInt64(end) { try open.file.writeWord(0, at: RecordFormat.flushedOffset) }
            if newSize > size { try open.file.truncate(to: newSize) }
            try record.withBytes { bytes throws(FileFailure) in
                try open.file.write(bytes, at: end, written: &written)
            }
            try open.file.writeWord(word.rawValue, at: RecordFormat.committedOffset)
        } catch {
            // If this fails too, the bytes are not committed, and the next record is written over
            // them.
            if written > 0 { try? open.file.truncate(to: end) }
            size = end
            throw error
        }
        (crc, crcOffset, size, committed, end) = (newCRC, end + 4, newSize, word, newEnd)
        return Records(bytes: record.withBytes { Array($0) }, payloads: [record.payload])
    }

    /// Returns whether the file should be compacted before `count` bytes are appended. A file that
    /// would exceed its limit is due only if its values leave room for them.
    ///
    /// - Parameter live: The number of bytes that the records of the values take.
    func isDueForCompaction(appending count: Int = 0, to live: Int, keeping keptSize: Int, limit: Int = .max) -> Bool {
        let (size, needed) = (end + count, live + count)
        if size > limit { return RecordFormat.headerLength + needed <= limit }
        return size > max(keptSize, 4 * needed) && size > sizeAtFailedCompaction / 2 * 3
    }

    /// Postpones the next attempt until the file has grown by half.
    mutating func noteFailedCompaction() { sizeAtFailedCompaction = end }

    var needsFlush: Bool { flushed < end || !isNameFlushed }

    /// Whether a successful flush proves that all records are on the disk.
    var isProvable: Bool { open.words.flushed >= UInt64(unproven) }

    /// Notes that a flush has reached an end.
    mutating func noteFlush(to end: Int) {
        (flushed, isNameFlushed) = (max(flushed, end), true)
        guard isProvable else { return }
        unproven = 0
        // Two processes may do this at once. Then the word may be too small until the next flush,
        // and so it may if this fails.
        if open.isWritable, open.words.flushed < UInt64(end) {
            try? open.file.writeWord(UInt64(end), at: RecordFormat.flushedOffset)
        }
    }
}
