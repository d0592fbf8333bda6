#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    #error("SettingsFile needs POSIX threads")
#endif

/// The end of a thread's stack, used to stop a recursion before it overflows.
package struct StackEnd: Sendable {
    /// Enough space for the calls between two checks.
    private static let reserve: UInt = 32 << 10

    /// The lowest address of the stack; 0 if the code runs on a stack unknown to the system.
    private let address: UInt

    /// - Parameters:
    ///   - address: The lowest address of the stack.
    ///   - size: The size of the stack.
    private init(address: UInt, size: UInt) {
        self.address = Self.currentAddress >= address && Self.currentAddress - address < size ? address : 0
    }

    /// Whether a recursion must stop because the stack is nearly used up.
    package var isNear: Bool { !hasRoom(for: 0) }

    /// Returns whether `bytes` of the stack are left, in addition to the reserve.
    package func hasRoom(for bytes: UInt) -> Bool {
        address == 0 || Self.currentAddress >= address && Self.currentAddress - address >= Self.reserve + bytes
    }

    /// An address near the current end of the used stack.
    @inline(never)
    fileprivate static var currentAddress: UInt {
        var variable: UInt8 = 0
        return withUnsafeMutablePointer(to: &variable) { UInt(bitPattern: $0) }
    }
}

/// Measures how far a recursion has gone down the stack.
///
/// Finding the end of the stack takes a system call and, on the main thread, reads a file. The end
/// is therefore looked up only after the recursion has used some of the stack.
package struct StackWatch {
    private static let freeRoom: UInt = 12 << 10

    private let start = StackEnd.currentAddress
    private var end: StackEnd?

    package init() {}

    package var isEndKnown: Bool { end != nil }

    /// Returns whether the recursion must stop because the stack is nearly used up.
    package mutating func isEndNear() -> Bool {
        let currentAddress = StackEnd.currentAddress
        guard start > currentAddress, start - currentAddress > Self.freeRoom else { return false }
        if let end { return end.isNear }
        let end = StackEnd.current
        self.end = end
        return end.isNear
    }
}

#if canImport(Darwin)
    extension StackEnd {
        package static var current: StackEnd {
            let thread = pthread_self()
            let size = UInt(pthread_get_stacksize_np(thread))
            return StackEnd(address: UInt(bitPattern: pthread_get_stackaddr_np(thread)) - size, size: size)
        }
    }
#else
    extension StackEnd {
        // Swift does not see the declaration in the glibc headers. If the symbol is missing, no
        // check is made.
        private typealias GetAttributes = @convention(c) (pthread_t, UnsafeMutablePointer<pthread_attr_t>) -> CInt
        private static let getAttributes: GetAttributes? = dlsym(nil, "pthread_getattr_np").map {
            // Safe: this is the type in pthread.h.
            unsafeBitCast($0, to: GetAttributes.self)
        }

        /// The end of the current thread's stack. Reads a file of the system on the main thread.
        package static var current: StackEnd {
            // Uninitialized memory, because the compiler resolves `pthread_attr_t()` to a type of
            // Dispatch.
            withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { buffer in
                let attributes = buffer.baseAddress!
                guard let getAttributes, getAttributes(pthread_self(), attributes) == 0 else {
                    return StackEnd(address: 0, size: 0)
                }
                defer { pthread_attr_destroy(attributes) }
                var (start, size) = (UnsafeMutableRawPointer?.none, 0)
                pthread_attr_getstack(attributes, &start, &size)
                return StackEnd(address: UInt(bitPattern: start), size: UInt(size))
            }
        }
    }
#endif
