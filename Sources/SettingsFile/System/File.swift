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

/// Whether both are the same bytes.
package func areEqual(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
    guard one.count == other.count else { return false }
    guard let start = one.baseAddress, let otherStart = other.baseAddress else { return true }
    return memcmp(start, otherStart, one.count) == 0
}

/// Why a file cannot be used, in words that follow its path.
struct FileFailure: Error {
    let reason: String
    /// The number of the system's error, where a call has failed.
    var code: Int32 = 0

    /// Whether nothing is wrong with the file, but what was asked for is too much.
    var isLimit = false
    /// Whether the name has come to mean another file meanwhile.
    var isReplaced = false

    init(_ reason: String, code: Int32 = 0) { (self.reason, self.code) = (reason, code) }

    init(limit reason: String) {
        self.reason = reason
        isLimit = true
    }

    init(replaced reason: String) {
        self.reason = reason
        isReplaced = true
    }

    init(call: String, code: Int32) {
        reason = "\(call): \(String(cString: strerror(code)))"
        self.code = code
    }

    var isMissing: Bool { code == ENOENT }
    var isForbidden: Bool { code == EACCES || code == EPERM || code == EROFS }
    var isOther: Bool { code == EEXIST }
    var isBusy: Bool { code == EBUSY }
    var isDiskFull: Bool { code == ENOSPC }
}

/// An open descriptor of a file, a directory or the like, closed with the last reference.
final class File: Sendable {
    struct Status {
        let size: Int
        let links: Int
        let owner: UInt32
        let mode: UInt32

        fileprivate init(_ status: stat) {
            // A file may be longer than an `Int` of 32 bits can say; then it is too long in any case.
            size = Int(clamping: status.st_size)
            links = Int(clamping: status.st_nlink)
            owner = UInt32(status.st_uid)
            mode = UInt32(status.st_mode)
        }

        var isRegular: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFREG) }
        var isOwn: Bool { owner == UInt32(geteuid()) }
        /// Whether others may put files of their own into this directory in place of ours.
        var isOpenToAll: Bool { mode & 0o002 != 0 && mode & 0o1000 == 0 }
    }

    /// Which file it is, whatever its name.
    struct Identity: Equatable {
        let device: UInt64
        let inode: UInt64
    }

    enum Access { case readOnly, readWrite, createExclusively }

    let descriptor: Int32
    /// Which of the processes that came from each other by a fork has opened it.
    let process: Int

    init(_ call: String, opening: () -> Int32) throws(FileFailure) {
        let opened = Forks.open(opening)
        guard opened.descriptor >= 0 else { throw FileFailure(call: call, code: opened.code) }
        (descriptor, process) = (opened.descriptor, opened.process)
    }

    deinit { Forks.close(descriptor, of: process) }

    /// Opens a directory, after making it and those above it where they are missing.
    static func directory(_ path: String) throws(FileFailure) -> File {
        do throws(FileFailure) {
            return try existingDirectory(path)
        } catch let error where error.isMissing {
            let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
            let parent = try directory(slash == path.startIndex ? "/" : String(path[..<slash]))
            if mkdir(path, 0o700) != 0 && errno != EEXIST { throw FileFailure(call: "mkdir", code: errno) }
            // What will be flushed inside is not to be lost with the name of the folder.
            try parent.flushNames()
            return try existingDirectory(path)
        }
    }

    static func existingDirectory(_ path: String) throws(FileFailure) -> File {
        try File("open") { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    }

    /// Opens a file in this directory, never through a link, and never waiting for a pipe.
    func file(_ name: String, _ access: Access) throws(FileFailure) -> File {
        let flags =
            switch access {
            case .readOnly: O_RDONLY
            case .readWrite: O_RDWR
            case .createExclusively: O_RDWR | O_CREAT | O_EXCL
            }
        return try File("open") { openat(descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600) }
    }

    /// The result of a call, made again as long as a signal interrupts it.
    @discardableResult
    static func checking<Result: SignedInteger>(_ call: String, _ body: () -> Result) throws(FileFailure)
        -> Result
    {
        while true {
            let result = body()
            if result >= 0 { return result }
            if errno != EINTR { throw FileFailure(call: call, code: errno) }
        }
    }
}

extension File {
    func status() throws(FileFailure) -> Status {
        var status = stat()
        try Self.checking("fstat") { fstat(descriptor, &status) }
        return Status(status)
    }

