#if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif
    import Dispatch

    // Not tested on Apple platforms.
    /// Time during which the system does not suspend the process. A process that is suspended while
    /// it holds the lock of a shared file is killed.
    enum BackgroundTime {
        /// Calls `body` in the background, and passes whether the time was granted. Calls it again
        /// with false if the time expires while `body` runs.
        static func ask(_ body: @escaping @Sendable (_ isGiven: Bool) -> Void) {
            ProcessInfo.processInfo.performExpiringActivity(withReason: "TypedDefaults flushes settings") { body(!$0) }
        }

        /// Asks for time for work that the caller does itself, until it calls the returned closure.
        /// Does not wait for the answer, because the caller holds locks.
        static func begin() -> () -> Void {
            let end = DispatchSemaphore(value: 0)
            ask { isGiven in if isGiven { end.wait() } }
            return { end.signal() }
        }
    }
#else
    /// Other systems do not suspend processes on their own.
    enum BackgroundTime {
        static func ask(_ body: (_ isGiven: Bool) -> Void) { body(true) }
        static func begin() -> () -> Void { {} }
    }
#endif
