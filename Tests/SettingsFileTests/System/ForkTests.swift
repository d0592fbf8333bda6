#if canImport(Glibc)
    import TestSupport
    import Foundation
    import Glibc
    import Testing

    @testable import SettingsFile
    @testable import SettingsFileInspection
    @testable import TypedDefaults

    /// Tests processes that are forked or started in unusual ways. Each test runs in a process of
    /// its own.
    @Suite(.ownFile) struct ForkTests {
        private static func waitForExit(of child: pid_t) -> Int32 {
            var status: Int32 = -1
            while waitpid(child, &status, 0) < 0 && errno == EINTR {}
            return status
        }

        /// Returns an open settings file that the process has created.
        private static func createFile(_ path: String) throws -> SettingsFile {
            let settings = SettingsFile(path: path)
            try settings.beginWrite()
            settings.endWrite()
            return settings
        }

        /// Returns the store of a number, which is 0.
        private static func storeOfZero(_ path: String) throws -> AnyStore<Int> {
            let suite = try DefaultsSuite(file: URL(filePath: path))
            let store = UserDefault(DefaultKey("number", default: 0), in: suite).store
            try store.save(0)
            return store
        }

        #if os(macOS) || os(Linux)
            /// A server calls `daemon` after it has read its settings.
            @Test func aDaemonReadsAndWritesLikeItsParent() async throws {
                let file = URL(filePath: ownFile)
                let other = try DefaultsSuite(file: file)
                let isFinished = DispatchSemaphore(value: 0)
                let end = DefaultKey("end", default: 0)
                let token = UserDefault(end, in: other).store.observe { _ in isFinished.signal() }
                await #expect(processExitsWith: .success) { [path = ownFile as String] in
                    let suite = try DefaultsSuite(file: URL(filePath: path))
                    let store = UserDefault(DefaultKey("number", default: 0), in: suite).store
                    for _ in 0..<100 { try store.updateStored { $0 = ($0 ?? 0) + 1 } }
                    // The parent exits in here.
                    guard daemon(1, 0) == 0 else { _exit(1) }
                    exitOnAlarm()
                    let inherited = store.get()
                    for _ in 0..<100 { try store.updateStored { $0 = ($0 ?? 0) + 1 } }
                    suite[DefaultKey("inherited", default: 0)] = inherited
                    suite[DefaultKey("end", default: 0)] = 1
                    _exit(0)
                }
                #expect(isFinished.wait(timeout: .now() + 20) == .success)
                token.cancel()
                #expect(other[DefaultKey("number", default: 0)] == 200)
                #expect(other[DefaultKey("inherited", default: 0)] == 100)
            }

            /// Neither a deinit nor the exit of a child changes what its parent has open.
            @Test func theEndOfAChildLeavesTheFilesOfItsParentAlone() async {
                await #expect(processExitsWith: .success) { [path = ownFile as String] in
                    let folder = try File.existingDirectory(URL(filePath: path).deletingLastPathComponent().path)
                    var suite: DefaultsSuite? = try DefaultsSuite(file: URL(filePath: path))
                    // Also schedules a flush, which is pending when the process forks.
                    suite?[DefaultKey("number", default: 0)] = 1
                    var backend: SettingsFile? = SettingsFile(path: path)
                    try backend?.beginWrite()
                    // Without the word of the last flush, which may be written at any time.
                    func contents() -> Data? {
                        FileManager.default.contents(atPath: path).map { $0.prefix(48) + $0.dropFirst(56) }
                    }
                    let bytes = contents()
                    let child = forkProcess()
                    if child == 0 {
                        backend?.endWrite()
                        (suite, backend) = (nil, nil)
                        exit(0)
                    }
                    #expect(Self.waitForExit(of: child) == 0)
                    #expect(try !folder.file("test.defaults", .readWrite).tryLock())
                    #expect(contents() == bytes)
                    backend?.endWrite()
                    #expect(suite?[DefaultKey("number", default: 0)] == 1)
                }
            }

            /// The thread of the watch does not exist in a child, which starts its own.
            @Test func aChildObservesOtherProcesses() async {
                await #expect(processExitsWith: .success) { [path = ownFile as String] in
                    let suite = try DefaultsSuite(file: URL(filePath: path))
                    let store = UserDefault(DefaultKey("number", default: 0), in: suite).store
                    store.set(1)
                    let received = DispatchSemaphore(value: 0)
                    let token = store.observe { change in if change.newValue == 2 { received.signal() } }
                    var used: [Int32] = [0, 0]
                    #expect(pipe(&used) == 0)
                    let child = forkProcess()
                    if child == 0 {
                        guard store.get() == 1 else { _exit(1) }
                        write(used[1], "1", 1)
                        received.wait()
                        _exit(0)
                    }
                    var byte: UInt8 = 0
                    #expect(read(used[0], &byte, 1) == 1)
                    store.set(2)
                    #expect(Self.waitForExit(of: child) == 0)
                    token.cancel()
                }
            }

            /// A thread of the parent that flushes the file does not exist in a child.
            @Test func aChildDoesNotWaitForAFlushOfItsParent() async {
                await #expect(processExitsWith: .success) { [path = ownFile as String] in
                    let settings = try Self.createFile(path)
                    settings.withState { $0.flush = [] }
                    let child = forkProcess()
                    if child == 0 { _exit((try? settings.synchronize()) == nil ? 1 : 0) }
                    #expect(Self.waitForExit(of: child) == 0)
                }
            }

            /// The flush was meant for the file that the parent has open.
            @Test func aChildForkedInAHandlerOfAFlushFlushesItsOwnFile() async {
                await #expect(processExitsWith: .success) { [path = ownFile as String] in
                    let settings = try Self.createFile(path)
                    // Another program puts a file with damage in its place, which is reported.
                    var bytes = try #require(FileManager.default.contents(atPath: path))
                    bytes = bytes.prefix(RecordFormat.headerLength) + "damage! ".utf8
                    bytes[RecordFormat.committedOffset] = UInt8(bytes.count)
                    try bytes.write(to: URL(filePath: path), options: .atomic)
                    let child = Guarded<pid_t?>(nil)
                    settings.attach { _ in child.withLock { $0 = forkProcess() } }
                    let isFlushed = (try? settings.synchronize()) != nil
                    if child.withLock({ $0 }) == 0 { _exit(isFlushed ? 0 : 1) }
                    #expect(isFlushed)
                    #expect(Self.waitForExit(of: try #require(child.withLock { $0 })) == 0)
                }
            }

            /// A child that waits for a lock of its parent's threads forever must not keep the file
            /// locked.
            @Test func aChildThatHangsDoesNotKeepTheFileLocked() async {
                await #expect(processExitsWith: .success) { [path = ownFile as String] in
                    let suite = try DefaultsSuite(file: URL(filePath: path))
                    let store = UserDefault(DefaultKey("number", default: 0), in: suite).store
                    try store.save(1)
                    let (isHeld, isForked) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                    let isStarted = startThread {
                        suite.core.state.withLock { _ in
                            isHeld.signal()
                            isForked.wait()
                        }
                    }
                    #expect(isStarted)
                    isHeld.wait()
                    let child = forkProcess()
                    if child == 0 {
                        try? store.updateStored { $0 = ($0 ?? 0) + 1 }
                        _exit(1)
                    }
                    isForked.signal()
                    // The child hangs if it stays in the same system call.
                    var (isWaiting, place) = (0, "")
                    while isWaiting < 20 {
                        let now = (try? String(contentsOfFile: "/proc/\(child)/syscall", encoding: .utf8)) ?? ""
                        isWaiting = now == place && now.first?.isNumber == true ? isWaiting + 1 : 0
                        place = now
                        usleep(5_000)
                    }
                    #expect(throws: Never.self) { try store.save(2) }
                    kill(child, SIGKILL)
                    _ = Self.waitForExit(of: child)
                }
            }

            /// A new thread of a child can have the `pthread_t` of a thread of the parent.
            @Test func aThreadOfAChildIsNotTakenForOneOfItsParent() async {
                await #expect(processExitsWith: .success) {
                    let lock = RecursionCheckingLock()
                    let (isHeld, isForked) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                    let isStarted = startThread {
                        _ = try? lock.acquire(timeout: .zero)
                        isHeld.signal()
                        isForked.wait()
                        lock.release()
                    }
                    #expect(isStarted)
                    isHeld.wait()
                    let child = forkProcess()
                    if child == 0 {
                        _ = startThread {
                            do throws(RecursionCheckingLock.AcquireError) { try lock.acquire(timeout: .zero) } catch {
                                _exit(error == .timedOut ? 0 : 1)
                            }
                            _exit(2)
                        }
                        while true { pause() }
                    }
                    #expect(Self.waitForExit(of: child) == 0)
                    isForked.signal()
                }
            }

            /// Dispatch does not run in a child whose parent has used it, and pending work of the
            /// parent stays in the parent.
            @Test func aChildSynchronizesInTheBackground() async {
                await #expect(processExitsWith: .success) {
                    let key = DefaultKey("number", default: 0)
                    let first = SpyBackend(synchronizationDelay: .milliseconds(1))
                    let suite = DefaultsSuite(backend: first)
                    suite[key] = 1
                    while first.state.withLock({ $0.synchronizations }) == 0 { usleep(1_000) }
                    // This work is pending when the process forks.
                    let backend = SpyBackend(synchronizationDelay: .seconds(2))
                    let other = DefaultsSuite(backend: backend)
                    other[key] = 1
                    let child = forkProcess()
                    if child == 0 {
                        other[key] = 2
                        while backend.state.withLock({ $0.synchronizations }) == 0 { usleep(1_000) }
                        _exit(0)
                    }
                    #expect(Self.waitForExit(of: child) == 0)
                }
            }

            /// A child may have other privileges than its parent, and the parent runs the work
            /// itself.
            @Test func theExitOfAChildLeavesPendingWorkToItsParent() async {
                await #expect(processExitsWith: .success) {
                    let backend = SpyBackend(synchronizationDelay: .seconds(3_600))
                    let suite = DefaultsSuite(backend: backend)
                    suite[DefaultKey("number", default: 0)] = 1
                    let parent = getpid()
                    backend.state.withLock { $0.onSynchronize = { if getpid() != parent { _exit(7) } } }
                    let child = forkProcess()
                    if child == 0 { exit(0) }
                    #expect(Self.waitForExit(of: child) == 0)
                }
            }

            /// The parent owns the file lock.
            @Test func anUpdateStartedInTheParentFailsInTheChild() async {
                await #expect(processExitsWith: .success) { [path = ownFile as String] in
                    let store = try Self.storeOfZero(path)
                    var child: pid_t = 1
                    do {
                        try store.updateStored { number in
                            child = forkProcess()
                            number = child == 0 ? 2 : 1
                        }
                    } catch {
                        let reason = (error as? DefaultsError)?.reason
                        let isClear = reason?.contains("the write began before") == true
                        _exit(child == 0 && isClear ? 0 : 1)
                    }
                    if child == 0 { _exit(2) }
                    #expect(Self.waitForExit(of: child) == 0)
                    #expect(store.get() == 1)
                }
            }

            /// The value that the child would store is the one that the parent has stored since.
            @Test func anUpdateStartedInTheParentFailsInTheChildEvenIfItsValueIsStored() async {
                await #expect(processExitsWith: .success) { [path = ownFile as String] in
                    let store = try Self.storeOfZero(path)
                    var ends: [Int32] = [0, 0]
                    #expect(pipe(&ends) == 0)
                    var child: pid_t = 1
                    do {
                        try store.updateStored { number in
                            child = forkProcess()
                            number = 1
                            guard child == 0 else { return }
                            var byte: UInt8 = 0
                            _ = read(ends[0], &byte, 1)
                        }
                    } catch {
                        _exit(child == 0 ? 0 : 1)
                    }
                    if child == 0 { _exit(2) }
                    _ = write(ends[1], "x", 1)
                    #expect(Self.waitForExit(of: child) == 0)
                }
            }

            /// A child shares the file lock with its parent, which may be writing.
            @Test func theEndOfAnUpdateInAChildKeepsTheLockOfTheParent() async {
                await #expect(processExitsWith: .success) { [path = ownFile as String] in
                    let store = try Self.storeOfZero(path)
                    let file = try File.existingDirectory(URL(filePath: path).deletingLastPathComponent().path)
                        .file("test.defaults", .readOnly)
                    var child: pid_t = 1
                    try? store.updateStored { number in
                        child = forkProcess()
                        if child == 0 { throw CancellationError() }
                        _ = Self.waitForExit(of: child)
                        #expect(flock(file.descriptor, LOCK_EX | LOCK_NB) != 0)
                        number = 1
                    }
                    if child == 0 { _exit(0) }
                    #expect(store.get() == 1)
                }
            }

            /// Earlier records may be lost, but a service in a read-only folder must be able to
            /// save. Its flushes prove nothing to other processes.
            @Test(.enabled(if: geteuid() == 0, "chroot needs root"))
            func aFileThatCannotBeCompactedIsFlushedWithoutProof() async throws {
                let (file, folder) = (URL(filePath: ownFile), URL(filePath: ownFolder))
                let key = DefaultKey("number", default: 0)
                for number in 1...2 {
                    // Write after the records that were flushed when the file was created. A flush
                    // in the background would replace the file by one of this user.
                    let backend = FileBackend(path: file.path, flushDelay: .seconds(3_600))
                    try UserDefault(key, in: DefaultsSuite(backend: backend)).store.save(number)
                }
                try #require(chown(file.path, 65_534, 65_534) == 0 && chmod(folder.path, 0o555) == 0)
                await #expect(processExitsWith: .success) { [root = ownFolder as String] in
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
            }

            /// A process may be started without standard input, output or error. Its output must
            /// not reach the settings.
            @Test(arguments: 0..<8)
            func closedStandardDescriptorsNeverBecomeTheSettingsFile(closed: Int) async throws {
                let file = URL(filePath: ownFile)
                await #expect(processExitsWith: .success) { [path = ownFile as String, closed = closed as Int] in
                    for descriptor in 0..<3 where closed & 1 << descriptor != 0 { close(Int32(descriptor)) }
                    let suite = try DefaultsSuite(file: URL(filePath: path))
                    let line = "printed by a program that does not know that its output is closed\n"
                    for number in 1...3 {
                        suite[DefaultKey("number-\(number)", default: 0)] = number
                        for descriptor in 0..<3 as Range<Int32> { _ = write(descriptor, line, line.utf8.count) }
                        try suite.synchronize()
                    }
                }
                let inspection = try FileInspection(file: URL(filePath: file.path))
                #expect(inspection.problems == [])
                #expect(inspection.keys == ["number-1", "number-2", "number-3"])
            }
        #endif
    }
#endif
