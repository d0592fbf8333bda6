#if canImport(Darwin) || canImport(AppleFoundation)
    // Platform/Apple/VnodeEvents.swift
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

    /// Events of a file and of its name, by `inotify`.
    final class FileEvents: Sendable {
        /// Events of names are kept from one event to the next ``awaitNext()``.
        static let missesNames = false

        private let file: File
        private let onBegin: @Sendable () -> Void
        private let folder: String
        private let path: String
        private let name: [UInt8]
        // Safe: set up before it is resumed, and then told to cancel only.
        private nonisolated(unsafe) let source: any DispatchSourceRead

        /// Begins to wait.
        ///
        /// - Parameters:
        ///   - onBegin: Called on the queue once events are reported again.
        ///   - onEvent: Called on the queue with the next event: with whether the name may mean another file by now.
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
            // The descriptor is closed no sooner than the source has ended.
            source.setCancelHandler { [file] in withExtendedLifetime(file) {} }
            source.resume()
            try arm()
        }

        deinit { cancel() }

        func cancel() { source.cancel() }

        /// Waits for the next event. To be called on the queue.
        func awaitNext() throws(FileFailure) {
            try arm()
            onBegin()
        }

        /// Has the next change of the contents told, and only the next, and changes of names.
        private func arm() throws(FileFailure) {
            // Names only: to be told of contents here would cost every writer of every file in the folder. Each time, since the folder
            // may be another one by now.
            let names = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF
            try wait(for: names | IN_ONLYDIR, of: folder)
            do throws(FileFailure) {
                try wait(for: IN_MODIFY | Int32(bitPattern: IN_ONESHOT) | IN_DONT_FOLLOW, of: path)
            } catch let error where error.isMissing {
                // When it comes its name will tell.
            }
        }

        private func wait(for events: Int32, of path: String) throws(FileFailure) {
            try File.checking("inotify_add_watch") {
                inotify_add_watch(file.descriptor, path, UInt32(bitPattern: events))
            }
        }

        /// What has happened: to the contents of the file, and to its name.
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

    /// Changes are looked for ten times a second where this library does not know how to wait for them.
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
