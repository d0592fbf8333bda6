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

/// A lock that stays locked while the process is forked: a child inherits it as it is, but not the thread that would unlock it.
@usableFromInline
package protocol ForkLock: AnyObject, Sendable {
    func lock()
    func unlock()
    /// Unlocks in the child, where the thread that forked is the only one, after undoing what other threads had begun.
    func unlockInChild()
}

extension ForkLock {
    @usableFromInline
    package func unlockInChild() { unlock() }
}

/// When a lock is taken before a fork: before those of later cases, as everywhere else.
package enum ForkOrder: Int, CaseIterable {
    /// The table of suites, under which suites may be made.
    case suites
    /// The locks of one suite.
    case suite
    /// The locks of a backend, which a suite may ask while it holds its own.
    case backend
    /// A lock under which no other one is taken.
    case leaf
}

/// Makes the locks of this library usable in a child process, and keeps the lock of a file from living on there.
///
/// Before `fork`, the thread that forks takes every lock that is registered here, in one order. So no
/// other thread is inside one of them, and the child finds all state whole and all locks its own.
///
/// A fork waits for each system call that another thread makes under one of these locks. The flush of a
/// new file that replaces an old one is such a call, and so is a call that opens a file.
///
/// A child closes the descriptors that it inherits and opens its files again when it needs them: the
/// lock of a file belongs to an open descriptor, which parent and child share.
///
/// `_Fork` and `clone` run no handlers. On Linux a page that the system empties in every child shows
/// that there was a fork. It is looked at wherever a file is used, and the descriptors are closed then.
/// Locks that other threads of the parent held stay locked in such a child, as the C library's own do.
package enum Forks {
    private struct Registry {
        var locks: [ObjectIdentifier: (order: ForkOrder, lock: any ForkLock)] = [:]
        /// How often something was registered or released.
        var version = 0

        var inOrder: [any ForkLock] {
            ForkOrder.allCases.flatMap { order in locks.values.filter { $0.order == order }.map(\.lock) }
        }
    }

    /// Held by the one thread that forks.
    private static let turn = Locked<Void>(())
    private static let registry = Locked(Registry())
    private static let descriptors = Descriptors()
    // Safe: touched only with all locks held.
    private nonisolated(unsafe) static var held: [any ForkLock] = []
    // Safe: written only in a child, with the table of descriptors locked.
    private nonisolated(unsafe) static let counter = {
        let counter = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        counter.initialize(to: 0)
        return counter
    }()
    /// Zero in a child that does not know yet that it is one.
    // Safe: written only in a child, with the table of descriptors locked.
    private nonisolated(unsafe) static let mark: UnsafeMutablePointer<UInt> = {
        let mark = makeForkMark()
        mark.pointee = 1
        return mark
    }()
    private static let watches: Void = {
        (_, _) = (counter, mark)
        _ = pthread_atfork({ Forks.prepare() }, { Forks.end { $0.unlock() } }, { Forks.beginChild() })
    }()

    private static func prepare() {
        turn.lock()
        // Something may be registered while the locks before it are taken. Threads that do nothing else cannot keep this up.
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
        turn.unlock()
    }

    private static func beginChild() {
        descriptors.table.withHeldLock { leaveParent(&$0) }
        end { $0.unlockInChild() }
    }

    /// Closes what was inherited; with the table of descriptors locked.
    private static func leaveParent(_ table: inout Descriptors.Table) {
        for descriptor in table.open { _ = closeDescriptor(descriptor) }
        table.closePlaceholders()
        // In a child of `_Fork`, the calls that other threads of the parent had begun never end.
        table = Descriptors.Table()
        counter.pointee += 1
        mark.pointee = 1
    }

    /// Finds out whether this is a child that was made without handlers.
    @inline(__always)
    private static func notice() {
        if mark.pointee == 0 { noticeChild() }
    }

    @inline(never)
    private static func noticeChild() {
        descriptors.table.withLock { table in
            // Another thread may have been faster.
            if mark.pointee == 0 { leaveParent(&table) }
        }
    }

    /// Has a lock held while the process is forked, until it is released.
    package static func hold(_ lock: any ForkLock, _ order: ForkOrder) {
        _ = watches
        registry.withLock { registry in
            registry.locks[ObjectIdentifier(lock)] = (order, lock)
            registry.version += 1
        }
    }

    /// The same for a lock that lives as long as the process.
    package static func holding<Lock: ForkLock>(_ lock: Lock, _ order: ForkOrder = .leaf) -> Lock {
        hold(lock, order)
        return lock
    }

    package static func release(_ lock: any ForkLock) {
        // The last reference goes after the lock: what it guards may be the last one to something else that is registered.
        let released = registry.withLock { registry in
            registry.version += 1
            return registry.locks.removeValue(forKey: ObjectIdentifier(lock))
        }
        withExtendedLifetime(released) {}
    }

    /// How often this process, or one that it comes from, was forked into another one.
    package static var count: Int {
        _ = watches
        notice()
        return counter.pointee
    }

    /// Opens a descriptor, with no fork between its coming and its being noted.
    ///
    /// No lock is held during the call: on a network file system it may take long, and other files are
    /// opened meanwhile. A fork waits for its end.
    ///
    /// The descriptor is never 0, 1 or 2, not even for a moment. A process may be started with these closed,
    /// and what it prints would overwrite the file.
    static func open(_ body: () -> Int32) -> (descriptor: Int32, process: Int, code: Int32) {
        _ = watches
        notice()
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

    /// Closes a descriptor unless a fork has done that; then its number may be somebody else's by now.
    static func close(_ descriptor: Int32, of process: Int) {
        notice()
        descriptors.table.withLock { table in
            guard counter.pointee == process, table.open.remove(descriptor) != nil else { return }
            _ = closeDescriptor(descriptor)
        }
    }

    /// The descriptors that this library has open. While it is locked, no descriptor is being opened.
    private final class Descriptors: ForkLock {
        struct Table {
            var open: Set<Int32> = []
            /// How many calls that open a descriptor are under way.
            var callCount = 0
            /// What keeps the numbers 0, 1 and 2 taken until the last of these calls has ended.
            var placeholders: Set<Int32> = []

            mutating func closePlaceholders() {
                for descriptor in placeholders where isDirectory(descriptor) { _ = closeDescriptor(descriptor) }
                placeholders = []
            }
        }
        let table = Locked(Table())
        /// Taken before each such call begins, and held by a fork, so that the fork waits only for calls that have begun.
        private let gate = Locked<Void>(())

        func beginOpening() {
            gate.withLock { _ in
                table.withLock { table in
                    table.callCount += 1
                    table.placeholders.formUnion(fillClosedStandardDescriptors())
                }
            }
        }

        /// - Returns: What `process` returns while the descriptor is noted.
        func endOpening(_ descriptor: Int32, in process: () -> Int) -> Int {
            table.withLock { table in
                table.callCount -= 1
                if table.callCount == 0 { table.closePlaceholders() }
                if descriptor >= 0 { table.open.insert(descriptor) }
                return process()
            }
        }

        func lock() {
            // A child of `_Fork` that forks would wait for threads of its parent.
            Forks.notice()
            gate.lock()
            table.lock()
            // The backends, which open nearly all descriptors, are locked already. So this hardly ever waits.
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

/// Opens the root folder under those of the descriptors 0, 1 and 2 that are closed: nothing can be written to it.
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

/// Whether the descriptor is still a placeholder: other code may have opened another file under its number.
private func isDirectory(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
}

private func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }

#if os(Linux) || os(Android)
    /// A word that the system sets to zero in every child that gets a copy of this memory. Before Linux 4.14 it stays as it is.
    private func makeForkMark() -> UnsafeMutablePointer<UInt> {
        let size = sysconf(Int32(_SC_PAGESIZE))
        guard let page = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            page != MAP_FAILED
        else { return .allocate(capacity: 1) }
        // MADV_WIPEONFORK, which older headers leave out.
        _ = madvise(page, size, 18)
        return page.assumingMemoryBound(to: UInt.self)
    }
#else
    /// Never zero: Apple's systems have neither `_Fork` nor `clone`.
    private func makeForkMark() -> UnsafeMutablePointer<UInt> { .allocate(capacity: 1) }
#endif
