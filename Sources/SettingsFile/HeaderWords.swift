import CChecksum

/// The value of the first word of a header that changes: which records are committed.
package struct CommittedEnd: Equatable {
    let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    init(tag: UInt64, end: Int, isReplaced: Bool = false) {
        rawValue = tag << 32 | UInt64(end) | (isReplaced ? 1 : 0)
    }

    /// The end of the last committed record.
    var end: Int { Int(clamping: rawValue & 0xFFFF_FFF8) }
    /// A random number. It changes when committed records are lost, and a file that was copied over
    /// another one has another number.
    var tag: UInt64 { rawValue >> 32 }
    /// Whether another file is about to get the name, or has it.
    var isReplaced: Bool { rawValue & 1 != 0 }

    /// Where reading stops. Never in the header or before records that had been flushed: then the
    /// word is wrong, and the checksums of the records tell where they end.
    package func limit(flushed: UInt64) -> Int {
        flushed > UInt64(end) || end < RecordFormat.headerLength ? .max : end
    }

    /// Never 0, so that an emptied file has another value than any that was read.
    static func randomTag() -> UInt64 { .random(in: 1...UInt64(UInt32.max)) }
}

/// The words of a header that change. All processes read them through a mapping of the first page.
///
/// They are written with system calls. A store to the mapping would end the process with SIGBUS
/// where the page needs space on a full disk, as on file systems that copy on write, and where a
/// file system has become read-only after an error.
///
/// A writer writes a record before the word, with a fence between the calls. A reader loads the
/// word with acquire order, before it reads the record. So a reader that sees a word also reads the
/// records that it covers, on arm64 too.
///
/// If another program truncates the file, a read raises SIGBUS until the file has bytes again.
struct HeaderWords: ~Copyable, Sendable {
    private let page: MappedBytes

    init(_ file: File) throws(FileFailure) { page = try MappedBytes(of: file, count: RecordFormat.headerLength) }

    /// `nil` if the page no longer begins like a settings file: another program has truncated the
    /// file or copied another one over it.
    var committed: CommittedEnd? {
        let value = word.value
        return page.start.load(as: UInt64.self) == RecordFormat.magicWord ? CommittedEnd(rawValue: value) : nil
    }

    /// The first word alone, for a reader that keeps the mapping alive and knows a value that the
    /// file had.
    struct Word {
        // Safe: it never changes, and each access is that of one word.
        fileprivate let start: Unchecked<UnsafeRawPointer>

        @inline(__always)
        var value: UInt64 { UInt64(load_acquiring(start.value)) }
    }

    var word: Word { Word(start: Unchecked(page.start + RecordFormat.committedOffset)) }

    /// The end of the records that are known to be on the disk.
    ///
    /// No checksum covers it. If it is too small, a process replaces the file once in vain. If it
    /// is too large, a process relies on its own flush for records that it did not write. That
    /// matters only if another process's flush of them has failed. A writer resets a word beyond
    /// the end of the records.
    var flushed: UInt64 { UInt64(load_acquiring(page.start + RecordFormat.flushedOffset)) }
}

extension File {
    /// Writes a word of the header after all that was written before.
    func writeWord(_ value: UInt64, at offset: Int) throws(FileFailure) {
        fence_releasing()
        var written = 0
        try withUnsafeBytes(of: value.littleEndian) { bytes throws(FileFailure) in
            try write(bytes, at: offset, written: &written)
        }
    }
}
