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

/// The end of a thread's stack, to stop a recursion before it overflows.
package struct StackEnd: Sendable {
    /// Enough for the calls between two checks.
    private static let reserve: UInt = 32 << 10

    /// The lowest address; 0 if the code does not run on the stack that the system knows.
    private let address: UInt

    /// - Parameter size: The size of the stack that begins at that address.
    private init(address: UInt, size: UInt) {
        self.address = Self.place >= address && Self.place - address < size ? address : 0
    }

    /// Whether so little of the stack is left that a recursion has to stop.
    package var isNear: Bool { !hasRoom(for: 0) }

    /// Whether that many bytes of the stack are left, beside those for the calls between two checks.
    package func hasRoom(for bytes: UInt) -> Bool {
        address == 0 || Self.place >= address && Self.place - address >= Self.reserve + bytes
    }

    /// An address at the end of the part of the stack that is in use.
    @inline(never)
    fileprivate static var place: UInt {
        var variable: UInt8 = 0
        return withUnsafeMutablePointer(to: &variable) { UInt(bitPattern: $0) }
    }
}

/// Watches how far a recursion goes down the stack.
///
/// To find the end of the stack takes a system call, and on the main thread the reading of a file.
/// So it is found only when the recursion has used some of the stack.
package struct StackWatch {
    private static let freeRoom: UInt = 12 << 10

    private let start = StackEnd.place
    private var end: StackEnd?

    package init() {}

    package var isEndKnown: Bool { end != nil }

    /// Returns whether so little of the stack is left that the recursion has to stop.
    package mutating func isEndNear() -> Bool {
        let place = StackEnd.place
        guard start > place, start - place > Self.freeRoom else { return false }
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
        // Glibc hides the declaration from Swift. Where it cannot be found, nothing is checked.
        private typealias GetAttributes = @convention(c) (pthread_t, UnsafeMutablePointer<pthread_attr_t>) -> CInt
        private static let getAttributes: GetAttributes? = dlsym(nil, "pthread_getattr_np").map {
            // Safe: that is the type in pthread.h.
            unsafeBitCast($0, to: GetAttributes.self)
        }

        /// Reads a file of the system for the main thread.
        package static var current: StackEnd {
            // Not made by its initializer, which the compiler takes to be Dispatch's.
            withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { room in
                let attributes = room.baseAddress!
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
