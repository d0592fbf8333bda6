/// One open settings file: its records, and the values that they add up to.
///
/// Only zeros follow the last record. Anything else is a record that is not committed yet, one that
/// its writer never finished, or damage.
///
/// Every access needs the state lock of the `SettingsFile`, except for ``bytes(forKey:)`` and the
/// constants. A file that replaces this one gets a log of its own.
final class FileLog: Sendable {
    let file: File
    let directory: File
    let name: String
    let identity: File.Identity
    let owner: UInt32
    let isWritable: Bool
    let epoch: UInt64
    let words: HeaderWords
    private let contents: Locked<Contents>

    struct Contents {
        var values = KeyTable()
        /// The end of the last record, and the checksum that the next one continues from.
        var end = RecordFormat.headerLength
        var crc: UInt32
        /// The offset of that checksum, in the header or in the last record.
        var crcOffset = RecordFormat.headerLength - 4
        /// A lower bound for the size of the file.
        var size = 0
        /// The committed end of the file at which all of its records were read.
        var committed = CommittedEnd(rawValue: 0)
        /// Whether the records that were found are the committed ones, and only zeros follow.
        var isSettled = false
        /// How far this file was flushed, and whether its name was.
        var flushed = 0
        var isNameFlushed = false
        /// The end of the records that were there when the file was opened.
        var unproven = 0
        var hasFailedFlush = false
        var isProofGivenUp = false
        var sizeAtFailedCompaction = 0
    }

    private init(
        _ file: File, named name: String, in directory: File, isWritable: Bool,
        _ fields: (epoch: UInt64, crc: UInt32), _ words: consuming HeaderWords
    ) throws(FileFailure) {
        (self.file, self.name, self.directory) = (file, name, directory)
        (self.isWritable, epoch) = (isWritable, fields.epoch)
        let entry = try file.entry()
        (identity, owner) = (entry.identity, entry.owner)
        self.words = words
        contents = Locked(Contents(crc: fields.crc))
    }

