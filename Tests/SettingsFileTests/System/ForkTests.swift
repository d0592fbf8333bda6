#if canImport(Glibc)
    import TestSupport
    import Foundation
    import Glibc
    import Testing

    @testable import SettingsFile
    @testable import TypedDefaults

    /// Tests processes that are forked or started in unusual ways. Each test runs in a process of
    /// its own.
    struct ForkTests {
        private typealias Fork = @convention(c) () -> pid_t

        /// Returns `fork` or `_Fork`. Swift hides the first and does not declare the second.
        private static func fork(_ name: String) throws -> Fork {
            unsafeBitCast(try #require(dlsym(nil, name)), to: Fork.self)
        }

        private static func waitForExit(of child: pid_t) -> Int32 {
            var status: Int32 = -1
            while waitpid(child, &status, 0) < 0 && errno == EINTR {}
            return status
        }

        /// Kills the process after some seconds. Processes of tests block the signal by default.
        private static func exitOnAlarm(after seconds: UInt32) {
            var alarms = sigset_t()
            sigemptyset(&alarms)
            sigaddset(&alarms, SIGALRM)
            sigprocmask(SIG_UNBLOCK, &alarms, nil)
            signal(SIGALRM, SIG_DFL)
            alarm(seconds)
        }

        #if os(macOS) || os(Linux)
            @Test func aChildOfAProcessWithThreadsReadsAndWrites() async throws {
                let file = try makeFile()
                await #expect(processExitsWith: .success) { [path = file.path as String] in
                    let fork = try Self.fork("fork")
                    let suite = try DefaultsSuite(file: URL(filePath: path))
                    let stores = (0..<4).map { UserDefault(DefaultKey("number-\($0)", default: 0), in: suite).store }
                    // Use everything once before the fork, because the Swift runtime has locks of
                    // its own, which a thread may hold while it uses a type for the first time.
                    for store in stores {
                        _ = store.get()
                        _ = try? store.updateStored { $0 = ($0 ?? 0) + 1 }
                    }
                    let (isOver, busy) = (Guarded(false), Guarded(0))
                    let threads = stores.map { store in
                        Thread {
                            var round = 0
                            while !isOver.withLock({ $0 }) {
                                round += 1
                                store.set(round)
                                _ = stores[round % 4].get()
                                if round == 10 { busy.withLock { $0 += 1 } }
                            }
                        }
                    }
                    for thread in threads { thread.start() }
                    while busy.withLock({ $0 }) < threads.count { usleep(1_000) }
                    var statuses: Set<Int32> = []
                    for _ in 0..<100 {
                        let child = fork()
                        if child == 0 {
                            Self.exitOnAlarm(after: 20)
                            for store in stores {
                                _ = store.get()
                                guard (try? store.updateStored { $0 = ($0 ?? 0) + 1 }) != nil else { _exit(1) }
                            }
                            _exit(0)
                        }
                        statuses.insert(Self.waitForExit(of: child))
                    }
                    isOver.withLock { $0 = true }
                    #expect(statuses == [0])
                    while threads.contains(where: { !$0.isFinished }) { usleep(1_000) }
                }
                try FileManager.default.removeItem(at: file.deletingLastPathComponent())
            }

            /// Commits and deliveries that threads of the parent have started do not continue in
            /// the child.
            @Test func aChildReceivesItsOwnChanges() async throws {
                let file = try makeFile()
                await #expect(processExitsWith: .success) { [path = file.path as String] in
                    let fork = try Self.fork("fork")
                    let suite = try DefaultsSuite(file: URL(filePath: path))
                    let store = UserDefault(DefaultKey("number", default: 0), in: suite).store
                    let (isInside, isOver) = (Guarded(false), Guarded(false))
                    let received = Guarded(0)
                    let parent = getpid()
                    // Use everything once before the fork, see above.
                    store.set(-1)
                    let token = store.observe { _ in
                        received.withLock { $0 += 1 }
                        isInside.withLock { $0 = true }
                        // In the parent, wait until the child has exited.
                        while getpid() == parent, !isOver.withLock({ $0 }) { usleep(1_000) }
                    }
                    let thread = Thread { store.set(1) }
                    thread.start()
                    while !isInside.withLock({ $0 }) { usleep(1_000) }
                    let child = fork()
                    if child == 0 {
                        Self.exitOnAlarm(after: 20)
                        store.set(2)
                        _exit(received.withLock { $0 } == 2 ? 0 : 1)
                    }
                    #expect(Self.waitForExit(of: child) == 0)
                    isOver.withLock { $0 = true }
                    while !thread.isFinished { usleep(1_000) }
                    token.cancel()
                }
                try FileManager.default.removeItem(at: file.deletingLastPathComponent())
            }

            /// The same for an `AnyStore` around a store that does not report changes.
            @Test func aChildReceivesItsOwnChangesThroughAnyStore() async {
                await #expect(processExitsWith: .success) {
                    let fork = try Self.fork("fork")
                    let store = AnyStore(SilentStore())
                    let (isInside, isOver) = (Guarded(false), Guarded(false))
                    let received = Guarded(0)
                    let parent = getpid()
                    // Use everything once before the fork, see above.
                    store.set(-1)
                    let token = store.observe { _ in
                        received.withLock { $0 += 1 }
                        isInside.withLock { $0 = true }
                        // In the parent, wait until the child has exited.
                        while getpid() == parent, !isOver.withLock({ $0 }) { usleep(1_000) }
                    }
                    let thread = Thread { store.set(1) }
                    thread.start()
                    while !isInside.withLock({ $0 }) { usleep(1_000) }
                    let child = fork()
                    if child == 0 {
                        Self.exitOnAlarm(after: 20)
                        store.set(2)
                        _exit(received.withLock { $0 } == 2 ? 0 : 1)
                    }
                    #expect(Self.waitForExit(of: child) == 0)
                    isOver.withLock { $0 = true }
                    while !thread.isFinished { usleep(1_000) }
                    token.cancel()
                }
            }

            private final class SilentStore: DefaultStoreType {
                private let value = Guarded<Int?>(nil)
                func get() -> Int? { value.withLock { $0 } }
                func set(_ new: Int) { value.withLock { $0 = new } }
                func remove() { value.withLock { $0 = nil } }
            }

            /// The call may take long on a network file system.
            @Test func aSlowOpenDoesNotDelayOthers() async throws {
                let file = try makeFile()
                await #expect(processExitsWith: .success) { [path = file.path as String] in
                    let (begins, isOpened) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                    let thread = Thread {
                        _ = try? File("open") {
                            begins.signal()
                            // The timeout only ends a failing test.
                            let isDelayed = isOpened.wait(timeout: .now() + 10) == .timedOut
                            if isDelayed { _exit(1) }
                            return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                        }
                    }
                    thread.start()
                    begins.wait()
                    let suite = try DefaultsSuite(file: URL(filePath: path))
                    try UserDefault(DefaultKey("number", default: 0), in: suite).store.save(1)
                    isOpened.signal()
                    while !thread.isFinished { usleep(1_000) }
                }
                try FileManager.default.removeItem(at: file.deletingLastPathComponent())
            }

            /// A child closes inherited descriptors, so no fork may happen between a call and the
            /// registration of its descriptor.
            @Test func aForkWaitsForAnOpenInProgress() async {
                await #expect(processExitsWith: .success) {
                    let fork = try Self.fork("fork")
                    let (isOpened, isForked) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                    let descriptor = Guarded<Int32>(-1)
                    let thread = Thread {
                        let file = try? File("open") {
                            let opened = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                            descriptor.withLock { $0 = opened }
                            isOpened.signal()
                            // A fork that waits for this call does not return earlier.
                            _ = isForked.wait(timeout: .now() + 0.2)
                            return opened
                        }
                        isForked.wait()
                        withExtendedLifetime(file) {}
                    }
                    thread.start()
                    isOpened.wait()
                    let child = fork()
                    if child == 0 { _exit(fcntl(descriptor.withLock { $0 }, F_GETFD) < 0 ? 0 : 1) }
                    for _ in 0..<2 { isForked.signal() }
                    #expect(Self.waitForExit(of: child) == 0)
                    while !thread.isFinished { usleep(1_000) }
                }
            }

            /// Calls that other threads of the parent have started never end in the child.
            @Test func aChildWithoutForkHandlersCanFork() async {
                await #expect(processExitsWith: .success) {
                    let (fork, plainFork) = (try Self.fork("fork"), try Self.fork("_Fork"))
                    let (begins, isForked) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                    let thread = Thread {
                        _ = try? File("open") {
                            begins.signal()
                            isForked.wait()
                            return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                        }
                    }
                    thread.start()
                    begins.wait()
                    let child = plainFork()
                    if child == 0 {
                        Self.exitOnAlarm(after: 20)
                        let grandchild = fork()
                        if grandchild == 0 { _exit(0) }
                        _exit(Self.waitForExit(of: grandchild))
                    }
                    #expect(Self.waitForExit(of: child) == 0)
                    isForked.signal()
                    while !thread.isFinished { usleep(1_000) }
                }
            }

            /// Dispatch does not run in a child whose parent has used it, and pending work of the
            /// parent stays in the parent.
            @Test func aChildSynchronizesInTheBackground() async {
                await #expect(processExitsWith: .success) {
                    let fork = try Self.fork("fork")
                    let key = DefaultKey("number", default: 0)
                    let first = SpyBackend(synchronizationDelay: .milliseconds(1))
                    let suite = DefaultsSuite(backend: first)
                    suite[key] = 1
                    while first.state.withLock({ $0.synchronizations }) == 0 { usleep(1_000) }
                    // This work is pending when the process forks.
                    let backend = SpyBackend(synchronizationDelay: .seconds(3_600))
                    let other = DefaultsSuite(backend: backend)
                    other[key] = 1
                    let child = fork()
                    if child == 0 {
                        Self.exitOnAlarm(after: 20)
                        backend.state.withLock { $0.synchronizationDelay = .milliseconds(1) }
                        other[key] = 2
                        while backend.state.withLock({ $0.synchronizations }) == 0 { usleep(1_000) }
                        _exit(0)
                    }
                    #expect(Self.waitForExit(of: child) == 0)
                }
            }

            /// A child may have other privileges than its parent, and the parent runs the work
            /// itself.
            @Test(arguments: ["fork", "_Fork"])
            func theExitOfAChildLeavesPendingWorkToItsParent(name: String) async {
                await #expect(processExitsWith: .success) { [name = name as String] in
                    let fork = try Self.fork(name)
                    let backend = SpyBackend(synchronizationDelay: .seconds(3_600))
                    let suite = DefaultsSuite(backend: backend)
                    suite[DefaultKey("number", default: 0)] = 1
                    let parent = getpid()
                    backend.state.withLock { $0.onSynchronize = { if getpid() != parent { _exit(7) } } }
                    let child = fork()
                    if child == 0 {
                        Self.exitOnAlarm(after: 20)
                        exit(0)
                    }
                    #expect(Self.waitForExit(of: child) == 0)
                }
            }

            /// The parent owns the file lock.
            @Test func anUpdateStartedInTheParentFailsInTheChild() async throws {
                let file = try makeFile()
                await #expect(processExitsWith: .success) { [path = file.path as String] in
                    let fork = try Self.fork("fork")
                    let store = UserDefault(
                        DefaultKey("number", default: 0), in: try DefaultsSuite(file: URL(filePath: path))
                    ).store
                    try store.save(0)
                    var child: pid_t = 1
                    do {
                        try store.updateStored { number in
                            child = fork()
                            number = child == 0 ? 2 : 1
                            if child == 0 { Self.exitOnAlarm(after: 20) }
                        }
                    } catch {
                        let reason = (error as? DefaultsError)?.reason
                        let isClear = reason?.contains("the write began in the parent process") == true
                        _exit(child == 0 && isClear ? 0 : 1)
                    }
                    if child == 0 { _exit(2) }
                    #expect(Self.waitForExit(of: child) == 0)
                    #expect(store.get() == 1)
                }
                try FileManager.default.removeItem(at: file.deletingLastPathComponent())
            }

            /// A child of `_Fork` shares the file lock with its parent, which may be writing.
            @Test func theEndOfAnUpdateInAChildKeepsTheLockOfTheParent() async throws {
                let file = try makeFile()
                await #expect(processExitsWith: .success) { [path = file.path as String] in
                    let fork = try Self.fork("_Fork")
                    let store = UserDefault(
                        DefaultKey("number", default: 0), in: try DefaultsSuite(file: URL(filePath: path))
                    ).store
                    try store.save(0)
                    let file = try File.existingDirectory(URL(filePath: path).deletingLastPathComponent().path)
                        .file("test.defaults", .readOnly)
                    var child: pid_t = 1
                    try? store.updateStored { number in
                        child = fork()
                        if child == 0 {
                            Self.exitOnAlarm(after: 20)
                            throw CancellationError()
                        }
                        _ = Self.waitForExit(of: child)
                        #expect(flock(file.descriptor, LOCK_EX | LOCK_NB) != 0)
                        number = 1
                    }
                    if child == 0 { _exit(0) }
                    #expect(store.get() == 1)
                }
                try FileManager.default.removeItem(at: file.deletingLastPathComponent())
            }

            /// `_Fork` runs no handlers, and the child shares the lock of the file that its parent
            /// has open.
            @Test func aChildWithoutForkHandlersSharesTheFileWithItsParent() async throws {
                let file = try makeFile()
                await #expect(processExitsWith: .success) { [path = file.path as String] in
                    let fork = try Self.fork("_Fork")
                    let store = UserDefault(
                        DefaultKey("number", default: 0), in: try DefaultsSuite(file: URL(filePath: path))
                    ).store
                    try store.save(0)
                    let child = fork()
                    if child == 0 { Self.exitOnAlarm(after: 60) }
                    var failures = 0
                    for _ in 0..<5_000 where (try? store.updateStored { $0? += 1 }) == nil { failures += 1 }
                    if child == 0 { _exit(failures == 0 ? 0 : 1) }
                    #expect(Self.waitForExit(of: child) == 0)
                    #expect(failures == 0)
                    #expect(store.get() == 10_000)
                }
                try FileManager.default.removeItem(at: file.deletingLastPathComponent())
            }

            /// Without `/proc`, nothing can show what the disk holds. The flush of a file that
            /// cannot be replaced must still succeed.
            @Test(.enabled(if: geteuid() == 0, "chroot needs root"))
            func aFileThatCannotBeCompactedIsFlushedWithoutProof() async throws {
                let file = try makeFile()
                let folder = file.deletingLastPathComponent()
                let key = DefaultKey("number", default: 0)
                for number in 1...2 {
                    // Write after the records that were flushed when the file was created.
                    try UserDefault(key, in: DefaultsSuite(backend: FileBackend(path: file.path))).store.save(number)
                }
                try #require(chown(file.path, 65_534, 65_534) == 0 && chmod(folder.path, 0o555) == 0)
                await #expect(processExitsWith: .success) { [root = folder.path as String] in
                    #expect(chroot(root) == 0 && chdir("/") == 0 && setgid(65_534) == 0 && setuid(65_534) == 0)
                    let key = DefaultKey("number", default: 0)
                    let suite = DefaultsSuite(backend: FileBackend(path: "/test.defaults"))
                    #expect(throws: Never.self) { try UserDefault(key, in: suite).store.save(3) }
                    #expect(throws: Never.self) { try suite.synchronize() }
                    let immediate = DefaultsSuite(
                        backend: FileBackend(path: "/test.defaults", durability: .immediate))
                    #expect(throws: Never.self) { try UserDefault(key, in: immediate).store.save(4) }
                    #expect(suite[key] == 4)
                }
                try FileManager.default.removeItem(at: folder)
            }

            /// Another thread may print while the file is opened.
            @Test func closedStandardDescriptorsAreNeverOpenedBriefly() async throws {
                let file = try makeFile()
                await #expect(processExitsWith: .success) { [path = file.path as String] in
                    // Create the file first, because this call also uses a low descriptor.
                    _ = FileManager.default.createFile(atPath: path, contents: Data())
                    let directory = try File.existingDirectory(
                        URL(filePath: path).deletingLastPathComponent().path)
                    let (isOver, isPrinting, written) = (Guarded(false), Guarded(false), Guarded(0))
                    let thread = Thread {
                        isPrinting.withLock { $0 = true }
                        while !isOver.withLock({ $0 }) {
                            for _ in 0..<100 where write(2, "printed", 7) > 0 { written.withLock { $0 += 1 } }
                        }
                    }
                    close(2)
                    thread.start()
                    while !isPrinting.withLock({ $0 }) { usleep(1_000) }
                    for _ in 0..<5_000 { _ = try directory.file("test.defaults", .readWrite) }
                    isOver.withLock { $0 = true }
                    while !thread.isFinished { usleep(1_000) }
                    #expect(written.withLock { $0 } == 0)
                }
                try FileManager.default.removeItem(at: file.deletingLastPathComponent())
            }

            /// A process may be started without standard input, output or error. Its output must
            /// not reach the settings.
            @Test(arguments: 0..<8)
            func closedStandardDescriptorsNeverBecomeTheSettingsFile(closed: Int) async throws {
                let file = try makeFile()
                await #expect(processExitsWith: .success) { [path = file.path as String, closed = closed as Int] in
                    for descriptor in 0..<3 where closed & 1 << descriptor != 0 { close(Int32(descriptor)) }
                    let suite = try DefaultsSuite(file: URL(filePath: path))
                    let line = "printed by a program that does not know that its output is closed\n"
                    for number in 1...3 {
                        suite[DefaultKey("number-\(number)", default: 0)] = number
                        for descriptor in 0..<3 as Range<Int32> { _ = write(descriptor, line, line.utf8.count) }
                        try suite.synchronize()
                    }
                }
                let inspection = try SettingsFileInspection(file: URL(filePath: file.path))
                #expect(inspection.problems == [])
                #expect(inspection.keys == ["number-1", "number-2", "number-3"])
                try FileManager.default.removeItem(at: file.deletingLastPathComponent())
            }
        #endif
    }
#endif
