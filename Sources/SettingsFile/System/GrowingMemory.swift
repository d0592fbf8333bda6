#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    #error("SettingsFile needs the memory functions of C")
#endif

/// Bytes that grow at their end.
///
/// Not an array, because an array checks at each access whether its storage is shared, and copies
/// its elements when it grows. Here, the system moves the pages of a large allocation instead.
struct GrowingMemory: ~Copyable {
    private(set) var start: UnsafeMutableRawPointer
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
        start = allocated(malloc(capacity))
    }

    deinit { free(start) }

    /// The bytes so far. They move when more are appended.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    /// Appends uninitialized bytes and returns them.
    @inline(__always)
    mutating func append(_ length: Int) -> UnsafeMutableRawBufferPointer {
        if length > capacity - count { grow(by: length) }
        count += length
        return UnsafeMutableRawBufferPointer(start: start + (count - length), count: length)
    }

    @inline(never)
    private mutating func grow(by length: Int) {
        capacity = max(2 * capacity, count + length)
        start = allocated(realloc(start, capacity))
    }
}

/// Numbers, all zero at first. The system provides the zeros when they are used.
struct ZeroedTable: ~Copyable {
    private let start: UnsafeMutablePointer<UInt64>
    let count: Int

    init(count: Int) {
        self.count = count
        start = allocated(calloc(count, MemoryLayout<UInt64>.stride)).assumingMemoryBound(to: UInt64.self)
    }

    deinit { free(start) }

    subscript(index: Int) -> UInt64 {
        get { start[index] }
        nonmutating set { start[index] = newValue }
    }
}

private func allocated(_ memory: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer {
    guard let memory else { preconditionFailure("out of memory") }
    return memory
}
