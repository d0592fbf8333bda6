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

/// A mapping of a file. It shows what other processes write, up to the end of the file.
struct FileWindow: ~Copyable {
    private let start: UnsafeMutableRawPointer
    private let length: Int

    init(_ file: File, length: Int) throws(FileFailure) {
        guard let start = mmap(nil, length, PROT_READ, MAP_SHARED, file.descriptor, 0), start != MAP_FAILED else {
            throw FileFailure(call: "mmap", code: errno)
        }
        (self.start, self.length) = (start, length)
    }

    deinit { munmap(start, length) }

    /// Returns the eight bytes at an offset. They must be within the file: a read beyond its end
    /// raises SIGBUS.
    @inline(__always)
    func word(at offset: Int) -> UInt64 { start.load(fromByteOffset: offset, as: UInt64.self) }

    /// Returns the address of an offset. It is valid for as long as the mapping exists.
    func pointer(at offset: Int) -> UnsafeRawPointer { UnsafeRawPointer(start + offset) }

    /// Copies bytes, all of which must be within the file.
    func bytes(at offset: Int, count: Int) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: start + offset, count: count))
    }
}
