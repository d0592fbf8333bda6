#if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    // Not run on Apple platforms.
    /// Time in which the system does not suspend the process: it ends one that is suspended while it holds the lock of a shared file.
    enum BackgroundTime {
        /// Calls `body` in the background with whether there is such time, and again, with false, if it ends while `body` runs.
        static func ask(_ body: @escaping @Sendable (_ isGiven: Bool) -> Void) {
            ProcessInfo.processInfo.performExpiringActivity(withReason: "TypedDefaults flushes settings") { body(!$0) }
        }
    }
#else
    /// Elsewhere the system suspends no process on its own.
    enum BackgroundTime {
        static func ask(_ body: (_ isGiven: Bool) -> Void) { body(true) }
    }
#endif
