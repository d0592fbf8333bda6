#if canImport(Darwin)
    public import Darwin
#elseif canImport(Glibc)
    public import Glibc
#elseif canImport(Musl)
    public import Musl
#elseif canImport(Android)
    public import Android
#else
    #error("SettingsFile needs POSIX threads")
#endif

/// A state that is reached only while holding its lock.
///
/// A POSIX mutex rather than `Synchronization.Mutex`, which needs macOS 15 and on Linux collapses when threads outnumber
/// cores. Replace with `Mutex` when neither is true any more.
@usableFromInline
package final class Locked<State>: ForkLock {
    // Safe: the pointers never change, and what they point to is touched only inside `withLock`, between lock and unlock.
    // Behind a pointer because the compiler would check each access to a variable for exclusivity, which the lock ensures.
    @usableFromInline
    nonisolated(unsafe) let state: UnsafeMutablePointer<State>
    @usableFromInline
    nonisolated(unsafe) let mutex: UnsafeMutablePointer<pthread_mutex_t>

    package init(_ state: sending State) {
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
    @usableFromInline
    package func lock() { pthread_mutex_lock(mutex) }
    @usableFromInline
    package func unlock() { pthread_mutex_unlock(mutex) }

    /// Runs `body` if the lock is free, and returns `nil` if not.
    ///
    /// For locks that are not registered with ``Forks``: in a child, such a lock may stay locked by a thread of the parent.
    @discardableResult
    package func withLockIfFree<Result>(_ body: (inout State) -> Result) -> Result? {
        guard pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { pthread_mutex_unlock(mutex) }
        return body(&state.pointee)
    }

    /// The state, for a caller between `lock()` and `unlock()`.
    package func withHeldLock<Result>(_ body: (inout State) -> Result) -> Result { body(&state.pointee) }

    @inlinable
    @inline(__always)
    package func withLock<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state.pointee)
    }
}

extension Locked: CustomReflectable {
    /// Empty: what is stored never shows in a `dump`.
    @usableFromInline
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// A lock that is held while code of others runs, and so tells its holder apart and waits only so long.
///
/// Threads get their turn in the order in which they asked: `release()` hands the lock to the oldest
/// waiter, and no other thread can take it in between. The thread that holds it and asks again is told
/// so instead of waiting for itself.
package final class TurnLock: ForkLock {
    package enum Refusal: Error { case heldByCaller, timedOut }

    /// A thread that waits for its turn, with a condition of its own so that only this thread wakes.
    private final class Waiter {
        let thread = pthread_self()
        var hasTurn = false
        private let granted: UnsafeMutablePointer<pthread_cond_t>

        init() {
            granted = .allocate(capacity: 1)
            initializeMonotonic(granted)
        }

        deinit {
            pthread_cond_destroy(granted)
            granted.deallocate()
        }

        func signal() { pthread_cond_signal(granted) }

        /// Waits for the signal; false once the deadline has passed.
        func wait(_ mutex: UnsafeMutablePointer<pthread_mutex_t>, until deadline: MonotonicTime) -> Bool {
            waitMonotonic(granted, mutex, until: deadline)
        }
    }

    // Safe: everything here is touched only between lock and unlock of `mutex`; the pointer itself never changes.
    private nonisolated(unsafe) let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private nonisolated(unsafe) var holder: pthread_t?
    /// The threads that wait, the oldest first. Empty unless there is a holder.
    private nonisolated(unsafe) var waiters: [Waiter] = []
    /// How often a thread has asked.
    private nonisolated(unsafe) var tickets: UInt64 = 0
    /// Whether a thread that could not wait left something to do.
    private nonisolated(unsafe) var hasRequest = false

    package init() {
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Waits at most `patience` for the caller's turn.
    ///
    /// - Returns: A number that is larger for each call that asked later.
    @discardableResult
    package func acquire(patience: Duration) throws(Refusal) -> UInt64 {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        tickets &+= 1
        let ticket = tickets
        guard let holder else {
            holder = pthread_self()
            return ticket
        }
        if pthread_equal(holder, pthread_self()) != 0 { throw .heldByCaller }
        guard patience > .zero else { throw .timedOut }
        let deadline = MonotonicTime.now + patience
        let waiter = Waiter()
        waiters.append(waiter)
        while !waiter.hasTurn {
            guard !waiter.wait(mutex, until: deadline), !waiter.hasTurn else { continue }
            waiters.removeAll { $0 === waiter }
            throw .timedOut
        }
        return ticket
    }

    /// Acquires the lock if it is free. Otherwise ``release()`` tells its holder that there is something to do.
    ///
    /// - Returns: Whether the lock was free.
    package func acquireOrRequest() -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard holder == nil else {
            hasRequest = true
            return false
        }
        tickets &+= 1
        holder = pthread_self()
        return true
    }

    /// Hands the lock to the oldest waiter, or unlocks it.
    ///
    /// - Returns: Whether the caller must do what was requested, because no other thread took the lock.
    @discardableResult
    package func release() -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard !waiters.isEmpty else {
            holder = nil
            defer { hasRequest = false }
            return hasRequest
        }
        let next = waiters.removeFirst()
        holder = next.thread
        next.hasTurn = true
        next.signal()
        return false
    }

