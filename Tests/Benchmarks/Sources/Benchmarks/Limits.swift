import Glibc

/// The lower limit of storing bytes in a file: plain system calls on a file of zeros.
final class LimitFile: Sendable {
    private let length: Int
    private let descriptor: Int32
    // Safe: measured on one thread at a time.
    private nonisolated(unsafe) let status = UnsafeMutableRawPointer.allocate(byteCount: 256, alignment: 8)
    // `statx` is missing in Swift's C library module.
    private static let statx = unsafeBitCast(dlsym(nil, "statx")!, to: Statx.self)
    private typealias Statx =
        @convention(c) (Int32, UnsafePointer<CChar>, Int32, UInt32, UnsafeMutableRawPointer) -> Int32
    // Safe: measured on one thread at a time.
    private nonisolated(unsafe) var end = 0

    init(path: String, length: Int = 64 << 10) {
        self.length = length
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        // Write page by page, so that the system caches separate pages. In a large page, a small
        // write takes up to four times as long.
        for offset in stride(from: 0, to: length, by: 4_096) {
            precondition(pwrite(descriptor, [UInt8](repeating: 0, count: 4_096), 4_096, off_t(offset)) == 4_096)
        }
        precondition(fsync(descriptor) == 0)
    }

    deinit {
        close(descriptor)
        status.deallocate()
    }

    /// Writes the bytes after the last ones. Starts over at the end of the file.
    func write(_ bytes: [UInt8]) {
        if end + bytes.count > length { end = 0 }
        precondition(pwrite(descriptor, bytes, bytes.count, off_t(end)) == bytes.count)
        end += bytes.count
    }

    /// Locks the file, checks whether it still has a name, and writes. The check requests no times
    /// as `fstatat` does, because that slows down the next write.
    func writeLocked(_ bytes: [UInt8]) {
        precondition(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        // AT_EMPTY_PATH, STATX_NLINK
        precondition(Self.statx(descriptor, "", 0x1000, 0x4, status) == 0)
        write(bytes)
        precondition(flock(descriptor, LOCK_UN) == 0)
    }

    func flush() { precondition(fdatasync(descriptor) == 0) }
}

/// Reads a whole file.
func readFile(_ path: String, _ buffer: UnsafeMutableRawBufferPointer) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    let count = read(descriptor, buffer.baseAddress, buffer.count)
    precondition(count > 0 && count < buffer.count)
    close(descriptor)
}