    /// The status of what the name stands for in this directory.
    func status(of name: String) throws(FileFailure) -> Status {
        var status = stat()
        try Self.checking("stat") { fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) }
        return Status(status)
    }

    /// Which file the name in this directory stands for; nil if there is nothing.
    func identity(of name: String) throws(FileFailure) -> Identity? {
        do throws(FileFailure) { return try identity(ofExisting: name) } catch let error where error.isMissing {
            return nil
        }
    }

    func identity() throws(FileFailure) -> Identity { try identity(ofExisting: "") }

    /// For ``identity(ofExisting:)`` where nothing better is to be had.
    func identityWithTimes(of name: String) throws(FileFailure) -> Identity {
        var status = stat()
        try Self.checking("stat") {
            name.isEmpty ? fstat(descriptor, &status) : fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW)
        }
        return Identity(
            device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(truncatingIfNeeded: status.st_ino))
    }

    /// The bytes from that place on, fewer where the file ends.
    func read(at offset: Int, count: Int) throws(FileFailure) -> [UInt8] {
        // An array without room is one that all threads share, and its count would be written below.
        guard count > 0 else { return [] }
        var failure: FileFailure?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(FileFailure) {
                while filled < count {
                    let start = filled
                    let read = try Self.checking("read") {
                        pread(descriptor, buffer.baseAddress! + start, count - start, off_t(offset + start))
                    }
                    if read == 0 { break }
                    filled += read
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Writes all the bytes; how many were written shows in `written` even if a call fails.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int, written: inout Int) throws(FileFailure) {
        while written < bytes.count {
            let start = written
            written += try Self.checking("write") {
                pwrite(descriptor, bytes.baseAddress! + start, bytes.count - start, off_t(offset + start))
            }
        }
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(FileFailure) {
        var written = 0
        try bytes.withUnsafeBytes { bytes in
            Result { () throws(FileFailure) in try write(bytes, at: offset, written: &written) }
        }.get()
    }

    /// Writes the bytes page by page: what is written at once Linux keeps as one large page, and each small write into that takes longer.
    func write(pages bytes: [UInt8], at offset: Int) throws(FileFailure) {
        var start = 0
        while start < bytes.count {
            let next = min((offset + start) / 4_096 * 4_096 + 4_096 - offset, bytes.count)
            try write(Array(bytes[start..<next]), at: offset + start)
            start = next
        }
    }

    /// Waits until what was written is where a loss of power does not reach it.
    func flush() throws(FileFailure) { try Self.checking("fdatasync") { flushData(descriptor) } }

    /// The same for the names in a directory.
    func flushNames() throws(FileFailure) { try Self.checking("fsync") { flushAll(descriptor) } }

    /// Takes the file's lock; false if another process has it.
    func tryLock() throws(FileFailure) -> Bool {
        do throws(FileFailure) {
            try Self.checking("flock") { flock(descriptor, LOCK_EX | LOCK_NB) }
            return true
        } catch let error where error.code == EWOULDBLOCK {
            return false
        }
    }

    func unlock() {
        // A child shares the lock with its parent, which may be writing.
        guard process == Forks.count else { return }
        // Fails for a descriptor that is not open only, and this one is.
        _ = flock(descriptor, LOCK_UN)
    }

    func rename(_ name: String, to newName: String) throws(FileFailure) {
        try Self.checking("rename") { renameat(descriptor, name, descriptor, newName) }
    }

    func remove(_ name: String) throws(FileFailure) {
        try Self.checking("unlink") { unlinkat(descriptor, name, 0) }
    }
}

/// A view of a file's bytes that shows what other processes write, as far as the file reaches.
final class FileWindow: Sendable {
    // Safe: the mapping is only read, and lives as long as this object.
    private nonisolated(unsafe) let start: UnsafeMutableRawPointer
    private let length: Int

    init(_ file: File, length: Int) throws(FileFailure) {
        self.length = length
        start = try file.map(length: length)
    }

    deinit { munmap(start, length) }

    /// The eight bytes at that place, which must lie within the file: beyond its end the process would die.
    @inline(__always)
    func word(at offset: Int) -> UInt64 { start.load(fromByteOffset: offset, as: UInt64.self) }

    /// Where that place is in memory, for as long as this object lives.
    func pointer(at offset: Int) -> UnsafeRawPointer { UnsafeRawPointer(start + offset) }

    /// A copy of the bytes at that place, all of which must lie within the file.
    func bytes(at offset: Int, count: Int) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: start + offset, count: count))
    }
}

extension File {
    fileprivate func map(length: Int) throws(FileFailure) -> UnsafeMutableRawPointer {
        guard let start = mmap(nil, length, PROT_READ, MAP_SHARED, descriptor, 0), start != MAP_FAILED else {
            throw FileFailure(call: "mmap", code: errno)
        }
        return start
    }
}

#if canImport(Darwin)
    /// On Apple platforms `fsync` stops at the drive's own cache, of the names in a directory as well. Not every file system can do more.
    private func flushAll(_ descriptor: Int32) -> Int32 {
        fcntl(descriptor, F_FULLFSYNC) == 0 ? 0 : fsync(descriptor)
    }
    private func flushData(_ descriptor: Int32) -> Int32 { flushAll(descriptor) }
#else
    private func flushAll(_ descriptor: Int32) -> Int32 { fsync(descriptor) }
    private func flushData(_ descriptor: Int32) -> Int32 { fdatasync(descriptor) }
#endif

package enum SystemClock {
    package static func sleep(microseconds: UInt32) { usleep(microseconds) }

    static func sleep(seconds: Double) {
        let end = MonotonicTime.now + .seconds(seconds)
        // A signal interrupts a sleep.
        while case let rest = end - .now, !rest.isZero { rest.sleep() }
    }
    static func yield() { sched_yield() }
}
