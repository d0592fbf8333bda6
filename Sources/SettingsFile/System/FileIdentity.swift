#if canImport(Glibc)
    import Glibc

    private typealias Statx =
        @convention(c) (
            Int32, UnsafePointer<CChar>, Int32, UInt32, UnsafeMutableRawPointer
        ) -> Int32
    // Swift's module of the C library leaves this one out, and some containers refuse it.
    private let statx: Statx? = {
        guard let symbol = dlsym(nil, "statx") else { return nil }
        let statx = unsafeBitCast(symbol, to: Statx.self)
        return withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { buffer in
            statx(AT_FDCWD, "/", 0, 0x101, buffer.baseAddress!) == 0 ? statx : nil
        }
    }()

    extension File {
        /// Which file the name in this directory, or this file if the name is empty, is.
        ///
        /// Without asking for times: on Linux 6.13 and later, whoever has read the times of a file makes the next write note a new one,
        /// which takes the write 1 µs more, and the flush behind it a second block (fdatasync 212 µs in place of 144).
        func identity(ofExisting name: String) throws(FileFailure) -> Identity {
            guard let statx else { return try identityWithTimes(of: name) }
            return try withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { buffer throws(FileFailure) in
                // STATX_TYPE | STATX_INO, AT_EMPTY_PATH. A string given as it is would be copied.
                let flags = AT_SYMLINK_NOFOLLOW | (name.isEmpty ? 0x1000 : 0)
                try Self.checking("statx") {
                    name.withCString { statx(descriptor, $0, flags, 0x101, buffer.baseAddress!) }
                }
                return Identity(
                    // Two numbers of 32 bits.
                    device: buffer.loadUnaligned(fromByteOffset: 136, as: UInt64.self),
                    inode: buffer.load(fromByteOffset: 32, as: UInt64.self))
            }
        }
    }
#else
    extension File {
        /// Which file the name in this directory, or this file if the name is empty, is. The times are asked for as well: `statx` is
        /// found on Linux with the GNU C library only.
        func identity(ofExisting name: String) throws(FileFailure) -> Identity { try identityWithTimes(of: name) }
    }
#endif
