#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

#if os(Linux) || os(Android)
    extension File {
        /// Returns whether the disk holds the given bytes, which it reads past the system's cache.
        /// Flush the file first.
        ///
        /// Some file systems accept `O_DIRECT` but still read their cache: ext4 with `data=journal`
        /// or encryption, and btrfs where it has compressed the file. Linux 6.1 and later report
        /// whether a file can be read directly, except on btrfs and ZFS. Without that report, equal
        /// bytes prove nothing, while different ones still show a loss.
        ///
        /// - Returns: `nil` if the bytes may come from the cache.
        func hasOnDisk(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(FileFailure) -> Bool? {
            do throws(FileFailure) {
                // Do not open the file by its name, which may refer to another file by now.
                let direct = try File("open") {
                    open("/proc/self/fd/\(descriptor)", O_RDONLY | directAccess | O_CLOEXEC)
                }
                guard try direct.directBytes(in: offset..<(offset + bytes.count))[...] == bytes else { return false }
                return try direct.isReadDirectly ? true : nil
            } catch let error where error.code == EINVAL || error.isMissing || error.isPermissionDenied {
                return nil
            }
        }

        /// Reads with `O_DIRECT`, which requires offset, length and address to be multiples of a
        /// block.
        private func directBytes(in range: Range<Int>) throws(FileFailure) -> [UInt8] {
            let block = 4_096
            let start = range.lowerBound / block * block
            let buffer = UnsafeMutableRawBufferPointer.allocate(
                byteCount: (range.upperBound - start + block - 1) / block * block, alignment: block)
            defer { buffer.deallocate() }
            var filled = 0
            while filled < range.upperBound - start {
                let offset = filled
                let count = try Self.checking("read") {
                    pread(descriptor, buffer.baseAddress! + offset, buffer.count - offset, off_t(start + offset))
                }
                filled += count
                // This is the end of the file.
                if count == 0 || count % block != 0 { break }
            }
            return Array(buffer[min(range.lowerBound - start, filled)..<min(range.upperBound - start, filled)])
        }
    }

    // `O_DIRECT` is missing in Swift's C library modules.
    #if arch(arm) || arch(arm64)
        private let directAccess: Int32 = 0o200000
    #elseif arch(powerpc64) || arch(powerpc64le)
        private let directAccess: Int32 = 0o400000
    #else
        private let directAccess: Int32 = 0o40000
    #endif
#else
    extension File {
        /// Compares bytes of this file through the system's cache. Only Linux is known to treat
        /// pages as written after a flush of them has failed.
        func hasOnDisk(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(FileFailure) -> Bool? {
            try read(at: offset, count: bytes.count)[...] == bytes
        }
    }
#endif
