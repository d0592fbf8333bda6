import Dispatch

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    #error("SettingsFile needs atexit")
#endif

/// Work that is done a little later in the background, once for all that asked meanwhile, and at the latest at exit.
///
/// Nothing runs and nothing wakes up while no work is waiting.
package enum DeferredWork {
    /// The waiting work of one process. A child drops what its parent has scheduled: the parent does it.
    private struct Waiting {
        var process = 0
        var work: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }

    private static let waiting = Forks.holding(Locked(Waiting()))
    /// Held while work runs, so that exit waits for what is half done.
    private static let turns = Forks.holding(TurnLock())
    private static let runsAtExit: Void = { _ = atexit { DeferredWork.runAll() } }()

    /// Runs the work after the delay, unless work for that object is waiting already.
    package static func schedule(
        for object: ObjectIdentifier, after delay: Duration, _ work: @escaping @Sendable () -> Void
    ) {
        _ = runsAtExit
        let process = Forks.count
        let (isFirst, inherited) = waiting.withLock { waiting in
            var inherited: [ObjectIdentifier: @Sendable () -> Void] = [:]
            if waiting.process != process { (inherited, waiting) = (waiting.work, Waiting(process: process)) }
            guard waiting.work[object] == nil else { return (false, inherited) }
            waiting.work[object] = work
            return (true, inherited)
        }
        // Released after unlocking: it may hold the last reference to a suite.
        withExtendedLifetime(inherited) {}
        if isFirst { start(for: object, after: delay) }
    }

    private static func start(for object: ObjectIdentifier, after delay: Duration) {
        // In seconds: nanoseconds in an `Int` of 32 bits overflow after two seconds.
        let seconds = delay / .seconds(1)
        let runWaiting: @Sendable () -> Void = {
            run(patience: .seconds(3_600)) {
                take { $0.removeValue(forKey: object).map { [$0] } ?? [] }
            }
        }
        guard Forks.count == 0 else {
            // Dispatch does not run in a child of a process that has used it, so a child starts a thread.
            // No background time is asked for, because systems that suspend processes let none fork. If
            // the system refuses a thread, the work is done at exit.
            return startThread {
                SystemClock.sleep(seconds: seconds)
                runWaiting()
            }
        }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + seconds) {
            BackgroundTime.ask { isGiven in
                // What waits is done when the process goes on or ends; what has begun cannot be hurried.
                guard isGiven else { return start(for: object, after: .seconds(1)) }
                runWaiting()
            }
        }
    }

    /// Takes work out of what this process has scheduled.
    private static func take(
        _ body: (inout [ObjectIdentifier: @Sendable () -> Void]) -> [@Sendable () -> Void]
    ) -> [@Sendable () -> Void] {
        let process = Forks.count
        return waiting.withLock { $0.process == process ? body(&$0.work) : [] }
    }

    private static func runAll() {
        run(patience: .seconds(10)) {
            take { work in
                defer { work = [:] }
                return Array(work.values)
            }
        }
    }

    private static func run(patience: Duration, _ take: () -> [@Sendable () -> Void]) {
        do throws(TurnLock.Refusal) {
            try turns.acquire(patience: patience)
        } catch {
            // Work that itself ended the program has the turn already. If it hangs, waiting longer would not help.
            if case .heldByCaller = error { for work in take() { work() } }
            return
        }
        defer { turns.release() }
        for work in take() { work() }
    }
}

#if canImport(Glibc) || canImport(Android)
    private typealias ThreadHandle = pthread_t
#else
    private typealias ThreadHandle = pthread_t?
#endif

/// Runs `body` on a new detached thread, which takes no signals of the program.
private func startThread(_ body: @escaping @Sendable () -> Void) {
    let box = Unmanaged.passRetained(ThreadBody(run: body))
    let isStarted = withUnsafeTemporaryAllocation(of: ThreadHandle.self, capacity: 1) { thread in
        let code = pthread_create(
            thread.baseAddress!, nil,
            { argument in
                pthread_detach(pthread_self())
                var signals = sigset_t()
                sigfillset(&signals)
                pthread_sigmask(SIG_BLOCK, &signals, nil)
                // Optional on some systems only.
                let body: UnsafeMutableRawPointer? = argument
                if let body { Unmanaged<ThreadBody>.fromOpaque(body).takeRetainedValue().run() }
                return argument
            }, box.toOpaque())
        return code == 0
    }
    if !isStarted { box.release() }
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void
    init(run: @escaping @Sendable () -> Void) { self.run = run }
}
