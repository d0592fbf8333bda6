#if canImport(Darwin) || canImport(AppleFoundation)
    // See VnodeEvents.swift.
#elseif os(Linux) || os(Android)
    import Dispatch

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #elseif canImport(Android)
        import Android
    #else
        #error("SettingsFile needs inotify on Linux")
    #endif

    /// Events of a file and its name, from `inotify`.
    ///
    /// A dedicated thread waits for them, because an event that passes through Dispatch's threads
    /// takes twice as long.
    final class FileEvents: Sendable {
        /// Events of names are queued between an event and the next ``awaitNext()``.
        static let missesNames = false

        private struct State {
            var isOver = false
            /// The descriptors of the watches; -1 if there is none.
            var (folder, contents): (Int32, Int32) = (-1, -1)
            var later: (time: MonotonicTime, work: () -> Void)?
            var nextLook = MonotonicTime.now + .seconds(2)

            /// Whether it is time to look where the path leads.
            mutating func beginsLook() -> Bool {
                guard !isOver, !(.now < nextLook) else { return false }
                nextLook = .now + .seconds(2)
                return true
            }
        }

        private let file: File
        private let state = Locked(State())
        private let hasMoved: @Sendable () -> Bool
        private let onBegin: @Sendable () -> Void
        private let onEvent: @Sendable (FileEvents, _ isName: Bool) -> Void
        private let folder: String
        private let path: String
        private let name: [UInt8]

        /// Call ``arm()`` and then ``start()`` to wait for the first event.
        ///
        /// - Parameters:
        ///   - hasMoved: Called on the thread every two seconds. Returns whether the name may refer
        ///     to another file although there was no event.
        ///   - onBegin: Called on the thread when ``awaitNext()`` has made events available again.
        ///   - onEvent: Called on the thread for an event. The argument says whether the name may
        ///     refer to another file now.
        init(
            folder: String, name: String, queue: DispatchQueue, hasMoved: @escaping @Sendable () -> Bool,
            onBegin: @escaping @Sendable () -> Void,
            onEvent: @escaping @Sendable (FileEvents, _ isName: Bool) -> Void
        ) throws(FileFailure) {
            (self.hasMoved, self.onBegin, self.onEvent) = (hasMoved, onBegin, onEvent)
            file = try File("inotify_init1") { inotify_init1(Int32(IN_CLOEXEC)) }
            path = (folder == "/" ? "" : folder) + "/" + name
            self.folder = folder
            self.name = Array(name.utf8)
        }

        func start() throws(FileFailure) {
            guard startThread({ self.run() }) else { throw FileFailure("the system refused a thread") }
        }

        private func run() {
            // In a child that was forked in a handler, the thread ends when the handler returns.
            while isOfThisProcess, !state.withLock({ $0.isOver }) {
                if let (time, work) = state.withLock({ exchange(&$0.later, with: nil) }) {
                    (time - .now).sleep()
                    work()
                } else {
                    let changed = take()
                    guard changed.contents || changed.name else { continue }
                    onEvent(self, changed.name)
                    disarm()
                }
            }
            // It refers to this object.
            _ = state.withLock { exchange(&$0.later, with: nil) }
        }

        /// Whether this process has the thread. In its child, the descriptor may refer to another
        /// file.
        private var isOfThisProcess: Bool { file.process == Forks.count }

        /// Ends the thread. Removing a watch is itself an event, which wakes the thread.
        func cancel() {
            state.withLock { state in
                state.isOver = true
                if isOfThisProcess { _ = inotify_rm_watch(file.descriptor, state.folder) }
            }
        }

        /// Runs `work` on the thread after a pause. Call it on the thread, or before ``start()``.
        func run(after pause: Duration, _ work: @escaping () -> Void) {
            state.withLock { $0.later = (.now + pause, work) }
        }

        /// Waits for the next event. Call it on the thread.
        func awaitNext() throws(FileFailure) {
            try arm()
            onBegin()
        }

        /// Requests events of the contents and of names.
        func arm() throws(FileFailure) {
            // Request only events of names for the folder: events of contents would slow down the
            // writers of every file in it. Do so each time, because the path may lead to another
            // folder by now.
            let names = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF
            let watch = try wait(for: names | IN_ONLYDIR, of: folder)
            state.withLock { $0.folder = watch }
            do throws(FileFailure) {
                let watch = try wait(for: IN_MODIFY, of: path)
                state.withLock { $0.contents = watch }
            } catch let error where error.isMissing || error.isPermissionDenied {
                // The folder reports the creation of the file. The permissions are looked at every
                // two seconds.
            }
        }

        /// Ends the events of the contents until ``awaitNext()``: each of them costs a writer half
        /// as much as its write.
        ///
        /// This is not `IN_ONESHOT`, because the writer would then remove the watch as part of its
        /// write. The write and the event would take half as long again.
        private func disarm() {
            let contents = state.withLock { exchange(&$0.contents, with: -1) }
            // Fails if the file is gone.
            if contents >= 0, isOfThisProcess { _ = inotify_rm_watch(file.descriptor, contents) }
        }

        private func wait(for events: Int32, of path: String) throws(FileFailure) -> Int32 {
            try File.checking("inotify_add_watch") {
                inotify_add_watch(file.descriptor, path, UInt32(bitPattern: events))
            }
        }

        /// Waits for events. Returns whether they concern the contents of the file, and its name.
        private func take() -> (contents: Bool, name: Bool) {
            var taken = (contents: false, name: false)
            var ready = pollfd(fd: file.descriptor, events: Int16(POLLIN), revents: 0)
            let pause = state.withLock { $0.nextLook } - .now
            let hasEvents = poll(&ready, 1, Int32((pause.seconds * 1_000).rounded(.up))) != 0
            // Other files of the folder may have events all the time.
            if state.withLock({ $0.beginsLook() }), hasMoved() { taken.name = true }
            guard hasEvents else { return taken }
            withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { buffer in
                // Fails only if other code of the program has closed the descriptor.
                guard
                    let count = try? File.checking("read", { read(file.descriptor, buffer.baseAddress, buffer.count) })
                else { return state.withLock { $0.isOver = true } }
                let contents = state.withLock { $0.contents }
                var offset = 0
                while offset < count {
                    let event = buffer.load(fromByteOffset: offset, as: inotify_event.self)
                    offset += MemoryLayout<inotify_event>.size
                    let bytes = buffer[offset..<(offset + Int(clamping: event.len))]
                    offset += Int(clamping: event.len)
                    let isName = bytes.prefix(while: { $0 != 0 }).elementsEqual(name)
                    if isName || event.mask & UInt32(IN_Q_OVERFLOW | IN_DELETE_SELF | IN_MOVE_SELF) != 0 {
                        taken.name = true
                    } else if event.mask & UInt32(IN_MODIFY) != 0, event.wd == contents {
                        taken.contents = true
                    }
                }
            }
            return taken
        }
    }
#else
    import Dispatch

    /// This library has no way to wait for changes on this system. `FileWatch` polls ten times a
    /// second instead.
    final class FileEvents: Sendable {
        static let missesNames = true
        init(
            folder: String, name: String, queue: DispatchQueue, hasMoved: @escaping @Sendable () -> Bool,
            onBegin: @escaping @Sendable () -> Void,
            onEvent: @escaping @Sendable (FileEvents, _ isName: Bool) -> Void
        ) throws(FileFailure) { throw FileFailure("not supported on this system") }
        func arm() throws(FileFailure) {}
        func start() throws(FileFailure) {}
        func run(after pause: Duration, _ work: @escaping @Sendable () -> Void) {}
        func awaitNext() throws(FileFailure) {}
        func cancel() {}
    }
#endif
