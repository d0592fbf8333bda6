#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Darwin
        import Dispatch
    #endif

    // Not run on Apple platforms.
    /// Events of a file and of its name, by `kqueue`: one source on the file that the name means now, and one on its folder.
    ///
    /// The first event ends both sources. ``awaitNext()`` opens the file and the folder again, so they may be other ones by then. The
    /// system registers a source later, on its queue, and events before that are lost. So once both are registered the names are
    /// compared with what is open, and `onBegin` has the contents read.
    final class FileEvents: Sendable {
        /// Events may be missed from the first one to the next ``awaitNext()``, those of names among them.
        static let missesNames = true

        private let folder: String
        private let name: String
        private let queue: DispatchQueue
        private let onBegin: @Sendable () -> Void
        private let onEvent: @Sendable (FileEvents, _ isName: Bool) -> Void
        private let sources = Locked<[Source]>([])

        /// Begins to wait.
        ///
        /// - Parameters:
        ///   - onBegin: Called on the queue once events are reported.
        ///   - onEvent: Called on the queue with the next event: with whether the name may mean another file by now.
        init(
            folder: String, name: String, queue: DispatchQueue, onBegin: @escaping @Sendable () -> Void,
            onEvent: @escaping @Sendable (FileEvents, _ isName: Bool) -> Void
        ) throws(FileFailure) {
            self.folder = folder
            self.name = name
            self.queue = queue
            self.onBegin = onBegin
            self.onEvent = onEvent
            try awaitNext()
        }

        deinit { cancel() }

        /// Waits for the next event.
        func awaitNext() throws(FileFailure) {
            cancel()
            var files = [try open(folder, O_DIRECTORY)]
            do throws(FileFailure) {
                files.append(try open((folder == "/" ? "" : folder) + "/" + name, O_NOFOLLOW))
            } catch let error where error.isMissing {
                // The folder reports when the file is made.
            }
            var identities: [File.Identity] = []
            for file in files { identities.append(try file.identity()) }
            // Nothing throws from here on: a source that is released before it was resumed ends the process.
            let new = files.map { Source($0, queue) }
            let waiting = Locked(new.count)
            for (index, source) in new.enumerated() {
                let isFolder = index == 0
                source.begin { [weak self, identities] in
                    let isLast = waiting.withLock { waiting in
                        waiting -= 1
                        return waiting == 0
                    }
                    if isLast { self?.begin(identities) }
                } onEvent: { [weak self] events in
                    self?.end(isName: isFolder || !events.isSubset(of: [.write, .extend]))
                }
            }
            sources.withLock { $0 = new }
            for source in new { source.resume() }
        }

        /// Both sources are registered: from now on no change of a name is missed.
        private func begin(_ identities: [File.Identity]) {
            if currentIdentities() == identities { onBegin() } else { end(isName: true) }
        }

        /// What the names mean now: the folder and, if it exists, the file.
        private func currentIdentities() -> [File.Identity]? {
            do throws(FileFailure) {
                let folder = try File.existingDirectory(folder)
                let file = try folder.identity(of: name)
                return try [folder.identity()] + (file.map { [$0] } ?? [])
            } catch {
                // Whatever is wrong, the next attempt to wait says so.
                return nil
            }
        }

        func cancel() {
            let old = sources.withLock { sources in
                defer { sources = [] }
                return sources
            }
            for source in old { source.cancel() }
        }

        private func end(isName: Bool) {
            let isFirst = sources.withLock { !$0.isEmpty }
            cancel()
            if isFirst { onEvent(self, isName) }
        }

        private func open(_ path: String, _ flags: Int32) throws(FileFailure) -> File {
            // For its events only, so that a volume can be ejected meanwhile.
            try File("open") { openDescriptor(path, O_EVTONLY | O_CLOEXEC | flags) }
        }

        private final class Source: Sendable {
            // Safe: set up before it is resumed, and then told to resume and to cancel only.
            private nonisolated(unsafe) let source: any DispatchSourceFileSystemObject
            private let file: File

            init(_ file: File, _ queue: DispatchQueue) {
                self.file = file
                // A folder reports that its names change, not that the contents of its files do.
                source = DispatchSource.makeFileSystemObjectSource(
                    fileDescriptor: file.descriptor, eventMask: [.write, .extend, .delete, .rename, .link, .revoke],
                    queue: queue)
            }

            func begin(
                onBegin: @escaping @Sendable () -> Void,
                onEvent: @escaping @Sendable (DispatchSource.FileSystemEvent) -> Void
            ) {
                // Safe: only asked for its data, on the queue of the source, which keeps its handler no longer than until it is cancelled.
                nonisolated(unsafe) let source = source
                source.setEventHandler { onEvent(source.data) }
                source.setRegistrationHandler { onBegin() }
                // The descriptor is closed no sooner than the source has ended.
                source.setCancelHandler { [file] in withExtendedLifetime(file) {} }
            }

            func resume() { source.resume() }
            func cancel() { source.cancel() }
        }
    }

    private func openDescriptor(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }
#endif