    /// Opens a log on a file. Returns `nil` if nothing has been written to the file yet.
    ///
    /// - Parameters:
    ///   - name: The name of the file now.
    ///   - finalName: The name that the file gets; `nil` if it has it.
    static func opening(
        _ file: File, named name: String, as finalName: String? = nil, in directory: File, isWritable: Bool,
        sizeLimit: Int
    ) throws(FileFailure) -> FileLog? {
        let status = try file.status()
        guard status.isRegular else { throw FileFailure("it is not a regular file") }
        guard status.links <= 1 else {
            throw FileFailure("it has more than one hard link; “find -samefile” lists them; remove the others")
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
        guard try unlocked.identity() == file.identity() else {
            throw FileFailure("it was replaced in the meantime", isReplaced: true)
        }
        let words = try HeaderWords(unlocked)
        // Loaded before the records are read: what is behind this end may be written over.
        guard let committed = words.committed else { throw FileFailure.isOverwritten }
        let limit = committed.limit(flushed: words.flushed)
        let size = max(status.size, min(committed.end, RecordFormat.sizeLimit + RecordFormat.reserve))
        let bytes = try file.read(at: 0, count: size)
        let log = try FileLog(file, named: finalName ?? name, in: directory, isWritable: isWritable, fields, words)
        log.contents.withLock { contents in
            _ = contents.apply(bytes, from: RecordFormat.headerLength, upTo: limit)
            contents.committed = CommittedEnd(tag: committed.tag, end: committed.end)
            let rest = bytes[min(contents.end, bytes.count)...]
            contents.isSettled =
                contents.end == committed.end && limit == committed.end && !committed.isReplaced
                && rest.withUnsafeBytes { RecordFormat.areZeros($0) }
            // A record whose word is still to come was in the file too.
            contents.unproven = contents.isSettled ? contents.end : bytes.count
        }
        return log
    }

    private static func checkSize(_ size: Int, _ limit: Int) throws(FileFailure) {
        guard size - RecordFormat.reserve <= limit else { throw FileFailure("it is larger than \(limit >> 20) MiB") }
    }

    /// Whether this log is of the same file and has all of the records of the other one.
    func contains(_ old: FileLog) -> Bool { identity == old.identity && end >= old.end }

    var end: Int { contents.withLock { $0.end } }
    var committed: CommittedEnd { contents.withLock { $0.committed } }
    var isSettled: Bool { contents.withLock { $0.isSettled } }
    var keys: [String] { contents.withLock { $0.values }.keys }

    /// Returns the bytes of a value, or `nil` if the key is missing.
    func bytes(forKey key: String) -> [UInt8]? { contents.withLock { $0.values.value(forKey: key) } }

    /// Reads the records that were committed since the last call. Returns their keys.
    func readRecords(upTo committed: CommittedEnd, sizeLimit: Int) throws(FileFailure) -> [String] {
        let known = contents.withLock { ($0.committed.tag, $0.end) }
        // The word may be wrong, so the size of the file counts.
        let size = committed.end > sizeLimit ? try file.entry().size : committed.end
        try Self.checkSize(size, sizeLimit)
        guard committed.tag == known.0, committed.end >= known.1, committed.end <= size else {
            throw FileFailure.isOverwritten
        }
        let changed = try apply(upTo: committed.end)
        guard end == committed.end else { throw FileFailure.isOverwritten }
        contents.withLock { $0.committed = CommittedEnd(tag: committed.tag, end: committed.end) }
        return changed
    }

    private func apply(upTo limit: Int) throws(FileFailure) -> [String] {
        let (bytes, start) = try readRest(upTo: limit)
        let payloads = contents.withLock { $0.apply(bytes, from: $0.end - start, upTo: limit) }
        return bytes.withUnsafeBytes { bytes in payloads.flatMap { RecordFormat.keys(in: bytes, $0) } }
    }

    /// Returns the checksum of the last record, what follows the record, and the offset of these
    /// bytes.
    private func readRest(upTo limit: Int) throws(FileFailure) -> (bytes: [UInt8], start: Int) {
        let (end, crc, start) = contents.withLock { ($0.end, $0.crc, $0.crcOffset) }
        let bytes = try file.read(at: start, count: max(0, limit - start))
        // Another program may have truncated the file, or copied another one over it.
        guard start + bytes.count >= end,
            bytes.withUnsafeBytes({ UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)) }) == crc
        else { throw FileFailure.isOverwritten }
        return (bytes, start)
    }

    /// Returns the end of the whole records up to a limit, and what follows without the zeros. No
    /// writer may be at work.
    func scan(upTo limit: Int, sizeLimit: Int) throws(FileFailure) -> (end: Int, rest: [UInt8]) {
        let size = try file.entry().size
        try Self.checkSize(size, sizeLimit)
        let (bytes, start) = try readRest(upTo: size)
        var (offset, crc) = contents.withLock { ($0.end - start, $0.crc) }
        bytes.withUnsafeBytes { bytes in
            while let commit = RecordFormat.commit(in: bytes, at: offset, after: crc), commit.end <= limit - start {
                (offset, crc) = (commit.end, commit.crc)
            }
        }
        let rest = bytes[offset...]
        return (start + offset, Array(rest[..<(rest.lastIndex { $0 != 0 }.map { $0 + 1 } ?? offset)]))
    }

    /// Commits the records up to the end that ``scan(upTo:sizeLimit:)`` has returned, and cuts off
    /// what follows. The caller holds the file lock.
    ///
    /// - Returns: The keys of records that were not read before.
    func settle(at end: Int, cuts: Bool) throws(FileFailure) -> [String] {
        guard let old = words.committed else { throw FileFailure.isOverwritten }
        // Another tag makes processes that have read lost records read the file again.
        let new = CommittedEnd(tag: old.end <= end ? old.tag : CommittedEnd.randomTag(), end: end)
        if words.flushed > UInt64(end) { try file.writeWord(0, at: RecordFormat.flushedOffset) }
        // The word first: a process that has the file open must not write behind the cut.
        if new != old { try file.writeWord(new.rawValue, at: RecordFormat.committedOffset) }
        if cuts { try file.truncate(to: end) }
        let changed = try apply(upTo: end)
        contents.withLock { contents in
            (contents.committed, contents.isSettled) = (new, true)
            contents.unproven = min(contents.unproven, end)
            if cuts { contents.size = end }
        }
        return changed
    }

    /// Says to readers whether they must look up the name. The caller holds the file lock.
    func setReplaced(_ isReplaced: Bool) throws(FileFailure) {
        let known = committed
        let word = CommittedEnd(tag: known.tag, end: known.end, isReplaced: isReplaced)
        try file.writeWord(word.rawValue, at: RecordFormat.committedOffset)
    }

    /// Appends a commit, completely or not at all. The caller holds the file lock.
    ///
    /// - Returns: The bytes of the record.
    @discardableResult
    func append(_ record: inout RecordWriter) throws(FileFailure) -> [UInt8] {
        let (end, last, size) = contents.withLock { ($0.end, $0.crc, $0.size) }
        let crc = record.finish(after: last)
        let newEnd = end + record.length
        // A larger size takes no space. Writing then fails if the disk is full.
        let newSize = newEnd <= size ? size : (newEnd + RecordFormat.step - 1) / RecordFormat.step * RecordFormat.step
        let committed = contents.withLock { CommittedEnd(tag: $0.committed.tag, end: newEnd) }
        var written = 0
        do throws(FileFailure) {
            if words.flushed > UInt64(end) { try file.writeWord(0, at: RecordFormat.flushedOffset) }
            if newSize > size { try file.truncate(to: newSize) }
            try record.withBytes { bytes throws(FileFailure) in try file.write(bytes, at: end, written: &written) }
            try file.writeWord(committed.rawValue, at: RecordFormat.committedOffset)
        } catch {
            // If this fails too, the bytes are not committed, and the next record is written over
            // them.
            if written > 0 { try? file.truncate(to: end) }
            contents.withLock { $0.size = end }
            throw error
        }
        let bytes = record.withBytes { Array($0) }
        contents.withLock { contents in
            contents.values.apply([record.payload], of: bytes)
            (contents.end, contents.crc, contents.crcOffset) = (newEnd, crc, end + 4)
            (contents.size, contents.committed) = (newSize, committed)
        }
        return bytes
    }

    /// Returns the contents of a file that can replace this one.
    func successor() -> [UInt8] { RecordFormat.file(epoch: epoch &+ 1, contents.withLock { $0.values }.edits) }

    /// Returns whether the file should be compacted before `count` bytes are appended. A file that
    /// would exceed its limit is due only if its values leave room for them.
    func isDueForCompaction(appending count: Int = 0, keeping keptSize: Int, limit: Int = .max) -> Bool {
        contents.withLock { contents in
            let size = contents.end + count
            let needed = contents.values.live + count
            if size > limit { return RecordFormat.headerLength + needed <= limit }
            return size > max(keptSize, 4 * needed) && size > contents.sizeAtFailedCompaction / 2 * 3
        }
    }

    /// Postpones the next attempt until the file has grown by half.
    func noteFailedCompaction() { contents.withLock { $0.sizeAtFailedCompaction = $0.end } }

    /// Returns whether a record makes the live values smaller, so that a full file can be emptied.
    func shrinks(by record: borrowing RecordWriter) -> Bool {
        let bytes = record.withBytes { Array($0) }
        var values = contents.withLock { $0.values }
        let live = values.live
        values.apply([8..<bytes.count], of: bytes)
        return values.live < live
    }

    // The state of flushes.
    /// Whether the name refers to a file with another state.
    var isCopied: Bool {
        get throws(FileFailure) {
            let bytes = try directory.file(name, .readOnly).read(at: RecordFormat.committedOffset, count: 8)
            guard bytes.count == 8 else { return true }
            let value = bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
            return words.committed != CommittedEnd(rawValue: UInt64(littleEndian: value))
        }
    }

    var needsFlush: Bool { contents.withLock { $0.flushed < $0.end || !$0.isNameFlushed } }
    var isNameFlushed: Bool { contents.withLock { $0.isNameFlushed } }
    var hasFailedFlush: Bool {
        get { contents.withLock { $0.hasFailedFlush } }
        set { contents.withLock { $0.hasFailedFlush = newValue } }
    }
    /// Whether a successful flush proves that all records are on the disk. The system reports the
    /// failure of an earlier flush only to the processes that had the file open then.
    var isProvable: Bool { contents.withLock { $0.isProofGivenUp || words.flushed >= $0.unproven } }
    /// Lets flushes go on without proof. They then prove nothing to other processes either.
    func giveUpProof() -> FileLog? {
        contents.withLock { $0.isProofGivenUp = true }
        return nil
    }
    func noteFlush(to end: Int, andName isName: Bool) {
        contents.withLock { contents in
            contents.flushed = max(contents.flushed, end)
            contents.isNameFlushed = contents.isNameFlushed || isName
            guard !contents.isProofGivenUp else { return }
            contents.unproven = 0
            // Two processes may do this at once. Then the word may be too small until the next
            // flush, and so it may if this fails.
            if isWritable, words.flushed < UInt64(end) {
                try? file.writeWord(UInt64(end), at: RecordFormat.flushedOffset)
            }
        }
    }
}

extension FileLog.Contents {
    /// Applies the records that follow the last one and end at a limit.
    ///
    /// - Returns: Their payloads.
    mutating func apply(_ bytes: [UInt8], from start: Int, upTo limit: Int = .max) -> [Range<Int>] {
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
        values.apply(payloads, of: bytes)
        return payloads
    }
}
