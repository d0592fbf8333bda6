#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    #error("SettingsFile needs pthread_atfork")
#endif

/// A lock that is held during a fork. A child inherits the state of a lock, but not the thread that
/// would unlock it.
@usableFromInline
package protocol ForkLock: AnyObject, Sendable {
    func lock()
    func unlock()
    /// Unlocks in the child, after undoing what other threads of the parent had begun. The calling
    /// thread is the only one.
    func unlockInChild()
}

extension ForkLock {
    @usableFromInline
    package func unlockInChild() { unlock() }
}

/// The lock order during a fork, which is the same as everywhere else.
package enum ForkOrder: Int, CaseIterable {
    /// The table of suites. Suites may be created while it is locked.
    case suites
    /// The locks of a suite.
    case suite
    /// The locks of a backend. A suite may call its backend while it holds its own locks.
    case backend
    /// A lock that is never held while another lock is acquired.
    case leaf
}

/// Keeps the locks of this library usable in a child process, and releases file locks there.
///
/// Before `fork`, the forking thread acquires every registered lock in lock order. No other thread
/// then holds any of them, so the child finds a consistent state and can unlock all of them.
///
/// A fork waits for each system call that another thread makes under one of these locks, such as
/// the flush of a new file in a compaction. It also waits for calls that open a file.
///
/// A file lock belongs to the open file description, which parent and child share. A child
/// therefore closes the descriptors that it inherits, and opens its files again when it needs them.
///
/// `_Fork` and `clone` run no handlers. On Linux, a page that the system clears in every child
/// shows that a fork happened. Every use of a file checks this page, and the first check in the
/// child closes the descriptors. Locks that other threads of the parent held stay locked in such a
/// child, like the locks of the C library.
package enum Forks {
    private struct Registry {
        var locks: [ObjectIdentifier: (order: ForkOrder, lock: any ForkLock)] = [:]
        /// The number of registrations and releases.
        var version = 0

        var inOrder: [any ForkLock] {
            ForkOrder.allCases.flatMap { order in locks.values.filter { $0.order == order }.map(\.lock) }
        }
    }

    /// Held by the thread that forks.
    private static let forking = Locked<Void>(())
    private static let registry = Locked(Registry())
    private static let descriptors = Descriptors()
    // Safe: accessed only while all locks are held.
    private nonisolated(unsafe) static var held: [any ForkLock] = []
    // Safe: written only in a child, while the table of descriptors is locked.
    private nonisolated(unsafe) static let counter = {
        let counter = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        counter.initialize(to: 0)
        return counter
    }()
    /// Zero in a child that has not yet detected the fork.
    // Safe: written only in a child, while the table of descriptors is locked.
    private nonisolated(unsafe) static let mark: UnsafeMutablePointer<UInt> = {
        let mark = makeForkMark()
        mark.pointee = 1
        return mark
    }()
    private static let handlers: Void = {
        (_, _) = (counter, mark)
        // The runtime looks up types at the first call, under a lock that is not safe in a child.
        release { _ in }
        _ = pthread_atfork({ Forks.prepare() }, { Forks.end { $0.unlock() } }, { Forks.beginChild() })
    }()

    private static func prepare() {
        forking.lock()
        // A lock may be registered while the earlier ones are being acquired. The limit is never
        // reached unless threads do nothing but register locks.
        for _ in 0..<1_000 {
            let (locks, version) = registry.withLock { ($0.inOrder, $0.version) }
            held = locks + [registry, descriptors]
            for lock in held { lock.lock() }
            if registry.withHeldLock({ $0.version }) == version { return }
            release { $0.unlock() }
        }
        for lock in [registry, descriptors] as [any ForkLock] {
            lock.lock()
            held.append(lock)
        }
    }

    private static func release(_ unlock: (any ForkLock) -> Void) {
        let locks = held
        held = []
        for lock in locks.reversed() { unlock(lock) }
    }

    private static func end(_ unlock: (any ForkLock) -> Void) {
        release(unlock)
        forking.unlock()
    }

    private static func beginChild() {
        descriptors.table.withHeldLock { closeInheritedDescriptors(&$0) }
        end { $0.unlockInChild() }
    }

    /// Closes the inherited descriptors. The table of descriptors must be locked.
    private static func closeInheritedDescriptors(_ table: inout Descriptors.Table) {
        for descriptor in table.open { _ = closeDescriptor(descriptor) }
        table.closePlaceholders()
        // In a child of `_Fork`, calls of other threads of the parent never end.
        table = Descriptors.Table()
        counter.pointee += 1
        mark.pointee = 1
    }

    /// Detects a fork that ran no handlers.
    @inline(__always)
    private static func detectFork() {
        if mark.pointee == 0 { detectChild() }
    }

    @inline(never)
    private static func detectChild() {
        descriptors.table.withLock { table in
            // Another thread may have been faster.
            if mark.pointee == 0 { closeInheritedDescriptors(&table) }
        }
    }

    /// Registers a lock to be held during forks.
    package static func hold(_ lock: any ForkLock, _ order: ForkOrder) {
        _ = handlers
        registry.withLock { registry in
            registry.locks[ObjectIdentifier(lock)] = (order, lock)
            registry.version += 1
        }
    }

    /// Registers a lock that lives as long as the process, and returns it.
    package static func holding<Lock: ForkLock>(_ lock: Lock, _ order: ForkOrder = .leaf) -> Lock {
        hold(lock, order)
        return lock
    }

    package static func release(_ lock: any ForkLock) {
        // Release the lock after unlocking, because it may hold the last reference to another
        // registered lock.
        let released = registry.withLock { registry in
            registry.version += 1
            return registry.locks.removeValue(forKey: ObjectIdentifier(lock))
        }
        withExtendedLifetime(released) {}
    }

    /// The number of forks between the first process of the program and this one.
    package static var count: Int {
        _ = handlers
        detectFork()
        return counter.pointee
    }

    /// Opens a descriptor and registers it. No fork happens in between.
    ///
    /// No lock is held during the call, because it may take long on a network file system while
    /// other files are opened. A fork waits for the call to end.
    ///
    /// The descriptor is never 0, 1 or 2, not even for a moment: a process may be started with
    /// these closed, and its output would overwrite the file.
    static func open(_ body: () -> Int32) -> (descriptor: Int32, process: Int, code: Int32) {
        _ = handlers
        detectFork()
        descriptors.beginOpening()
        while true {
            var descriptor = body()
            if descriptor < 0 && errno == EINTR { continue }
            var code = errno
            if (0...2).contains(descriptor) {
                let low = descriptor
                descriptor = fcntl(low, F_DUPFD_CLOEXEC, 3)
                code = errno
                _ = closeDescriptor(low)
            }
            return (descriptor, descriptors.endOpening(descriptor) { counter.pointee }, code)
        }
    }

    /// Closes a descriptor, unless a fork has closed it. In that case its number may belong to
    /// another file by now.
    static func close(_ descriptor: Int32, of process: Int) {
        detectFork()
        descriptors.table.withLock { table in
            guard counter.pointee == process, table.open.remove(descriptor) != nil else { return }
            _ = closeDescriptor(descriptor)
        }
    }

    /// The open descriptors of this library. While this is locked, no descriptor is being opened.
    private final class Descriptors: ForkLock {
        struct Table {
            var open: Set<Int32> = []
            /// The number of calls in progress that open a descriptor.
            var callCount = 0
            /// Descriptors that occupy the numbers 0, 1 and 2 until the last of these calls ends.
            var placeholders: Set<Int32> = []

            mutating func closePlaceholders() {
                for descriptor in placeholders where isDirectory(descriptor) { _ = closeDescriptor(descriptor) }
                placeholders = []
            }
        }
        let table = Locked(Table())
        /// Acquired before each such call, and held during a fork, so that the fork waits only for
        /// calls in progress.
        private let gate = Locked<Void>(())

        func beginOpening() {
            gate.withLock { _ in
                table.withLock { table in
                    table.callCount += 1
                    table.placeholders.formUnion(fillClosedStandardDescriptors())
                }
            }
        }

        /// Unregisters the call and registers the descriptor.
        ///
        /// - Parameter process: Called while the table is locked.
        /// - Returns: The result of `process`.
        func endOpening(_ descriptor: Int32, in process: () -> Int) -> Int {
            table.withLock { table in
                table.callCount -= 1
                if table.callCount == 0 { table.closePlaceholders() }
                if descriptor >= 0 { table.open.insert(descriptor) }
                return process()
            }
        }

        func lock() {
            // A fork in a child of `_Fork` must not wait for threads of the parent.
            Forks.detectFork()
            gate.lock()
            table.lock()
            // The wait is rare, because backends open nearly all descriptors and are already
            // locked.
            while table.withHeldLock({ $0.callCount }) > 0 {
                table.unlock()
                SystemClock.sleep(microseconds: 100)
                table.lock()
            }
        }

        func unlock() {
            table.unlock()
            gate.unlock()
        }
    }
}

