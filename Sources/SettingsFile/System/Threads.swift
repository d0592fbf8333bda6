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

#if canImport(Glibc) || canImport(Android)
    private typealias ThreadHandle = pthread_t
#else
    private typealias ThreadHandle = pthread_t?
#endif

/// Runs `body` on a new detached thread, which blocks all signals. Returns false if the system
/// refuses a thread.
package func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    let box = Unmanaged.passRetained(ThreadBody(run: body))
    let isStarted = withUnsafeTemporaryAllocation(of: ThreadHandle.self, capacity: 1) { thread in
        let code = pthread_create(
            thread.baseAddress!, nil,
            { argument in
                pthread_detach(pthread_self())
                var signals = sigset_t()
                sigfillset(&signals)
                pthread_sigmask(SIG_BLOCK, &signals, nil)
                // The argument is optional on some systems only.
                let body: UnsafeMutableRawPointer? = argument
                if let body { Unmanaged<ThreadBody>.fromOpaque(body).takeRetainedValue().run() }
                return argument
            }, box.toOpaque())
        return code == 0
    }
    if !isStarted { box.release() }
    return isStarted
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void
    init(run: @escaping @Sendable () -> Void) { self.run = run }
}

/// Counts forks.
///
/// A file lock belongs to the open file description, which parent and child share. A child does
/// nothing to the files of its parent: it never unlocks, flushes, repairs or removes a file that
/// its parent had open. The owner of a descriptor compares the process that opened it with
/// ``count``, and opens a new descriptor at the next use.
///
/// A lock of the process that another thread holds during the fork stays locked in the child.
package enum Forks {
    /// The number of forks between the first process of the program and this one.
    // Safe: written only in a child that has no second thread yet. A check for exclusive access
    // takes 76 instructions at each use: one in a `get` on a file, more in each write. Not an
    // atomic, which needs macOS 15.
    @exclusivity(unchecked)
    package private(set) nonisolated(unsafe) static var count = 0

    /// Starts to count forks.
    static let counting: Void = { _ = pthread_atfork(nil, nil) { Forks.count += 1 } }()

    /// Runs `body` at the exit of this process and of its children.
    static func runAtExit(_ body: @convention(c) () -> Void) {
        _ = counting
        _ = atexit(body)
    }
}

/// A thread-local number, initially 0.
package struct ThreadNumber: Sendable {
    private let key: pthread_key_t

    /// Creates a thread-local number. Use this for static properties only, because the key is never
    /// deleted.
    package init() {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        self.key = key
    }

    package var value: Int {
        get { Int(bitPattern: pthread_getspecific(key)) }
        nonmutating set { pthread_setspecific(key, UnsafeRawPointer(bitPattern: newValue)) }
    }
}
