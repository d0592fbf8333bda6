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

/// State that is only accessible while its lock is held.
///
/// Uses a POSIX mutex, because `Synchronization.Mutex` needs macOS 15 and collapses on Linux when
/// threads outnumber cores. Replace this with `Mutex` when neither is true.
// Safe: the pointers never change, and the memory is only accessed while the mutex is locked. The
// state is behind a pointer, because the compiler checks each access to a variable for exclusivity,
// which takes 76 instructions of about 400 in a `get`.
@usableFromInline
package final class Locked<State: ~Copyable>: @unchecked Sendable {
    @usableFromInline
    let state: UnsafeMutablePointer<State>
    @usableFromInline
    let mutex: UnsafeMutablePointer<pthread_mutex_t>

    package init(_ state: consuming sending State) {
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

extension Locked: CustomReflectable where State: ~Copyable {
    /// Empty, so that `dump` shows no stored value.
    @usableFromInline
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// A lock that is held while code of the program runs. It detects recursion, and its waits time
/// out.
///
/// The lock is fair: `release()` hands it to the oldest waiter, and no other thread can acquire it
/// in between. If the thread that holds the lock acquires it again, it gets an error instead of a
/// deadlock.
package final class RecursionCheckingLock: Sendable {
    package enum AcquireError: Error { case heldByCaller, timedOut }

    /// A waiting thread. Each has its own condition variable, so that a signal wakes only that
    /// thread.
    private final class Waiter {
        let thread = CurrentThread.id
        let deadline: MonotonicTime
        var hasLock = false
        private let granted: UnsafeMutablePointer<pthread_cond_t>

        init(deadline: MonotonicTime) {
            self.deadline = deadline
            granted = .allocate(capacity: 1)
            initializeMonotonic(granted)
        }

        deinit {
            pthread_cond_destroy(granted)
            granted.deallocate()
        }

        func signal() { pthread_cond_signal(granted) }

        /// Waits for the signal. Returns false after the deadline.
        func wait(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) -> Bool {
            waitMonotonic(granted, mutex, until: deadline)
        }
    }

    private struct State {
        var holder: UInt?
        /// The waiting threads, oldest first. Empty if no thread holds the lock.
        var waiters: [Waiter] = []
        /// The number of calls that acquire the lock.
        var tickets: UInt64 = 0
        var holderDeadline: MonotonicTime?
        /// The time before which threads do not wait, because one has already timed out waiting for
        /// this holder.
        var futileUntil: MonotonicTime?
    }

    private let locked = Locked(State())

    package init() {}

    /// The deadline for everything else that the holder waits for; `nil` if it did not wait for
    /// this lock. Only the holder may read it.
    package var holderDeadline: MonotonicTime? { locked.state.pointee.holderDeadline }

    /// Waits at most `timeout` for the lock. After a timeout, throws immediately for a second, or
    /// until the holder releases the lock.
    ///
    /// - Returns: A number that grows with each call.
    @discardableResult
    package func acquire(timeout: Duration) throws(AcquireError) -> UInt64 {
        // Not `withLock`, because other threads change the state while this one waits.
        let (state, mutex) = (locked.state, locked.mutex)
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        state.pointee.tickets &+= 1
        let ticket = state.pointee.tickets
        let thread = CurrentThread.id
        guard let holder = state.pointee.holder else {
            state.pointee.holder = thread
            return ticket
        }
        if holder == thread { throw .heldByCaller }
        guard timeout > .zero else { throw .timedOut }
        let now = MonotonicTime.now
        if let end = state.pointee.futileUntil, now < end { throw .timedOut }
        let waiter = Waiter(deadline: now + timeout)
        state.pointee.waiters.append(waiter)
        while !waiter.hasLock {
            guard !waiter.wait(mutex), !waiter.hasLock else { continue }
            state.pointee.waiters.removeAll { $0 === waiter }
            state.pointee.futileUntil = .now + .seconds(1)
            throw .timedOut
        }
        return ticket
    }

    package var isHeldByCaller: Bool { locked.withLock { $0.holder == CurrentThread.id } }

    /// Hands the lock to the oldest waiter, or unlocks it.
    package func release() {
        locked.withLock { state in
            state.futileUntil = nil
            guard !state.waiters.isEmpty else {
                (state.holder, state.holderDeadline) = (nil, nil)
                return
            }
            let next = state.waiters.removeFirst()
            (state.holder, state.holderDeadline) = (next.thread, next.deadline)
            next.hasLock = true
            next.signal()
        }
    }
}

/// A time in nanoseconds on the monotonic clock, which cannot be set.
package struct MonotonicTime: Sendable {
    private let nanoseconds: Int64

    package static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// Adds at most 30 years.
    package static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        let (seconds, attoseconds) = min(duration, .seconds(1_000_000_000)).components
        return MonotonicTime(nanoseconds: time.nanoseconds + seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    package static func < (time: MonotonicTime, other: MonotonicTime) -> Bool { time.nanoseconds < other.nanoseconds }

    package static func - (time: MonotonicTime, other: MonotonicTime) -> MonotonicTime {
        MonotonicTime(nanoseconds: max(0, time.nanoseconds - other.nanoseconds))
    }

    var isZero: Bool { nanoseconds == 0 }

    /// The seconds of this duration.
    package var seconds: Double { Double(nanoseconds) / 1_000_000_000 }

    /// The seconds fit into an `Int` of 32 bits, because the clock starts at boot.
    var systemTime: timespec {
        timespec(tv_sec: .init(clamping: nanoseconds / 1_000_000_000), tv_nsec: .init(nanoseconds % 1_000_000_000))
    }
}

#if canImport(Darwin)
    private func initializeMonotonic(_ condition: UnsafeMutablePointer<pthread_cond_t>) {
        pthread_cond_init(condition, nil)
    }

    /// Darwin cannot choose the clock of a condition variable, but has a wait with a relative
    /// timeout.
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
