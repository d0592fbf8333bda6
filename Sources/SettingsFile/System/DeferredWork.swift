import Dispatch

/// Runs work in the background after a delay, or at exit. If several pieces of work are scheduled
/// for one object, only the one that is due first runs.
///
/// No thread or timer runs while no work is pending.
package enum DeferredWork {
    /// The pending work of one process. A child drops the work that its parent has scheduled,
    /// because the parent runs it.
    private struct Waiting {
        var work: [ObjectIdentifier: Work] = [:]
        /// Whether a thread waits for the work that is due next. Not used where Dispatch does that.
        var hasThread = false
        /// Signaled when work is added.
        let changed = DispatchSemaphore(value: 0)
        /// Held while work runs, so that exit waits for work in progress.
        let runLock = RecursionCheckingLock()
    }

    private struct Work {
        var due: MonotonicTime
        let run: @Sendable () -> Void
    }

    private static let waiting = Locked(Waiting())
    /// The process that scheduled the pending work, as counted by ``Forks/count``.
    // Safe: written only while `waiting` is locked, and only by the first such call in a child. The
    // exit of a child that has scheduled nothing must not wait for a lock, which a thread of the
    // parent may hold.
    private nonisolated(unsafe) static var process = 0
    private static let runsAtExit: Void = Forks.runAtExit { DeferredWork.runAll() }

    /// Runs `work` after the delay, unless other work for the object is due earlier.
    ///
    /// - Returns: `false` if the system refuses a thread, so that the work runs only at exit, or
    ///   after another call for the object.
    package static func schedule(
        for object: ObjectIdentifier, after delay: Duration, _ work: @escaping @Sendable () -> Void
    ) -> Bool {
        _ = runsAtExit
        let new = Work(due: .now + delay, run: work)
        let (isFirst, dropped) = waiting.withLock { waiting in
            var dropped: [ObjectIdentifier: Work] = [:]
            if process != Forks.count { (dropped, waiting, process) = (waiting.work, Waiting(), Forks.count) }
            if let known = waiting.work[object], !(new.due < known.due) { return (false, dropped) }
            if let known = waiting.work.updateValue(new, forKey: object) { dropped[object] = known }
            return (true, dropped)
        }
        // Release this after unlocking, because it may hold the last reference to a suite.
        withExtendedLifetime(dropped) {}
        return !isFirst || start(for: object, after: delay)
    }

    private static func start(for object: ObjectIdentifier, after delay: Duration) -> Bool {
        #if canImport(Darwin) || canImport(AppleFoundation)
            // Dispatch does not run in a child of a process that has used it.
            if Forks.count == 0 {
                // Use seconds, because nanoseconds overflow an `Int` of 32 bits after two seconds.
                let time = DispatchTime.now() + delay / .seconds(1)
                DispatchQueue.global(qos: .utility).asyncAfter(deadline: time) {
                    BackgroundTime.ask { isGiven in
                        // If no time is granted, run the work when the process continues or exits.
                        // Work that has started cannot be hurried.
                        if isGiven {
                            runTaken { $0.removeValue(forKey: object).map { [$0] } ?? [] }
                        } else {
                            _ = start(for: object, after: .seconds(1))
                        }
                    }
                }
                return true
            }
        #endif
        // Not Dispatch: on Linux, it ends a process that has no descriptor left for its timer. This
        // needs no background time, because systems that suspend processes do not allow forks.
        // Started under the lock, so that no other call relies on a thread that is then refused.
        return waiting.withLock { waiting in
            waiting.changed.signal()
            waiting.hasThread = waiting.hasThread || startThread(runWhenDue)
            // The next call for the object is due earlier, so it tries again.
            if !waiting.hasThread { waiting.work[object]?.due = .now + .seconds(1_000_000_000) }
            return waiting.hasThread
        }
    }

    /// Runs work when it is due, until none is pending.
    @Sendable private static func runWhenDue() {
        while true {
            let (rest, changed) = waiting.withLock { waiting in
                let due = waiting.work.values.map(\.due).min(by: <)
                waiting.hasThread = due != nil
                return (due.map { $0 - .now }, waiting.changed)
            }
            guard let rest else { return }
            if rest.isZero {
                runTaken { work in
                    let due = work.filter { !(.now < $0.value.due) }
                    for object in due.keys { work[object] = nil }
                    return Array(due.values)
                }
            } else {
                _ = changed.wait(timeout: .now() + rest.seconds)
            }
        }
    }

    private static func runAll() {
        guard process == Forks.count else { return }
        runTaken(timeout: .seconds(10)) { work in
            defer { work = [:] }
            return Array(work.values)
        }
    }

    /// Runs the work that `take` removes from the pending work, and begins none after the timeout.
    private static func runTaken(
        timeout: Duration = .seconds(3_600), _ take: (inout [ObjectIdentifier: Work]) -> [Work]
    ) {
        let deadline = MonotonicTime.now + timeout
        func runTaken() {
            for work in waiting.withLock({ take(&$0.work) }) where .now < deadline { work.run() }
        }
        let runLock = waiting.withLock { $0.runLock }
        do throws(RecursionCheckingLock.AcquireError) {
            try runLock.acquire(timeout: timeout)
        } catch {
            // Work that called `exit` holds the lock itself. If other work hangs, waiting longer
            // would not help.
            if case .heldByCaller = error { runTaken() }
            return
        }
        defer { runLock.release() }
        runTaken()
    }
}
