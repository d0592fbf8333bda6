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
final class Locked<State>: ForkLock {
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

    // For forks; everything else uses `withLock`.
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

/// The turns that a thread has, and what it does when it has given the last one away.
final class HeldTurns {
    private var count = 0
    private var postponed: [@Sendable () -> Void] = []

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key) { held in
            // Optional on some systems only.
            let held: UnsafeMutableRawPointer? = held
            if let held { Unmanaged<HeldTurns>.fromOpaque(held).release() }
        }
        return key
    }()

    /// Those of this thread. Kept with the thread, where no other one has to be kept out.
    private static var own: HeldTurns {
        if let held = pthread_getspecific(key) { return Unmanaged.fromOpaque(held).takeUnretainedValue() }
        let own = HeldTurns()
        pthread_setspecific(key, Unmanaged.passRetained(own).toOpaque())
        return own
    }

    static var hasOne: Bool { own.count > 0 }

    static func begin() { own.count += 1 }

    static func end() {
        let own = own
        own.count -= 1
        guard own.count == 0, !own.postponed.isEmpty else { return }
        let postponed = own.postponed
        own.postponed = []
        for work in postponed { work() }
    }

    /// Has the work done when this thread has no turn any more. It must have one now.
    static func postpone(_ work: @escaping @Sendable () -> Void) { own.postponed.append(work) }
}
