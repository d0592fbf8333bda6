#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Darwin
        import Dispatch
    #endif

    // Not tested on Apple platforms.
    /// Events of a file and its name, from `kqueue`: one source for the file that has the name, and
    /// one for its folder.
    ///
    /// The first event ends both sources. ``awaitNext()`` opens the file and the folder again,
    /// which may be different ones by then. The system registers a source later, on its queue, and
    /// earlier events are lost. When both sources are registered, the names are therefore compared
    /// with the open files, and `onBegin` makes the caller read the contents.
    final class FileEvents: Sendable {
        /// Events of contents and of names are lost between an event and the next ``awaitNext()``.
        static let missesNames = true

        private let folder: String
        private let name: String
        private let queue: DispatchQueue
        private let hasMoved: @Sendable () -> Bool
        private let onBegin: @Sendable () -> Void
        private let onEvent: @Sendable (FileEvents, _ isName: Bool) -> Void
        private let sources = Locked<[Source]>([])

        /// Call ``arm()`` and then ``start()`` to wait for the first event.
        ///
        /// - Parameters:
        ///   - hasMoved: Called on the queue every two seconds. Returns whether the name may refer
        ///     to another file although there was no event.
        ///   - onBegin: Called on the queue when events are available.
        ///   - onEvent: Called on the queue for an event. The argument says whether the name may
        ///     refer to another file now.
        init(
            folder: String, name: String, queue: DispatchQueue, hasMoved: @escaping @Sendable () -> Bool,
            onBegin: @escaping @Sendable () -> Void,
            onEvent: @escaping @Sendable (FileEvents, _ isName: Bool) -> Void
        ) throws(FileFailure) {
            self.hasMoved = hasMoved
            self.folder = folder
            self.name = name
            self.queue = queue
            self.onBegin = onBegin
            self.onEvent = onEvent
        }

        func arm() throws(FileFailure) { try awaitNext() }

        func start() throws(FileFailure) { lookAgain() }

        private func lookAgain() {
            queue.asyncAfter(deadline: .now() + 2) { [weak self] in
                guard let self else { return }
                if hasMoved() { end(isName: true) }
                lookAgain()
            }
        }

        deinit { cancel() }

        func run(after pause: Duration, _ work: @escaping @Sendable () -> Void) {
            queue.asyncAfter(deadline: .now() + pause / .seconds(1), execute: work)
        }

        /// Waits for the next event.
        func awaitNext() throws(FileFailure) {
            cancel()
            var files = [try open(folder, O_DIRECTORY)]
            do throws(FileFailure) {
                files.append(try open((folder == "/" ? "" : folder) + "/" + name))
            } catch let error where error.isMissing {
                // The folder reports the creation of the file.
            }
            var identities: [File.Identity] = []
            for file in files { identities.append(try file.identity()) }
            // No call below throws: releasing a source that was never resumed would crash.
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

        /// Called when both sources are registered. From now on, no change of a name is lost.
        private func begin(_ identities: [File.Identity]) {
            if currentIdentities() == identities { onBegin() } else { end(isName: true) }
        }

        /// The identities of the folder and, if it exists, of the file that have the names now.
        private func currentIdentities() -> [File.Identity]? {
            do throws(FileFailure) {
                let folder = try File.existingDirectory(folder)
                let file = try folder.identity(of: name)
                return try [folder.identity()] + (file.map { [$0] } ?? [])
            } catch {
                // The next call to `awaitNext` throws the error.
                return nil
            }
        }

        func cancel() {
            for source in sources.withLock({ exchange(&$0, with: []) }) { source.cancel() }
        }

        private func end(isName: Bool) {
            let isFirst = sources.withLock { !$0.isEmpty }
            cancel()
            if isFirst { onEvent(self, isName) }
        }

        private func open(_ path: String, _ flags: Int32 = 0) throws(FileFailure) -> File {
            // Open the file for events only, so that a volume can still be ejected.
            try File("open") { openDescriptor(path, O_EVTONLY | O_CLOEXEC | flags) }
        }

        private final class Source: Sendable {
            private let source: any DispatchSourceFileSystemObject
            private let file: File

            init(_ file: File, _ queue: DispatchQueue) {
                self.file = file
                // A folder reports changes of its entries, but not of the contents of its files.
                source = DispatchSource.makeFileSystemObjectSource(
                    fileDescriptor: file.descriptor, eventMask: [.write, .extend, .delete, .rename, .link, .revoke],
                    queue: queue)
            }

            func begin(
                onBegin: @escaping @Sendable () -> Void,
                onEvent: @escaping @Sendable (DispatchSource.FileSystemEvent) -> Void
            ) {
                // No cycle remains: a source releases its handler when it is canceled.
                source.setEventHandler { [source] in onEvent(source.data) }
                source.setRegistrationHandler { onBegin() }
                // Keep the descriptor open until the source has ended.
                source.setCancelHandler { [file] in withExtendedLifetime(file) {} }
            }

            func resume() { source.resume() }
            func cancel() { source.cancel() }
        }
    }

    private func openDescriptor(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }
#endif
