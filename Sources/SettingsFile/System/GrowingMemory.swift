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

private func allocated(_ memory: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer {
    guard let memory else { preconditionFailure("out of memory") }
    return memory
}
