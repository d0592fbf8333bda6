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

/// Returns whether both buffers hold the same bytes.
package func areEqual(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
    guard one.count == other.count else { return false }
    guard let start = one.baseAddress, let otherStart = other.baseAddress else { return true }
    return memcmp(start, otherStart, one.count) == 0
}

/// Why a file cannot be used, in words that follow its path.
package struct FileFailure: Error {
    package let reason: String
    /// The `errno` of the failed call; 0 if no call failed.
    package let code: Int32
    /// Whether the request exceeds a limit while the file itself is fine.
    let isLimit: Bool
    /// Whether the name refers to another file now.
    let isReplaced: Bool

    package init(_ reason: String, code: Int32 = 0, isLimit: Bool = false, isReplaced: Bool = false) {
        (self.reason, self.code, self.isLimit, self.isReplaced) = (reason, code, isLimit, isReplaced)
    }

    init(call: String, code: Int32) { self.init("\(call): \(String(cString: strerror(code)))", code: code) }

    /// A program has truncated the file in place, or has copied another one over it.
    static let isOverwritten = Self("another program has overwritten it", isReplaced: true)

    static let isReplacedMeanwhile = Self("it was replaced in the meantime", isReplaced: true)

    static let isReadOnly = Self("it is read-only for this process", code: EACCES)

    package var isMissing: Bool { code == ENOENT }
    var isPermissionDenied: Bool { code == EACCES || code == EPERM || code == EROFS }
    /// Whether the file cannot be used where it is, which its readers report.
    var isOfPlace: Bool { code == 0 || isMissing || isPermissionDenied }
    var alreadyExists: Bool { code == EEXIST }
    var isBusy: Bool { code == EBUSY }
    /// Also true over a quota.
    var isDiskFull: Bool { code == ENOSPC || code == EDQUOT }
}

