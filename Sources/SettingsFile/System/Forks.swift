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
/// else to the files of its parent: it never unlocks, flushes, repairs or removes a file that its
/// parent had open. The owner of a descriptor compares the process that opened it with ``count``,
/// and opens a new descriptor at the next use.
///
/// A lock of the process that another thread holds during the fork stays locked in the child. A
/// descriptor that another thread is opening or closing at that moment can stay open there.
package enum Forks {
    /// The number of forks between the first process of the program and this one.
    // Safe: written only in a child that has no second thread yet. A check for exclusive access
    // takes 76 instructions at each use: one in a `get` on a file, more in each write. Not an
    // atomic, which needs macOS 15.
    @exclusivity(unchecked)
    package private(set) nonisolated(unsafe) static var count = 0

    /// The open descriptors of this library.
    private struct Descriptors: ~Copyable {
        // Not a set, because a child reads it while another thread's change to it may be half done.
        /// At the index of each descriptor, a number for its file; zeros elsewhere.
        let files = ZeroedTable(count: 1 << 20)
        /// The highest descriptor so far.
        var highest = 0
    }

    private static let descriptors = Locked(Descriptors())

    /// Starts to count forks.
    static let counting: Void = {
        _ = descriptors
        _ = pthread_atfork(nil, nil) {
            Forks.count += 1
            // Without the lock, which a thread of the parent may hold.
            let state = Forks.descriptors.state
            var index = state.pointee.highest
            while index > 0 {
                let (descriptor, file) = (Int32(truncatingIfNeeded: index), state.pointee.files[index])
                index -= 1
                guard file != 0 else { continue }
                // The program may have closed the descriptor and opened another file.
                if file == number(ofFile: descriptor) { _ = closeDescriptor(descriptor) }
                state.pointee.files[index + 1] = 0
            }
        }
    }()

    /// Runs `body` at the exit of this process and of its children.
    static func runAtExit(_ body: @convention(c) () -> Void) {
        _ = counting
        _ = atexit(body)
    }

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
            guard descriptor >= 0 else { return (descriptor, code) }
            let file = number(ofFile: descriptor)
            let isNoted = descriptors.withLock { descriptors in
                guard descriptor < descriptors.files.count else { return false }
                descriptors.highest = max(descriptors.highest, Int(clamping: descriptor))
                descriptors.files[Int(clamping: descriptor)] = file
                return true
            }
            if isNoted { return (descriptor, code) }
            _ = closeDescriptor(descriptor)
            return (-1, EMFILE)
        }
    }

    /// Closes a descriptor, unless a fork has closed it. In that case its number may belong to
    /// another file by now.
    static func close(_ descriptor: Int32, of process: Int) {
        guard process == count else { return }
        descriptors.withLock { $0.files[Int(clamping: descriptor)] = 0 }
        _ = closeDescriptor(descriptor)
    }
}

/// Returns a number for the file of a descriptor. It is never 0, and hardly any other file has the
/// same one. Descriptors without a file, such as those of `inotify` and `epoll`, all have the same.
private func number(ofFile descriptor: Int32) -> UInt64 {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return 1 << 63 }
    return UInt64(truncatingIfNeeded: status.st_ino) ^ UInt64(truncatingIfNeeded: status.st_dev) << 40 | 1 << 63
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
