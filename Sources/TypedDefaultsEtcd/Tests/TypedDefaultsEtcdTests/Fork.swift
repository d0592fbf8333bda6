#if canImport(Glibc)
    import Glibc

    /// Calls `fork`, which Swift does not import, because a child of a process with threads may
    /// call only few functions.
    func forkProcess() -> pid_t {
        unsafeBitCast(dlsym(UnsafeMutableRawPointer(bitPattern: 0), "fork"), to: (@convention(c) () -> pid_t).self)()
    }
    /// Ends this process after a number of seconds, even if its thread blocks signals.
    func endProcess(after seconds: UInt32) {
        var all = sigset_t()
        sigfillset(&all)
        sigprocmask(SIG_UNBLOCK, &all, nil)
        alarm(seconds)
    }
    func endProcess(_ status: CInt) -> Never { _exit(status) }
    func wait(for child: pid_t) -> CInt {
        var status: CInt = 0
        waitpid(child, &status, 0)
        return status
    }
#endif
