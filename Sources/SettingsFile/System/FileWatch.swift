/// Reports within milliseconds that the contents or the name of a file may have changed.
///
/// The watch ends when it is deallocated. Changes before its creation are not reported, so check
/// the file once afterwards.
///
/// All watches of a process share one queue of events, because a user of Linux has 128 of them, and
/// one thread, which waits for events. Every two seconds, this thread also looks where the paths
/// lead: the system does not report a mount, a folder above that was moved, or a link that leads
/// elsewhere. A file that may have changed gets a thread until its next events can be awaited, so
/// that a handler which takes long delays no other file.
final class FileWatch: Sendable {
    private struct Watches {
        /// `nil` if no thread waits for events.
        var events: FileEvents?
        var files: [Int: Watched] = [:]
        var lastID = 0
        /// The process of the thread, as counted by ``Forks/count``.
        var process = Forks.count

        /// In a child, forgets the files and the thread of the parent. Returns whether it has.
        @discardableResult
        mutating func leaveParent() -> Bool {
            guard process != Forks.count else { return false }
            self = Watches(lastID: lastID)
            return true
        }

        /// Ends a watch of the system unless another file uses it: two names of one file or folder
        /// have one watch.
        func end(_ watch: Int32?) {
            guard let watch, !files.values.contains(where: { $0.folder == watch || $0.contents == watch }) else {
                return
            }
            events?.end(watch)
        }
    }

    /// The folder and the name of a file, after links.
    typealias Place = Result<(folder: String, name: String), FileFailure>

    private struct Watched {
        let place: @Sendable () -> Place
        let hasMoved: @Sendable () -> Bool
        let onChange: @Sendable () -> Void
        var name: [UInt8] = []
        /// The watches of the system.
        var folder: Int32?
        var contents: Int32?
        /// Whether a thread serves the file, and whether it must report another change.
        var isServed = false
        var isDue = false
    }

    private static let watches = Locked(Watches())

    private let file: Watched
    private let id: Int
    /// Why the system reports no changes, so that the file is checked ten times a second; `nil` if
    /// it reports them.
    let failure: FileFailure?

    /// Starts to watch.
    ///
    /// - Parameters:
    ///   - place: Returns where the file is now.
    ///   - hasMoved: Returns whether the path leads to another file than before. Called every two
    ///     seconds.
    ///   - onChange: Called on a thread of the watch, one call at a time.
    init(
        place: @escaping @Sendable () -> Place, hasMoved: @escaping @Sendable () -> Bool,
        onChange: @escaping @Sendable () -> Void
    ) {
        let file = Watched(place: place, hasMoved: hasMoved, onChange: onChange)
        let id = Self.watches.withLock { watches in
            watches.leaveParent()
            watches.lastID += 1
            watches.files[watches.lastID] = file
            return watches.lastID
        }
        (self.file, self.id) = (file, id)
        do throws(FileFailure) {
            try Self.arm(id)
            failure = nil
        } catch let error where error.isOfPlace {
            _ = Self.report(id)
            failure = nil
        } catch {
            failure = FileFailure("\(error.reason); the file is checked ten times a second")
            _ = Self.report(id)
        }
    }

    /// Watches the file to which the path leads now.
    func renew() {
        Self.watches.withLock { if $0.leaveParent() { $0.files[id] = file } }
        _ = Self.report(id)
    }

    deinit {
        Self.watches.withLock { watches in
            // Those of a parent are left alone.
            guard watches.process == Forks.count, let old = watches.files.removeValue(forKey: id) else { return }
            watches.end(old.folder)
            watches.end(old.contents)
        }
    }

    /// Requests events of the contents and of names.
    private static func arm(_ id: Int) throws(FileFailure) {
        guard let file = watches.withLock({ $0.files[id] }) else { return }
        // Each time, because the path may lead to another folder by now.
        let (folder, name) = try file.place().get()
        try watches.withLock { watches throws(FileFailure) in
            guard let old = watches.files[id] else { return }
            if watches.events == nil {
                let events = try FileEvents()
                // The code is not 0, because this is no fault of the place.
                guard startThread({ run(events) }) else { throw FileFailure("the system refused a thread", code: -1) }
                watches.events = events
            }
            guard let events = watches.events else { return }
            var new = old
            new.name = Array(name.utf8)
            new.folder = try events.watch(folder: folder)
            do throws(FileFailure) {
                new.contents = try events.watch(file: folder + "/" + name)
            } catch let error where error.isMissing || error.isPermissionDenied {
                // The folder reports the creation of the file. The permissions are looked at every
                // two seconds.
                new.contents = nil
            }
            watches.files[id] = new
            watches.end(old.folder)
            watches.end(old.contents)
        }
    }

    /// Reports a change on a thread of its own, or leaves it to the one that serves the file.
    ///
    /// - Returns: False if the system refuses a thread. Then the next event tries again.
    private static func report(_ id: Int) -> Bool {
        let isFirst = watches.withLock { watches in
            guard watches.files[id]?.isServed == false else {
                watches.files[id]?.isDue = true
                return false
            }
            watches.files[id]?.isServed = true
            return true
        }
        guard isFirst, !startThread({ serve(id) }) else { return true }
        watches.withLock { $0.files[id]?.isServed = false }
        return false
    }

    /// Reports a change, and then awaits the next events.
    private static func serve(_ id: Int) {
        var pause: UInt32 = 2_000
        // A thread of a child that was forked in a handler ends.
        func onChange() -> (@Sendable () -> Void)? {
            watches.withLock { $0.process == Forks.count ? $0.files[id]?.onChange : nil }
        }
        while let report = onChange() {
            report()
            // An event for each of many writes would double the cost of the writes.
            SystemClock.sleep(microseconds: pause)
            do throws(FileFailure) { try arm(id) } catch {
                // The folder is gone, or a limit of the system is reached. Poll until waiting works
                // again.
                pause = error.isOfPlace ? min(max(pause, 50_000) * 2, 2_000_000) : 100_000
                continue
            }
            pause = 2_000
            // What changed before events were available.
            onChange()?()
            let isDue = watches.withLock { watches in
                let isDue = watches.files[id]?.isDue == true
                watches.files[id]?.isDue = false
                watches.files[id]?.isServed = isDue
                return isDue
            }
            guard isDue else { return }
        }
    }

    /// Waits for events as long as files are watched.
    private static func run(_ events: FileEvents) {
        var nextLook = MonotonicTime.now + .seconds(2)
        while true {
            var changed = take(events.wait(until: nextLook))
            if !(.now < nextLook) {
                let files = watches.withLock { watches in
                    if watches.files.isEmpty { watches.events = nil }
                    return watches.files
                }
                guard !files.isEmpty else { return }
                changed += files.filter { !$0.value.isServed && $0.value.hasMoved() }.keys
                nextLook = .now + .seconds(2)
            }
            for id in changed { _ = report(id) }
        }
    }

    /// Returns the files that events are about.
    private static func take(_ events: [FileEvents.Event]) -> [Int] {
        watches.withLock { watches in
            var changed: [Int] = []
            for event in events {
                for (id, file) in watches.files {
                    if event.watch == nil
                        || event.watch == file.folder && event.name.map({ $0 == file.name }) ?? true
                    {
                        changed.append(id)
                    } else if event.watch == file.contents {
                        changed.append(id)
                        // Until the next events are awaited: each of them costs a writer half as
                        // much as its write.
                        watches.files[id]?.contents = nil
                        watches.end(event.watch)
                    }
                }
            }
            return changed
        }
    }
}
