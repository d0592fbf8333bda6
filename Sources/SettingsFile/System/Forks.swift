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

/// Counts forks, and closes the descriptors of this library in a child.
///
/// A file lock belongs to the open file description, which parent and child share. A child that
/// kept a descriptor would also keep the lock of a parent that was killed. A child does nothing
/// else to the files of its parent: it never unlocks, flushes, repairs or removes what its parent
/// had open. What holds a descriptor compares the process that opened it with ``count``, and opens
/// its own when it is used.
///
/// A lock of the process that another thread holds during the fork stays locked in the child. A
/// descriptor that another thread is opening or closing at that moment can stay open there.
package enum Forks {
    /// The number of forks between the first process of the program and this one.
    // Safe: written only in a child that has no second thread yet.
    @exclusivity(unchecked)
    package private(set) nonisolated(unsafe) static var count = 0

    // Not a set, because a child reads it while it may hold half a change of another thread.
    // Safe: written only while `highest` is locked, and in a child that has no second thread yet.
    /// Has each open descriptor of this library at its own index, and zeros elsewhere.
    private nonisolated(unsafe) static let descriptors = ZeroedTable(count: 1 << 20)
    /// The highest descriptor so far.
    private static let highest = Locked(0)

    /// Starts to count forks.
    static let counting: Void = {
        (_, _) = (descriptors.count, highest)
        _ = pthread_atfork(nil, nil) {
            Forks.count += 1
            var index = Forks.highest.state.pointee
            while index > 0 {
                let descriptor = Forks.descriptors[index]
                if descriptor != 0 { _ = closeDescriptor(Int32(descriptor)) }
                Forks.descriptors[index] = 0
                index -= 1
            }
        }
    }()

    /// Opens a descriptor.
    ///
    /// The descriptor is never 0, 1 or 2, not even for a moment: a process may be started with
    /// these closed, and its output would overwrite the file.
    static func open(_ body: () -> Int32) -> (descriptor: Int32, code: Int32) {
        _ = counting
        occupyStandardDescriptors()
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
            if descriptor >= descriptors.count {
                (_, descriptor, code) = (closeDescriptor(descriptor), -1, EMFILE)
            }
            if descriptor >= 0 {
                highest.withLock { highest in
                    highest = max(highest, Int(descriptor))
                    descriptors[Int(descriptor)] = UInt64(descriptor)
                }
            }
            return (descriptor, code)
        }
    }

    /// Closes a descriptor, unless a fork has closed it. In that case its number may belong to
    /// another file by now.
    static func close(_ descriptor: Int32, of process: Int) {
        guard process == count else { return }
        highest.withLock { _ in descriptors[Int(descriptor)] = 0 }
        _ = closeDescriptor(descriptor)
    }
}

/// Opens the root folder under the numbers 0, 1 and 2 if they are closed. Nothing can be written to
/// it. They stay open, because another thread may be opening a file.
private func occupyStandardDescriptors() {
    for number in 0...2 as ClosedRange<Int32> where fcntl(number, F_GETFD) < 0 {
        #if os(Linux) || os(Android)
            let access: Int32 = 0o10_000_000  // O_PATH, for a process that cannot read the folder
        #else
            let access = O_RDONLY
        #endif
        let descriptor = open("/", access | O_DIRECTORY | O_CLOEXEC)
        if descriptor > 2 { _ = closeDescriptor(descriptor) }
    }
}

private func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }
