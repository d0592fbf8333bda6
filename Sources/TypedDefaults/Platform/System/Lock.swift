#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    #error("TypedDefaults needs POSIX threads")
#endif

/// A state that is reached only while holding its lock.
///
/// A POSIX mutex rather than `Synchronization.Mutex`, which needs macOS 15 and on Linux collapses when threads outnumber
/// cores. Replace with `Mutex` when neither is true any more.
final class Locked<State>: Sendable {
    // Safe: the pointers never change, and what they point to is touched only inside `withLock`, between lock and unlock.
    // Behind a pointer because the compiler would check each access to a variable for exclusivity, which the lock ensures.
    private nonisolated(unsafe) let state: UnsafeMutablePointer<State>
    private nonisolated(unsafe) let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init(_ state: sending State) {
        self.state = .allocate(capacity: 1)
        self.state.initialize(to: state)
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// For what must stay locked across a fork; everything else uses ``withLock(_:)``.
    func lock() { pthread_mutex_lock(mutex) }
    func unlock() { pthread_mutex_unlock(mutex) }

    @inline(__always)
    func withLock<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state.pointee)
    }
}

extension Locked: CustomReflectable {
    /// Empty: what is stored never shows in a `dump`.
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// A lock that is held while code of others runs, and so tells its holder apart and waits only so long.
///
/// The thread that holds it and asks again is told so instead of waiting for itself.
final class TurnLock: Sendable {
    enum Refusal: Error { case heldByCaller, timedOut }

    // Safe: everything here is touched only between lock and unlock of `mutex`; the pointers themselves never change.
    private nonisolated(unsafe) let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private nonisolated(unsafe) let released: UnsafeMutablePointer<pthread_cond_t>
    private nonisolated(unsafe) var holder: pthread_t?

    init() {
        mutex = .allocate(capacity: 1)
        released = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(released, nil)
    }

    deinit {
        pthread_cond_destroy(released)
        pthread_mutex_destroy(mutex)
        released.deallocate()
        mutex.deallocate()
    }

    /// Waits at most `patience` for the caller's turn.
    func acquire(patience: Duration) throws(Refusal) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        if let holder, pthread_equal(holder, pthread_self()) != 0 { throw .heldByCaller }
        if holder != nil {
            var deadline = timespec()
            clock_gettime(CLOCK_REALTIME, &deadline)
            let (seconds, attoseconds) = patience.components
            let nanoseconds = deadline.tv_nsec + Int(attoseconds / 1_000_000_000)
            deadline.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
            deadline.tv_nsec = nanoseconds % 1_000_000_000
            while holder != nil {
                if pthread_cond_timedwait(released, mutex, &deadline) == ETIMEDOUT, holder != nil { throw .timedOut }
            }
        }
        holder = pthread_self()
    }

    var isHeld: Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return holder != nil
    }

    /// Ends the caller's turn.
    func release() {
        pthread_mutex_lock(mutex)
        holder = nil
        pthread_cond_signal(released)
        pthread_mutex_unlock(mutex)
    }
}

/// The turns that threads have, and what they do when they have given the last one away.
enum HeldTurns {
    private struct Held {
        var count = 0
        var postponed: [@Sendable () -> Void] = []
    }
    private static let held = Locked<[pthread_t: Held]>([:])

    static func begin() { held.withLock { $0[pthread_self(), default: Held()].count += 1 } }

    static func end() {
        let postponed = held.withLock { held -> [@Sendable () -> Void] in
            guard var own = held[pthread_self()] else { return [] }
            own.count -= 1
            held[pthread_self()] = own.count == 0 ? nil : own
            return own.count == 0 ? own.postponed : []
        }
        for work in postponed { work() }
    }

    /// Has the work done when this thread has no turn any more; false if it has none now.
    static func postpone(_ work: @escaping @Sendable () -> Void) -> Bool {
        held.withLock { held in
            guard held[pthread_self()] != nil else { return false }
            held[pthread_self()]?.postponed.append(work)
            return true
        }
    }
}
