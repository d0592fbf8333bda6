import SettingsFile
public import TypedDefaults

extension DefaultsSuite {
    /// Waits until the handlers of all changes so far have returned.
    ///
    /// A handler of a change by another thread or process runs on a thread of the library, a moment
    /// after the change. Do not call this in a handler, which would wait for itself.
    ///
    /// - Parameter timeout: How long to wait.
    /// - Returns: False after the timeout.
    @discardableResult
    public func waitForHandlers(timeout: Duration = .seconds(10)) -> Bool {
        let deadline = MonotonicTime.now + timeout
        while hasWaitingChanges {
            guard .now < deadline else { return false }
            SystemClock.sleep(microseconds: 100)
        }
        return true
    }
}
