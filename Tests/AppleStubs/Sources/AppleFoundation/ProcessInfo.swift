extension ProcessInfo {
    // https://developer.apple.com/documentation/foundation/processinfo/isiosapponmac
    public var isiOSAppOnMac: Bool { false }

    private struct Activities {
        var isRefused = false
        var (refusals, starts) = (0, 0)
        var running: [UUID: @Sendable (Bool) -> Void] = [:]
    }
    // Safe: accessed only while the lock is held.
    private nonisolated(unsafe) static var activities = Activities()
    private static let lock = NSLock()

    /// Calls `block` on a concurrent queue, with true if the system grants no time, and again with
    /// true if the time expires while it runs:
    /// https://developer.apple.com/documentation/foundation/processinfo/performexpiringactivity(withreason:using:)
    public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {
        precondition(!reason.isEmpty, "the reason must not be empty")
        DispatchQueue.global().async {
            let id = UUID()
            let isRefused = Self.lock.withLock {
                if Self.activities.isRefused {
                    Self.activities.refusals += 1
                } else {
                    Self.activities.running[id] = block
                    Self.activities.starts += 1
                }
                return Self.activities.isRefused
            }
            block(isRefused)
            Self.lock.withLock { Self.activities.running[id] = nil }
        }
    }

    /// Sets whether the system grants no time, as to a background process that has used its share.
    public static func refuseActivities(_ isRefused: Bool) { lock.withLock { activities.isRefused = isRefused } }
    public static var refusedActivities: Int { lock.withLock { activities.refusals } }
    public static var startedActivities: Int { lock.withLock { activities.starts } }
    public static var runningActivities: Int { lock.withLock { activities.running.count } }

    /// Announces that the process will be suspended. Returns when all activities have been called,
    /// and exits the process if one does not return.
    public static func expireActivities() {
        let done = DispatchSemaphore(value: 0)
        let running = lock.withLock { Array(activities.running.values) }
        Thread.detachNewThread {
            for block in running { block(true) }
            done.signal()
        }
        precondition(done.wait(timeout: .now() + 10) == .success, "an activity goes on although its time is over")
    }
}
