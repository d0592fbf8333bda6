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
    @Suite(.ownFile, .ownThreads) struct ForkTests {
        private static func waitForExit(of child: pid_t) -> Int32 {
            var status: Int32 = -1
            while waitpid(child, &status, 0) < 0 && errno == EINTR {}
            return status
        }

        /// Returns the store of a number, which is 0.
        private static func storeOfZero(_ path: String) throws -> AnyStore<Int> {
            let suite = try DefaultsSuite(file: URL(filePath: path))
            let store = UserDefault(DefaultKey("number", default: 0), in: suite).store
            try store.save(0)
            return store
        }

        #if os(macOS) || os(Linux)
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