    // For forks; everything else uses `acquire` and `release`.
    package func lock() { pthread_mutex_lock(mutex) }
    package func unlock() { pthread_mutex_unlock(mutex) }

    /// Ends the turns of threads that are not in the child. Their waiters stay allocated: the stacks of those threads refer to them.
    package func unlockInChild() {
        for waiter in waiters { _ = Unmanaged.passRetained(waiter) }
        waiters = []
        if let current = holder, pthread_equal(current, pthread_self()) == 0 { holder = nil }
        unlock()
    }
}

/// A time on a clock that nobody sets, in nanoseconds.
struct MonotonicTime {
    private let nanoseconds: Int64

    static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// At most 30 years later.
    static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        let (seconds, attoseconds) = min(duration, .seconds(1_000_000_000)).components
        return MonotonicTime(nanoseconds: time.nanoseconds + seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    static func - (time: MonotonicTime, other: MonotonicTime) -> MonotonicTime {
        MonotonicTime(nanoseconds: max(0, time.nanoseconds - other.nanoseconds))
    }

    var isZero: Bool { nanoseconds == 0 }

    /// Waits for so long, or until a signal interrupts the wait.
    func sleep() {
        var time = systemTime
        nanosleep(&time, nil)
    }

    /// Fits in an `Int` of 32 bits: the clock begins at the start of the system.
    fileprivate var systemTime: timespec {
        timespec(tv_sec: .init(clamping: nanoseconds / 1_000_000_000), tv_nsec: .init(nanoseconds % 1_000_000_000))
    }
}

#if canImport(Darwin)
    private func initializeMonotonic(_ condition: UnsafeMutablePointer<pthread_cond_t>) {
        pthread_cond_init(condition, nil)
    }

    /// Darwin has no condition with a clock of choice, but one that waits for a length of time.
    private func waitMonotonic(
        _ condition: UnsafeMutablePointer<pthread_cond_t>, _ mutex: UnsafeMutablePointer<pthread_mutex_t>,
        until deadline: MonotonicTime
    ) -> Bool {
        var rest = (deadline - .now).systemTime
        return pthread_cond_timedwait_relative_np(condition, mutex, &rest) != ETIMEDOUT
    }
#else
    private func initializeMonotonic(_ condition: UnsafeMutablePointer<pthread_cond_t>) {
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    private func waitMonotonic(
        _ condition: UnsafeMutablePointer<pthread_cond_t>, _ mutex: UnsafeMutablePointer<pthread_mutex_t>,
        until deadline: MonotonicTime
    ) -> Bool {
        var deadline = deadline.systemTime
        return pthread_cond_timedwait(condition, mutex, &deadline) != ETIMEDOUT
    }
#endif

/// The turns that a thread has, and what it does when it has given the last one away.
package final class HeldTurns {
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

    package static var hasOne: Bool { own.count > 0 }

    package static func begin() { own.count += 1 }

    package static func end() {
        let own = own
        own.count -= 1
        guard own.count == 0, !own.postponed.isEmpty else { return }
        let postponed = own.postponed
        own.postponed = []
        for work in postponed { work() }
    }

    /// Has the work done when this thread has no turn any more. It must have one now.
    package static func postpone(_ work: @escaping @Sendable () -> Void) { own.postponed.append(work) }
}