/// Opens the root folder under the numbers 0, 1 and 2 if they are closed. Nothing can be written to
/// it.
private func fillClosedStandardDescriptors() -> [Int32] {
    var placeholders: [Int32] = []
    for number in 0...2 as ClosedRange<Int32> where fcntl(number, F_GETFD) < 0 {
        let descriptor = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if (0...2).contains(descriptor) {
            placeholders.append(descriptor)
        } else if descriptor >= 0 {
            _ = closeDescriptor(descriptor)
        }
    }
    return placeholders
}

/// Returns whether the descriptor is still a placeholder. Other code may have reused its number.
private func isDirectory(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
}

private func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }

#if os(Linux) || os(Android)
    /// Returns the address of a word that the system sets to zero in every child. Linux before 4.14
    /// leaves it unchanged.
    private func makeForkMark() -> UnsafeMutablePointer<UInt> {
        let size = sysconf(Int32(_SC_PAGESIZE))
        guard let page = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            page != MAP_FAILED
        else { return .allocate(capacity: 1) }
        // MADV_WIPEONFORK, which older headers lack.
        _ = madvise(page, size, 18)
        return page.assumingMemoryBound(to: UInt.self)
    }
#else
    /// The word is never zero, because Apple platforms have neither `_Fork` nor `clone`.
    private func makeForkMark() -> UnsafeMutablePointer<UInt> { .allocate(capacity: 1) }
#endif
