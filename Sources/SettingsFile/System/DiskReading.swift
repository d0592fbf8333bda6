#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

#if os(Linux) || os(Android)
    extension File {
        /// The bytes of this file as the disk holds them, not as the system has cached them; nil if the system cannot tell. Flush
        /// the file first.
        func bytesOnDisk(in range: Range<Int>) throws(FileFailure) -> [UInt8]? {
            do throws(FileFailure) {
                // Not by its name, which may mean another file by now.
                return try File("open") { open("/proc/self/fd/\(descriptor)", O_RDONLY | directAccess | O_CLOEXEC) }
                    .directBytes(in: range)
            } catch let error where error.code == EINVAL || error.isMissing || error.isForbidden {
                return nil
            }
        }

        /// Place, length and memory of such a read are multiples of a block.
        private func directBytes(in range: Range<Int>) throws(FileFailure) -> [UInt8] {
            let block = 4_096
            let start = range.lowerBound / block * block
            let buffer = UnsafeMutableRawBufferPointer.allocate(
                byteCount: (range.upperBound - start + block - 1) / block * block, alignment: block)
            defer { buffer.deallocate() }
            var filled = 0
            while filled < range.upperBound - start {
                let place = filled
                let count = try Self.checking("read") {
                    pread(descriptor, buffer.baseAddress! + place, buffer.count - place, off_t(start + place))
                }
                filled += count
                // The file ends there.
                if count == 0 || count % block != 0 { break }
            }
            return Array(buffer[min(range.lowerBound - start, filled)..<min(range.upperBound - start, filled)])
        }
    }

    // `O_DIRECT`, which Swift's modules of the C libraries leave out.
    #if arch(arm) || arch(arm64)
        private let directAccess: Int32 = 0o200000
    #elseif arch(powerpc64) || arch(powerpc64le)
        private let directAccess: Int32 = 0o400000
    #else
        private let directAccess: Int32 = 0o40000
    #endif
#else
    extension File {
        /// The bytes of this file. Whether the disk holds them too is not asked: only Linux is known to treat what a failed flush has
        /// lost as written.
        func bytesOnDisk(in range: Range<Int>) throws(FileFailure) -> [UInt8]? {
            try read(at: range.lowerBound, count: range.count)
        }
    }
#endif
