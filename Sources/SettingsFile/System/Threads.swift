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
