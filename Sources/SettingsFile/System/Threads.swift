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
    // Not inlined, because other modules would check each use for exclusive access, which takes 76
    // instructions.
    package static var count: Int {
        @inline(never) get { number }
    }

    // Safe: written only in a child that has no second thread yet. Not an atomic, which needs macOS
    // 15.
    @exclusivity(unchecked)
    nonisolated(unsafe) static var number = 0

    /// Starts to count forks.
    static let counting: Void = { _ = pthread_atfork(nil, nil) { Forks.number += 1 } }()

    /// Runs `body` at the exit of this process and of its children.
    static func runAtExit(_ body: @convention(c) () -> Void) {
        _ = counting
        _ = atexit(body)
    }
}

/// What the library keeps for each thread. Thread-local, so that no call has to pass it on, and no
/// lock is needed.
package enum CurrentThread {
    private struct State {
        /// The number of locks that the thread holds while code of the program runs.
        var locks = 0
        /// The work to do after it releases the last one.
        var pending: [@Sendable () -> Void] = []
        /// The number of handlers that led to the change that the thread is making.
        var depth = 0
        /// Whether it is calling a failure handler.
        var isReporting = false
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key) { state in
            // The argument is optional on some systems only.
            let state: UnsafeMutableRawPointer? = state
            guard let state = state?.assumingMemoryBound(to: State.self) else { return }
            state.deinitialize(count: 1)
            state.deallocate()
        }
        return key
    }()

    private static var state: UnsafeMutablePointer<State> {
        if let state = pthread_getspecific(key) { return state.assumingMemoryBound(to: State.self) }
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        state.initialize(to: State())
        pthread_setspecific(key, state)
        return state
    }

    /// Identifies the thread. Unlike the value of `pthread_self`, the identity of a parent's thread
    /// is never reused for another thread in a forked child.
    package static var id: UInt { UInt(bitPattern: state) }

    package static var depth: Int {
        get { state.pointee.depth }
        set { state.pointee.depth = newValue }
    }

    package static var isReporting: Bool {
        get { state.pointee.isReporting }
        set { state.pointee.isReporting = newValue }
    }

    package static var holdsLock: Bool { state.pointee.locks > 0 }

    /// Returns whether the thread holds another lock as well.
    @discardableResult
    package static func didLock() -> Bool {
        state.pointee.locks += 1
        return state.pointee.locks > 1
    }

    package static func didUnlock() {
        let state = state
        state.pointee.locks -= 1
        guard state.pointee.locks == 0, !state.pointee.pending.isEmpty else { return }
        var pending = [@Sendable () -> Void](exchange(&state.pointee.pending, with: []).reversed())
        while let work = pending.popLast() { work() }
    }

    /// Runs `work` after the thread has released its last lock. It must hold one.
    package static func afterUnlock(_ work: @escaping @Sendable () -> Void) { state.pointee.pending.append(work) }
}
