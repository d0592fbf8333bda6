import Dispatch

/// Tells within some milliseconds that a file, or what its name means, may have changed; until it is let go of.
///
/// Whoever makes one looks once afterwards: what changed before is not told.
final class FileWatch: Sendable {
    /// Why the system does not tell of changes, so that they are looked for ten times a second; nil if it does.
    let refusal: FileFailure?
    private let isOver = Locked(false)
    private let end: @Sendable () -> Void

    /// Begins to watch.
    ///
    /// - Parameter onChange: Called on a queue of the watch's own, with whether the name may mean another file by now.
    init(folder: String, name: String, onChange: @escaping @Sendable (_ isName: Bool) -> Void) {
        let queue = DispatchQueue(label: "TypedDefaults.FileWatch", qos: .userInitiated)
        do throws(FileFailure) {
            let events = try FileEvents(folder: folder, name: name, queue: queue) { [isOver] in
                // What has happened before.
                if !isOver.withLock({ $0 }) { onChange(FileEvents.missesNames) }
            } onEvent: { [isOver] events, isName in
                // Asked after the event was taken: a handler that was about to be called when the source was cancelled is called all
                // the same.
                guard !isOver.withLock({ $0 }) else { return }
                onChange(isName)
                // An event for each of many writes would cost the writers as much again as the writes do.
                Self.awaitNext(of: events, after: .milliseconds(2), queue, isOver, onChange)
            }
            end = { events.cancel() }
            refusal = nil
        } catch {
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: .now(), repeating: .milliseconds(100), leeway: .milliseconds(10))
            timer.setEventHandler { onChange(true) }
            timer.resume()
            // Safe: told to end, and touched no more.
            nonisolated(unsafe) let ended = timer
            end = { ended.cancel() }
            refusal = error
        }
    }

    deinit {
        isOver.withLock { $0 = true }
        end()
    }

    private static func awaitNext(
        of events: FileEvents, after pause: DispatchTimeInterval, _ queue: DispatchQueue, _ isOver: Locked<Bool>,
        _ onChange: @escaping @Sendable (Bool) -> Void
    ) {
        queue.asyncAfter(deadline: .now() + pause) {
            guard !isOver.withLock({ $0 }) else { return }
            do throws(FileFailure) {
                try events.awaitNext()
            } catch {
                // The folder is gone, or there is no room: until it works again it is looked for.
                onChange(true)
                awaitNext(of: events, after: .milliseconds(100), queue, isOver, onChange)
            }
        }
    }
}
