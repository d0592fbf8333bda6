#if os(macOS) || os(Linux)
    import Foundation

    /// Calls `fork`, which Swift does not import: a child of a process with threads may call few
    /// functions.
    package func forkProcess() -> Int32 { systemFork() }

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
