#if os(macOS) || os(Linux)
    import Foundation

    /// Calls `fork`, which Swift does not import, because a child of a process with threads may
    /// call only a few functions.
    ///
    /// A lock of the Swift runtime that another thread holds at that moment stays locked in the
    /// child. A thread acquires such locks when it uses a type for the first time, so wait a moment
    /// for threads that have just started. If the child hangs anyway, a signal ends it after a
    /// minute.
    package func forkProcess() -> Int32 {
        usleep(20_000)
        let child = systemFork()
        if child == 0 { exitOnAlarm() }
        return child
    }

    /// Kills the process after a minute. Processes of tests block the signal by default.
    private func exitOnAlarm() {
        var alarms = sigset_t()
        sigemptyset(&alarms)
        sigaddset(&alarms, SIGALRM)
        sigprocmask(SIG_UNBLOCK, &alarms, nil)
        signal(SIGALRM, SIG_DFL)
        alarm(60)
    }

    private let systemFork: @convention(c) () -> pid_t = {
        #if os(Linux)
            let everyLibrary: UnsafeMutableRawPointer? = nil
        #else
            // `RTLD_DEFAULT`, which Swift does not import.
            let everyLibrary = UnsafeMutableRawPointer(bitPattern: -2)
        #endif
        return unsafeBitCast(dlsym(everyLibrary, "fork"), to: (@convention(c) () -> pid_t).self)
    }()
#endif
