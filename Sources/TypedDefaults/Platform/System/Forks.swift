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

/// A lock that stays locked while the process is forked: a child inherits it as it is, but not the thread that would unlock it.
protocol ForkLock: AnyObject, Sendable {
    func lock()
    func unlock()
}

/// Keeps the lock of a file from living on in a child process: a child closes what it inherits, and opens it again when it needs it.
enum Forks {
    private static let descriptors = Locked<Set<Int32>>([])
    private static let locks = Locked<[ObjectIdentifier: [any ForkLock]]>([:])
    // Safe: written only in a child, while it has no other thread.
    private nonisolated(unsafe) static let counter = {
        let counter = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        counter.initialize(to: 0)
        return counter
    }()
    // Safe: touched only with `descriptors` locked.
    private nonisolated(unsafe) static var held: [any ForkLock] = []
    private static let watches: Void = {
        _ = counter
        _ = pthread_atfork(
            { Forks.prepare() }, { Forks.end() },
            {
                Forks.end()
                Forks.descriptors.withLock { descriptors in
                    for descriptor in descriptors { _ = closeDescriptor(descriptor) }
                    descriptors = []
                    Forks.counter.pointee += 1
                }
            })
    }()

    private static func prepare() {
        let locks = locks.withLock { $0.values.flatMap { $0 } } + [locks, descriptors]
        for lock in locks { lock.lock() }
        held = locks
    }

    private static func end() {
        let locks = held
        held = []
        for lock in locks.reversed() { lock.unlock() }
    }

    /// Has these locks held, in this order, while the process is forked, until they are released.
    static func hold(_ locks: [any ForkLock]) {
        _ = watches
        Self.locks.withLock { $0[ObjectIdentifier(locks[0])] = locks }
    }

    static func release(_ locks: [any ForkLock]) { Self.locks.withLock { $0[ObjectIdentifier(locks[0])] = nil } }

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
