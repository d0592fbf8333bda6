#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    #error("TypedDefaults needs pthread_atfork")
#endif

/// Keeps the lock of a file from living on in a child process: a child closes what it inherits, and opens it again when it needs it.
enum Forks {
    private static let descriptors = Locked<Set<Int32>>([])
    // Safe: written only in a child, while it has no other thread.
    private nonisolated(unsafe) static let counter = {
        let counter = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        counter.initialize(to: 0)
        return counter
    }()
    private static let watches: Void = {
        _ = counter
        _ = pthread_atfork(
            { Forks.descriptors.lock() }, { Forks.descriptors.unlock() },
            {
                Forks.descriptors.unlock()
                Forks.descriptors.withLock { descriptors in
                    for descriptor in descriptors { _ = closeDescriptor(descriptor) }
                    descriptors = []
                    Forks.counter.pointee += 1
                }
            })
    }()

    /// How often this process, or one that it comes from, was forked into another one.
    static var count: Int { counter.pointee }

    /// Opens a descriptor, with no fork between its coming and its being noted.
    static func open(_ body: () -> Int32) -> (descriptor: Int32, process: Int, code: Int32) {
        _ = watches
        return descriptors.withLock { descriptors in
            while true {
                let descriptor = body()
                if descriptor < 0 && errno == EINTR { continue }
                let code = errno
                if descriptor >= 0 { descriptors.insert(descriptor) }
                return (descriptor, count, code)
            }
        }
    }

    /// Closes a descriptor unless a fork has done that; then its number may be somebody else's by now.
    static func close(_ descriptor: Int32, of process: Int) {
        descriptors.withLock { descriptors in
            guard count == process, descriptors.remove(descriptor) != nil else { return }
            _ = closeDescriptor(descriptor)
        }
    }
}

private func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }
