#if canImport(Glibc)
    import Glibc

    /// Returns a function of the C library; `nil` if this version of it has none of that name.
    ///
    /// - Parameter type: The type of its declaration in C.
    func function<Function>(_ name: String, declaredAs type: Function.Type) -> Function? {
        // Safe: the caller knows the type. There is no other way to call what `dlsym` returns.
        dlsym(nil, name).map { unsafeBitCast($0, to: Function.self) }
    }

    private typealias Statx =
        @convention(c) (
            Int32, UnsafePointer<CChar>, Int32, UInt32, UnsafeMutableRawPointer
        ) -> Int32
    // `statx` is missing in Swift's C library module, and some containers block it.
    private let statx: Statx? = {
        guard let statx = function("statx", declaredAs: Statx.self) else { return nil }
        return withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { buffer in
            statx(AT_FDCWD, "/", 0, 0x101, buffer.baseAddress!) == 0 ? statx : nil
        }
    }()

    extension File {
        /// Returns the identity of an entry of this directory, or of this file if the name is
        /// empty, with the number of its links and its size.
        ///
        /// Does not request times. On Linux 6.13 and later, after a process has read the times of a
        /// file, the next write must store a new time. The write then takes 1 µs longer, and the
        /// flush writes a second block (`fdatasync` takes 212 µs instead of 144 µs).
        func entry(_ name: String = "", followsLinks: Bool = false) throws(FileFailure) -> Entry {
            guard let statx else { return try entryWithTimes(name, followsLinks: followsLinks) }
            return try withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { buffer throws(FileFailure) in
                // STATX_TYPE | STATX_NLINK | STATX_UID | STATX_INO | STATX_SIZE, AT_EMPTY_PATH.
                // Passing the string directly would copy it.
                let flags = (followsLinks ? 0 : AT_SYMLINK_NOFOLLOW) | (name.isEmpty ? 0x1000 : 0)
                try Self.checking("statx") {
                    name.withCString { statx(descriptor, $0, flags, 0x30d, buffer.baseAddress!) }
                }
                let identity = Identity(
                    // The device consists of two numbers of 32 bits.
                    device: buffer.loadUnaligned(fromByteOffset: 136, as: UInt64.self),
                    inode: buffer.load(fromByteOffset: 32, as: UInt64.self))
                return Entry(
                    identity: identity, owner: buffer.load(fromByteOffset: 20, as: UInt32.self),
                    links: buffer.load(fromByteOffset: 16, as: UInt32.self),
                    size: Int(clamping: buffer.load(fromByteOffset: 40, as: UInt64.self)))
            }
        }
    }
#else
    extension File {
        /// Returns the identity of an entry of this directory, or of this file if the name is
        /// empty, with the number of its links and its size. This also requests times, because
        /// `statx` is only found on Linux with the GNU C library.
        func entry(_ name: String = "", followsLinks: Bool = false) throws(FileFailure) -> Entry {
            try entryWithTimes(name, followsLinks: followsLinks)
        }
    }
#endif

extension File {
    /// Whether this directory is the root of a mount: whether it is on another device than its
    /// parent.
    package var isMountRoot: Bool {
        get throws(FileFailure) { try identity().device != entry("..").identity.device }
    }
}
