#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// A queue of events of files and folders. A number identifies each watched one.
struct FileEvents {
    struct Event {
        /// `nil` if the queue has lost events, which may be of any file.
        let watch: Int32?
        /// The entry of a folder that has changed; `nil` for any.
        let name: [UInt8]?
    }

    private let queue: File

    #if canImport(Darwin)
        init() throws(FileFailure) { queue = try File("kqueue") { kqueue() } }

        /// Watches the entries of a folder. The system does not say which one has changed.
        func watch(folder: String) throws(FileFailure) -> Int32 { try watch(folder, O_DIRECTORY) }

        func watch(file: String) throws(FileFailure) -> Int32 { try watch(file, 0) }

        private func watch(_ path: String, _ flags: Int32) throws(FileFailure) -> Int32 {
            // For events only, so that a volume can still be ejected.
            let watched = try File.checking("open") { open(path, O_EVTONLY | O_CLOEXEC | flags) }
            do throws(FileFailure) {
                var request = kevent()
                request.ident = UInt(watched)
                request.filter = Int16(EVFILT_VNODE)
                request.flags = UInt16(EV_ADD | EV_CLEAR)
                request.fflags = UInt32(NOTE_WRITE | NOTE_EXTEND | NOTE_DELETE | NOTE_RENAME | NOTE_LINK | NOTE_REVOKE)
                try File.checking("kevent") { kevent(queue.descriptor, &request, 1, nil, 0, nil) }
            } catch {
                end(watched)
                throw error
            }
            return watched
        }

        func end(_ watch: Int32) { close(watch) }

        /// Waits for events, but not longer than until a time.
        func wait(until end: MonotonicTime) -> [Event] {
            var found = Array(repeating: kevent(), count: 64)
            var rest = (end - .now).systemTime
            let count = kevent(queue.descriptor, nil, 0, &found, Int32(found.count), &rest)
            return found.prefix(Int(clamping: max(0, count))).map { Event(watch: Int32($0.ident), name: nil) }
        }
    #elseif os(Linux) || os(Android)
        init() throws(FileFailure) { queue = try File("inotify_init1") { inotify_init1(Int32(IN_CLOEXEC)) } }

        /// Watches the entries of a folder, but not the contents of its files: these events would
        /// slow down the writers of all of them.
        func watch(folder: String) throws(FileFailure) -> Int32 {
            try watch(
                folder,
                IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
        }

        // This is not `IN_ONESHOT`, because the writer would then remove the watch as part of its
        // write. The write and the event would take half as long again.
        func watch(file: String) throws(FileFailure) -> Int32 { try watch(file, IN_MODIFY) }

        private func watch(_ path: String, _ events: Int32) throws(FileFailure) -> Int32 {
            try File.checking("inotify_add_watch") {
                inotify_add_watch(queue.descriptor, path, UInt32(bitPattern: events))
            }
        }

        /// Fails if the file is gone.
        func end(_ watch: Int32) { _ = inotify_rm_watch(queue.descriptor, watch) }

        /// Waits for events, but not longer than until a time.
        func wait(until end: MonotonicTime) -> [Event] {
            var ready = pollfd(fd: queue.descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, Int32(((end - .now).seconds * 1_000).rounded(.up))) > 0 else { return [] }
            return withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { buffer in
                let count = read(queue.descriptor, buffer.baseAddress, buffer.count)
                var (events, offset) = ([Event](), 0)
                while offset < count {
                    let event = buffer.load(fromByteOffset: offset, as: inotify_event.self)
                    offset += MemoryLayout<inotify_event>.size
                    let name = Array(buffer[offset..<(offset + Int(clamping: event.len))].prefix { $0 != 0 })
                    offset += Int(clamping: event.len)
                    let hasLost = event.mask & UInt32(IN_Q_OVERFLOW) != 0
                    events.append(Event(watch: hasLost ? nil : event.wd, name: name.isEmpty ? nil : name))
                }
                return events
            }
        }
    #else
        #error("SettingsFile needs inotify or kqueue")
    #endif
}
