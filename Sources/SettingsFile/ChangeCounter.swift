import CChecksum

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    #error("SettingsFile needs POSIX files")
#endif

/// The words of a header that change. All processes see them through a mapping of the first page.
///
/// A writer stores with release order, after its writes to the file. A reader loads with acquire
/// order, before it reads the file. So a reader that sees a count also reads what was written
/// before it, on arm64 too.
///
/// If another program truncates the file, an access raises SIGBUS until the file has bytes again.
// Safe: the mapping never changes, and each access is that of one word.
struct ChangeCounter: ~Copyable, @unchecked Sendable {
    private let page: UnsafeMutableRawPointer
    private let isWritable: Bool

    init(_ file: File, isWritable: Bool) throws(FileFailure) {
        let access = isWritable ? PROT_READ | PROT_WRITE : PROT_READ
        let page = mmap(nil, RecordFormat.headerLength, access, MAP_SHARED, file.descriptor, 0)
        guard let page, page != MAP_FAILED else { throw FileFailure(call: "mmap", code: errno) }
        (self.page, self.isWritable) = (page, isWritable)
    }

    deinit { munmap(page, RecordFormat.headerLength) }

    /// The number of changes. It is odd during a change, and after a change that was not finished.
    ///
    /// `nil` if the page no longer begins like a settings file: another program has truncated the
    /// file or copied another one over it.
    @inline(__always)
    var value: UInt64? {
        let value = UInt64(load_acquiring(page + RecordFormat.counterOffset))
        return page.load(as: UInt64.self) == RecordFormat.magicWord ? value : nil
    }

    /// The counter alone, for a reader that keeps the mapping alive and knows a value that the file
    /// had. A file that was emptied has the value 0, with which none begins.
    struct Word: @unchecked Sendable {
        fileprivate let word: UnsafeRawPointer

        @inline(__always)
        var value: UInt64 { UInt64(load_acquiring(word)) }
    }

    var word: Word { Word(word: page + RecordFormat.counterOffset) }

    // The caller holds the lock of the file. Each changes the value, also after a change that was
    // not finished. No checksum covers the word, so damage may have made it the largest one.
    func begin() { set { ($0 &+ 1) | 1 } }
    func end() { set { ($0 &+ 1) & ~1 } }

    private func set(_ change: (UInt64) -> UInt64) {
        let word = page + RecordFormat.counterOffset
        store_releasing(word, .init(change(UInt64(load_acquiring(word)))))
    }

    /// The end of the records that are known to be on the disk.
    ///
    /// No checksum covers it. If it is too small, a process replaces the file once in vain. If it
    /// is too large, a process relies on its own flush for records that it did not write. That
    /// matters only if another process's flush of them has failed. A writer resets a word beyond
    /// the end of the records.
    var flushed: UInt64 { UInt64(load_acquiring(page + RecordFormat.flushedOffset)) }

    /// Two processes may do this at once. Then the end may be too small, until the next flush.
    func noteFlush(to end: UInt64) {
        if isWritable, end > flushed { store_releasing(page + RecordFormat.flushedOffset, .init(end)) }
    }

    /// Resets the end if it is beyond that of the records. The caller holds the lock of the file.
    @inline(__always)
    func checkFlushed(_ end: Int) {
        if flushed > UInt64(end) { store_releasing(page + RecordFormat.flushedOffset, 0) }
    }
}