/// An open descriptor of a file or directory. The last reference closes it.
package final class File: Sendable {
    package struct Status {
        package let size: Int
        package let links: Int
        package let owner: UInt32
        let group: UInt32
        package let mode: UInt32

        fileprivate init(_ status: stat) {
            // The size may not fit into an `Int` of 32 bits. Such a file is too large in any case.
            size = Int(clamping: status.st_size)
            links = Int(clamping: status.st_nlink)
            owner = UInt32(status.st_uid)
            group = UInt32(status.st_gid)
            mode = UInt32(status.st_mode)
        }

        package var isRegular: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFREG) }
        package var isOfThisUser: Bool { owner == UInt32(geteuid()) }
        package var isOfRoot: Bool { owner == 0 }
        /// Whether group and others cannot write. A symbolic link has no permissions of its own.
        private var isWritableByOwnerOnly: Bool {
            mode & 0o022 == 0 || mode & UInt32(S_IFMT) == UInt32(S_IFLNK)
        }
        /// Whether no other user but root can write.
        package var isPrivate: Bool { (isOfThisUser || isOfRoot) && isWritableByOwnerOnly }
        /// Whether other users can replace files in this directory.
        package var isWorldWritable: Bool { mode & 0o002 != 0 && !isSticky }
        /// Whether users can only remove their own files from this directory, as in `/tmp`.
        var isSticky: Bool { mode & 0o1000 != 0 }
    }

    /// Identifies a file independently of its name.
    package struct Identity: Equatable {
        let device: UInt64
        let inode: UInt64
    }

    package enum Access { case readOnly, readWrite, createExclusively }

    let descriptor: Int32
    /// The process that opened the descriptor, as counted by ``Forks/count``.
    private let process: Int

    init(_ call: String, opening: () -> Int32) throws(FileFailure) {
        _ = (Forks.counting, Self.standardDescriptors)
        var opened = try Self.checking(call, opening)
        if opened <= 2 {
            // The program has closed it since.
            let low = opened
            defer { close(low) }
            opened = try Self.checking("fcntl") { fcntl(low, F_DUPFD_CLOEXEC, 3) }
        }
        (descriptor, process) = (opened, Forks.count)
    }

    // In a child, the number may belong to another file by now.
    deinit { if process == Forks.count { close(descriptor) } }

    /// Opens the root folder under the numbers 0, 1 and 2 if the process was started with these
    /// closed: its output would overwrite a settings file. Nothing can be written to a folder.
    private static let standardDescriptors: Void = {
        for number in 0...2 as ClosedRange<Int32> where fcntl(number, F_GETFD) < 0 {
            #if os(Linux) || os(Android)
                let access: Int32 = 0o10_000_000  // O_PATH, for a process that cannot read the folder
            #else
                let access = O_RDONLY
            #endif
            let descriptor = open("/", access | O_DIRECTORY | O_CLOEXEC)
            // Another thread was faster.
            if descriptor > 2 { close(descriptor) }
        }
    }()

    /// Returns whether this process may write the file or the folder; `nil` if there is none.
    static func isWritable(_ path: String) -> Bool? {
        if access(path, W_OK) == 0 { return true }
        return errno == ENOENT ? nil : false
    }

    static func isMissing(_ path: String) -> Bool { access(path, F_OK) != 0 && errno == ENOENT }

    /// Creates a directory in this one, accessible to the user only. Another process may be faster.
    func makeDirectory(_ name: String) throws(FileFailure) {
        guard mkdirat(descriptor, name, 0o700) == 0 else {
            guard errno != EEXIST else { return }
            throw FileFailure(call: "mkdir", code: errno)
        }
        // An unusual `umask` may have withheld rights. If this fails, the use of the folder fails
        // and says why.
        if let status = try? status(of: name), status.mode & 0o700 != 0o700 { fchmodat(descriptor, name, 0o700, 0) }
    }

    package static func existingDirectory(_ path: String) throws(FileFailure) -> File {
        try File("open") { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    }

    /// Opens a file in this directory. Never follows a symbolic link or waits for a pipe.
    package func file(_ name: String, _ access: Access) throws(FileFailure) -> File {
        let flags =
            switch access {
            case .readOnly: O_RDONLY
            case .readWrite: O_RDWR
            case .createExclusively: O_RDWR | O_CREAT | O_EXCL
            }
        let file = try File("open") { openat(descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600) }
        // An unusual `umask` may have withheld rights. If this fails, the next open says why.
        if access == .createExclusively { _ = fchmod(file.descriptor, 0o600) }
        return file
    }

    /// Repeats a call while signals interrupt it. Returns its result.
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
    package func status() throws(FileFailure) -> Status {
        var status = stat()
        try Self.checking("fstat") { fstat(descriptor, &status) }
        return Status(status)
    }

    /// Returns the status of an entry of this directory. Does not follow symbolic links.
    package func status(of name: String) throws(FileFailure) -> Status {
        var status = stat()
        try Self.checking("stat") { fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) }
        return Status(status)
    }

    /// Returns the target of a symbolic link in this directory, or `nil` if the entry is missing or
    /// not a link.
    package func target(ofLink name: String) throws(FileFailure) -> String? {
        do throws(FileFailure) {
            var path = [CChar](repeating: 0, count: 4_096)
            let count = try Self.checking("readlink") { readlinkat(descriptor, name, &path, path.count) }
            guard count < path.count, let target = path[..<count].withUnsafeBytes(String.init(utf8:)) else {
                throw FileFailure("it is a symbolic link whose target is too long or not UTF-8")
            }
            return target
        } catch let error where error.isMissing || error.code == EINVAL { return nil }
    }

    /// Returns the identity of an entry of this directory, or `nil` if there is none.
    ///
    /// - Parameter followsLinks: Whether to return the identity of the target of a symbolic link.
    func identity(of name: String, followsLinks: Bool = false) throws(FileFailure) -> Identity? {
        try existingEntry(name, followsLinks: followsLinks)?.identity
    }

    /// Returns an entry of this directory, or `nil` if there is none.
    func existingEntry(_ name: String, followsLinks: Bool) throws(FileFailure) -> Entry? {
        do throws(FileFailure) {
            return try entry(name, followsLinks: followsLinks)
        } catch let error where error.isMissing { return nil }
    }

    package func identity() throws(FileFailure) -> Identity { try entry().identity }

    struct Entry {
        let identity: Identity
        let owner: UInt32
        let links: UInt32
        let size: Int
    }

    /// Implements ``entry(_:followsLinks:)`` where `statx` is not available.
    func entryWithTimes(_ name: String, followsLinks: Bool) throws(FileFailure) -> Entry {
        var status = stat()
        let flags = followsLinks ? 0 : AT_SYMLINK_NOFOLLOW
        try Self.checking("stat") {
            name.isEmpty ? fstat(descriptor, &status) : fstatat(descriptor, name, &status, flags)
        }
        let identity = Identity(
            device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(truncatingIfNeeded: status.st_ino))
        return Entry(
            identity: identity, owner: UInt32(status.st_uid), links: UInt32(clamping: status.st_nlink),
            size: Int(clamping: status.st_size))
    }

    /// Reads bytes from an offset on. Returns fewer if the file ends before.
    package func read(at offset: Int, count: Int) throws(FileFailure) -> [UInt8] {
        // The code below writes the count of the array, and the empty array is shared by all
        // threads.
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

    func rename(_ name: String, to newName: String) throws(FileFailure) {
        try Self.checking("rename") { renameat(descriptor, name, descriptor, newName) }
    }

    func remove(_ name: String) throws(FileFailure) {
        try Self.checking("unlink") { unlinkat(descriptor, name, 0) }
    }
}

package enum SystemClock {
    package static func sleep(microseconds: UInt32) { usleep(microseconds) }
    static func yield() { sched_yield() }
}

/// The first bytes of a file, mapped for reading until this value is released.
// Safe: the mapping never changes. There is no other way to share a pointer.
struct MappedBytes: ~Copyable, @unchecked Sendable {
    let start: UnsafeRawPointer
    private let count: Int

    init(of file: File, count: Int) throws(FileFailure) {
        let start = mmap(nil, count, PROT_READ, MAP_SHARED, file.descriptor, 0)
        guard let start, start != MAP_FAILED else { throw FileFailure(call: "mmap", code: errno) }
        (self.start, self.count) = (UnsafeRawPointer(start), count)
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: start), count) }
}
