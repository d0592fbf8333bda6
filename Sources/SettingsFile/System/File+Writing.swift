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

// Writing, flushing and locking.
extension File {
    /// Lets all users read a file of root who can read the other one, which may be the policy of an
    /// administrator. Files of other users stay private.
    func copyReaders(of other: File) {
        guard geteuid() == 0, let status = try? other.status(), status.mode & 0o044 != 0 else { return }
        let hasGroup = fchown(descriptor, uid_t.max, gid_t(status.group)) == 0
        _ = fchmod(descriptor, mode_t(0o600 | status.mode & (hasGroup ? 0o044 : 0o004)))
    }

    /// Writes all bytes. `written` holds the number of bytes written, even if this throws.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int, written: inout Int) throws(FileFailure) {
        while written < bytes.count {
            let start = written
            let count = try Self.checking("write") {
                pwrite(descriptor, bytes.baseAddress! + start, bytes.count - start, off_t(offset + start))
            }
            // POSIX allows this, and retrying could go on forever.
            guard count > 0 else { throw FileFailure(call: "write", code: ENOSPC) }
            written += count
        }
    }

    func truncate(to size: Int) throws(FileFailure) {
        try Self.checking("ftruncate") { ftruncate(descriptor, off_t(size)) }
    }

    /// The smallest page size of all systems.
    static let pageSize = 4 << 10

    /// Writes all bytes, four pages at a time. Linux caches one large write as a large folio, and
    /// later small writes into it are slower.
    func write(_ bytes: [UInt8], at offset: Int) throws(FileFailure) {
        let part = 4 * Self.pageSize
        var written = 0
        while written < bytes.count {
            let next = min((offset + written) / part * part + part - offset, bytes.count)
            try bytes.withUnsafeBufferPointer { bytes throws(FileFailure) in
                try write(UnsafeRawBufferPointer(bytes.extracting(..<next)), at: offset, written: &written)
            }
        }
    }

    /// Waits until the contents survive a power failure.
    func flush() throws(FileFailure) {
        try Self.checking("fdatasync") { flushData(descriptor) }
    }

    /// Waits until the names in this directory survive a power failure.
    package func flushNames() throws(FileFailure) {
        do throws(FileFailure) { try Self.checking("fsync") { flushAll(descriptor) } } catch {
            // Some file systems (SMB, some of FUSE) cannot flush a directory. Their server decides
            // when a name is durable.
            guard error.code == EINVAL else { throw error }
        }
    }

    /// Locks the file. Returns false if another process holds the lock.
    package func tryLock() throws(FileFailure) -> Bool {
        do throws(FileFailure) {
            try Self.checking("flock") { flock(descriptor, LOCK_EX | LOCK_NB) }
            return true
        } catch let error where error.code == EWOULDBLOCK {
            return false
        }
    }

    /// A forked child must not call this: it shares the lock with its parent, which may be writing.
    func unlock() {
        // This fails only for closed descriptors, and this one is open.
        _ = flock(descriptor, LOCK_UN)
    }
}

#if canImport(Darwin)
    /// On Apple platforms, `fsync` stops at the drive's cache, for directories too. Not every file
    /// system supports `F_FULLFSYNC`.
    private func flushAll(_ descriptor: Int32) -> Int32 {
        fcntl(descriptor, F_FULLFSYNC) == 0 ? 0 : fsync(descriptor)
    }
    private func flushData(_ descriptor: Int32) -> Int32 { flushAll(descriptor) }
#else
    private func flushAll(_ descriptor: Int32) -> Int32 { fsync(descriptor) }
    private func flushData(_ descriptor: Int32) -> Int32 { fdatasync(descriptor) }
#endif
