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
    #error("TypedDefaults needs atexit")
#endif

/// Work that is done a little later in the background, once for all that asked meanwhile, and at the latest at exit.
///
/// Nothing runs and nothing wakes up while no work is waiting.
enum DeferredWork {
    private static let waiting = Forks.holding(Locked<[ObjectIdentifier: @Sendable () -> Void]>([:]))
    /// Held while work runs, so that exit waits for what is half done.
    private static let turns = Forks.holding(TurnLock())
    private static let runsAtExit: Void = { _ = atexit { DeferredWork.runAll() } }()

    /// Runs the work after the delay, unless work for that object is waiting already.
    static func schedule(for object: ObjectIdentifier, after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        _ = runsAtExit
        let isFirst = waiting.withLock { waiting in
            guard waiting[object] == nil else { return false }
            waiting[object] = work
            return true
        }
        if isFirst { start(for: object, after: delay) }
    }

    private static func start(for object: ObjectIdentifier, after delay: Duration) {
        // In seconds: nanoseconds in an `Int` of 32 bits overflow after two seconds.
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + delay / .seconds(1)) {
            BackgroundTime.ask { isGiven in
                // What waits is done when the process goes on or ends; what has begun cannot be hurried.
                guard isGiven else { return start(for: object, after: .seconds(1)) }
                run(patience: .seconds(3_600)) {
                    waiting.withLock { $0.removeValue(forKey: object).map { [$0] } ?? [] }
                }
            }
        }
    }

    private static func runAll() {
        run(patience: .seconds(10)) {
            waiting.withLock { waiting in
                defer { waiting = [:] }
                return Array(waiting.values)
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
