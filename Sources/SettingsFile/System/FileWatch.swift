import Dispatch

/// Reports within milliseconds that the contents or the name of a file may have changed.
///
/// The watch ends when it is deallocated. Changes before its creation are not reported, so check
/// the file once afterwards.
final class FileWatch: Sendable {
    enum Sign: Sendable {
        case contents
        /// The name may refer to another file now.
        case name
        /// The same, and there was no event: the system reports none.
        case poll
    }

    /// Why the system reports no changes, so that the watch polls ten times a second; `nil` if it
    /// reports them.
    let failure: FileFailure?
    private let isOver = Locked(false)
    private let end: @Sendable () -> Void

    /// Starts to watch. If the folder cannot be used, tries again after growing pauses.
    ///
    /// - Parameters:
    ///   - isRenewed: Whether to report a change at once, because another watch may have missed it.
    ///   - hasMoved: Returns whether the path leads to another file than before. Called every two
    ///     seconds, because the system does not report a mount, a folder above that was moved, or a
    ///     link that leads elsewhere.
    ///   - onChange: Called on a thread of the watch, one call at a time.
    init(
        folder: String, name: String, isRenewed: Bool = false, hasMoved: @escaping @Sendable () -> Bool,
        onChange: @escaping @Sendable (Sign) -> Void
    ) {
        let queue = DispatchQueue(label: "TypedDefaults.FileWatch", qos: .userInitiated)
        do throws(FileFailure) {
            let events = try FileEvents(folder: folder, name: name, queue: queue, hasMoved: hasMoved) { [isOver] in
                // Report what changed before events were available.
                if !isOver.withLock({ $0 }) { onChange(FileEvents.missesNames ? .name : .contents) }
            } onEvent: { [isOver] events, isName in
                // Check after the event was read: a handler that was about to run is called even
                // after its source is canceled.
                guard !isOver.withLock({ $0 }) else { return }
                onChange(isName ? .name : .contents)
                // Pause, because an event for each of many writes would double the cost of the
                // writes.
                Self.awaitNext(of: events, after: .milliseconds(2), isOver, onChange)
            }
            do throws(FileFailure) {
                try events.arm()
                if isRenewed {
                    events.run(after: .zero) { [isOver] in if !isOver.withLock({ $0 }) { onChange(.contents) } }
                }
            } catch let error where error.isMissing || error.isPermissionDenied {
                Self.awaitNext(of: events, after: .milliseconds(100), isOver, onChange)
            }
            try events.start()
            end = { events.cancel() }
            failure = nil
        } catch {
            // Not a timer of Dispatch: on Linux, it ends a process that has no descriptor left.
            // The thread of a child that was forked in a handler ends.
            let isStarted = startThread { [isOver, process = Forks.count] in
                while Forks.count == process, !isOver.withLock({ $0 }) {
                    onChange(.poll)
                    SystemClock.sleep(microseconds: 100_000)
                }
            }
            end = {}
            let next =
                isStarted ? "the file is checked ten times a second" : "no thread could be started to check the file"
            failure = FileFailure("\(error.reason); \(next)")
        }
    }

    deinit {
        isOver.withLock { $0 = true }
        end()
    }

    private static func awaitNext(
        of events: FileEvents, after pause: Duration, _ isOver: Locked<Bool>,
        _ onChange: @escaping @Sendable (Sign) -> Void
    ) {
        events.run(after: pause) {
            guard !isOver.withLock({ $0 }) else { return }
            do throws(FileFailure) {
                try events.awaitNext()
            } catch {
                // The folder is gone, or a limit of the system is reached. Poll until waiting works
                // again.
                onChange(.poll)
                let isUnusable = error.isMissing || error.isPermissionDenied
                let next = isUnusable ? min(max(pause, .milliseconds(50)) * 2, .seconds(2)) : .milliseconds(100)
                awaitNext(of: events, after: next, isOver, onChange)
            }
        }
    }
}
