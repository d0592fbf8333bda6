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
    final class FileEvents: Sendable {
        /// Events of names are queued between an event and the next ``awaitNext()``.
        static let missesNames = false

        private let file: File
        private let onBegin: @Sendable () -> Void
        private let folder: String
        private let path: String
        private let name: [UInt8]
        // Safe: set up before it is resumed; afterwards only `cancel` is called.
        private nonisolated(unsafe) let source: any DispatchSourceRead

        /// Starts to wait for the first event.
        ///
        /// - Parameters:
        ///   - onBegin: Called on the queue when ``awaitNext()`` has made events available again.
        ///   - onEvent: Called on the queue for an event, with whether the name may refer to
        ///     another file now.
        init(
            folder: String, name: String, queue: DispatchQueue, onBegin: @escaping @Sendable () -> Void,
            onEvent: @escaping @Sendable (FileEvents, _ isName: Bool) -> Void
        ) throws(FileFailure) {
            self.onBegin = onBegin
            file = try File("inotify_init1") { inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC)) }
            path = (folder == "/" ? "" : folder) + "/" + name
            self.folder = folder
            self.name = Array(name.utf8)
            source = DispatchSource.makeReadSource(fileDescriptor: file.descriptor, queue: queue)
            source.setEventHandler { [weak self] in
                guard let self else { return }
                let changed = take()
                if changed.contents || changed.name { onEvent(self, changed.name) }
            }
            // Keep the descriptor open until the source has ended.
            source.setCancelHandler { [file] in withExtendedLifetime(file) {} }
            source.resume()
            try arm()
        }

        deinit { cancel() }

        func cancel() { source.cancel() }

        /// Waits for the next event. Call it on the queue.
        func awaitNext() throws(FileFailure) {
            try arm()
            onBegin()
        }

        /// Requests one event for the next change of the contents, and all events of names.
        private func arm() throws(FileFailure) {
            // Request only events of names for the folder: events of contents would slow down the
            // writers of every file in it. Do so each time, because the path may lead to another
            // folder by now.
            let names = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF
            try wait(for: names | IN_ONLYDIR, of: folder)
            do throws(FileFailure) {
                try wait(for: IN_MODIFY | Int32(bitPattern: IN_ONESHOT) | IN_DONT_FOLLOW, of: path)
            } catch let error where error.isMissing {
                // The folder reports the creation of the file.
            }
        }

        private func wait(for events: Int32, of path: String) throws(FileFailure) {
            try File.checking("inotify_add_watch") {
                inotify_add_watch(file.descriptor, path, UInt32(bitPattern: events))
            }
        }

        /// Reads the pending events. Returns whether they concern the contents of the file, and its
        /// name.
        private func take() -> (contents: Bool, name: Bool) {
            var taken = (contents: false, name: false)
            withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { buffer in
                while true {
                    let count = read(file.descriptor, buffer.baseAddress, buffer.count)
                    guard count > 0 else { return }
                    var offset = 0
                    while offset < count {
                        let event = buffer.load(fromByteOffset: offset, as: inotify_event.self)
                        offset += MemoryLayout<inotify_event>.size
                        let bytes = buffer[offset..<(offset + Int(event.len))]
                        offset += Int(event.len)
                        let isName = bytes.prefix(while: { $0 != 0 }).elementsEqual(name)
                        if isName || event.mask & UInt32(IN_Q_OVERFLOW | IN_DELETE_SELF | IN_MOVE_SELF) != 0 {
                            taken.name = true
                        } else if event.mask & UInt32(IN_MODIFY) != 0 {
                            taken.contents = true
                        }
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
            folder: String, name: String, queue: DispatchQueue, onBegin: @escaping @Sendable () -> Void,
            onEvent: @escaping @Sendable (FileEvents, _ isName: Bool) -> Void
        ) throws(FileFailure) { throw FileFailure("not supported on this system") }
        func awaitNext() throws(FileFailure) {}
        func cancel() {}
    }
#endif
