import Dispatch

/// Tells within some milliseconds that a file, or what its name means, may have changed; until it is let go of.
///
/// Whoever makes one looks once afterwards: what changed before is not told.
final class FileWatch: Sendable {
    /// Why the system does not tell of changes, so that they are looked for ten times a second; nil if it does.
    let refusal: FileFailure?
    // Safe: told to begin when it is made and to end when this object goes, and touched no more.
    private nonisolated(unsafe) let source: any DispatchSourceProtocol
    private let isOver = Locked(false)

    /// Begins to watch.
    ///
    /// - Parameter onChange: Called on a queue of the watch's own, with whether the name may mean another file by now.
    init(folder: String, name: String, onChange: @escaping @Sendable (_ isName: Bool) -> Void) {
        let queue = DispatchQueue(label: "TypedDefaults.FileWatch", qos: .userInitiated)
        do throws(FileFailure) {
            source = try Self.makeSource(FileEvents(folder: folder, name: name), queue, isOver, onChange)
            refusal = nil
        } catch {
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: .now(), repeating: .milliseconds(100), leeway: .milliseconds(10))
            timer.setEventHandler { onChange(true) }
            timer.resume()
            source = timer
            refusal = error
        }
    }

    deinit {
        isOver.withLock { $0 = true }
        source.cancel()
    }

    private static func makeSource(
        _ events: FileEvents, _ queue: DispatchQueue, _ isOver: Locked<Bool>,
        _ onChange: @escaping @Sendable (Bool) -> Void
    ) throws(FileFailure) -> any DispatchSourceProtocol {
        try events.awaitNext()
        let source = DispatchSource.makeReadSource(fileDescriptor: events.file.descriptor, queue: queue)
        @Sendable func awaitNext(after pause: DispatchTimeInterval) {
            queue.asyncAfter(deadline: .now() + pause) {
                guard !isOver.withLock({ $0 }) else { return }
                // First wait, then look, or a change in between is missed.
                do throws(FileFailure) {
                    try events.awaitNext()
                    onChange(false)
                } catch {
                    // The folder is gone, or there is no room: until it works again it is looked for.
                    onChange(true)
                    awaitNext(after: .milliseconds(100))
                }
            }
        }
        source.setEventHandler {
            let changed = events.take()
            // Asked after they were taken: a handler that was about to be called when the source was cancelled is called all the same.
            guard changed.contents || changed.name, !isOver.withLock({ $0 }) else { return }
            onChange(changed.name)
            // An event for each of many writes would cost the writers as much again as the writes do.
            awaitNext(after: .milliseconds(2))
        }
        source.setCancelHandler { _ = events }
        source.resume()
        return source
    }
}
