#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    @testable import SettingsFile
    @testable import SettingsFileInspection
    @testable import TypedDefaults

    /// Tests whose files and folders are used and created. They run as root, which may do anything,
    /// and as the user 65534.
    @Suite(.ownThreads, .enabled(if: geteuid() == 0, "needs root"))
    struct OwnershipTests: SettingsFileTests {
        private let user: uid_t = 65_534

        private func withFolder(of owner: uid_t, _ mode: mode_t = 0o700, _ body: (URL) throws -> Void) throws {
            try withFile { file in
                let folder = file.deletingLastPathComponent()
                #expect(chmod(folder.path, mode) == 0 && chown(folder.path, owner, owner) == 0)
                try body(folder)
            }
        }

        @Test(arguments: ["", "a/b/"]) func nothingIsCreatedInTheFolderOfAnotherUser(_ path: String) throws {
            try withFolder(of: user) { folder in
                let suite = open(folder.appending(path: "\(path)test.defaults"))
                let error = #expect(throws: DefaultsError.self) { try UserDefault(number, in: suite).store.save(1) }
                #expect(error?.kind == .unavailable)
                #expect(error?.reason.contains("would be created in a folder of the user 65534; run") == true)
                suite.observe(number) { _ in }.cancel()
                #expect(suite[number] == 0)
                let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                #expect(names == [])
            }
        }

        @Test func anOwnFileInTheFolderOfAnotherUserIsWritten() throws {
            try withFolder(of: 0) { folder in
                let file = folder.appending(path: "test.defaults")
                open(file)[number] = 1
                #expect(chown(folder.path, user, user) == 0)
                try UserDefault(number, in: open(file)).store.save(2)
                #expect(open(file)[number] == 2)
            }
        }

        /// The policy of an administrator.
        @Test(.ownFile) func aFileThatOnlyRootCanWriteIsReadAndNotWritten() async throws {
            let (file, folder) = (URL(filePath: ownFile), URL(filePath: ownFolder))
            let owner = open(file)
            owner[DefaultKey("number", default: 0)] = 9
            try owner.synchronize()
            // Damage that its owner would cut off.
            try overwrite(file, at: FileInspection(file: file).end, with: [1, 2, 3])
            let bytes = try Data(contentsOf: file)
            #expect(chmod(folder.path, 0o755) == 0 && chmod(file.path, 0o644) == 0)
            #expect(symlink(file.path, folder.appending(path: "link").path) == 0)
            await #expect(processExitsWith: .success) { [path = ownFile as String] in
                #expect(setgid(65_534) == 0 && setuid(65_534) == 0)
                let link = URL(filePath: path).deletingLastPathComponent().appending(path: "link").path
                for path in [path, link] {
                    let suite = DefaultsSuite(backend: FileBackend(path: path))
                    let setting = UserDefault(DefaultKey("number", default: 0), in: suite)
                    #expect(try setting.store.load() == 9)
                    try suite.checkReadability()
                    let error = #expect(throws: DefaultsError.self) { try setting.store.save(1) }
                    #expect(error?.reason.contains("it is read-only for this process") == true)
                }
            }
            #expect(try Data(contentsOf: file) == bytes)
            // Others could write this one.
            #expect(chmod(file.path, 0o664) == 0)
            await #expect(processExitsWith: .success) { [path = ownFile as String] in
                #expect(setgid(65_534) == 0 && setuid(65_534) == 0)
                let suite = DefaultsSuite(backend: FileBackend(path: path))
                #expect(fails(with: .unavailable) { _ = try suite.read(DefaultKey("number", default: 0)) })
            }
        }

        /// Otherwise, a compaction would take the policy of an administrator from all users.
        @Test(arguments: [0o600, 0o640, 0o644, 0o666]) func aCompactionKeepsTheReadersOfAFileOfRoot(mode: Int) throws {
            try withFolder(of: 0, 0o755) { folder in
                let file = folder.appending(path: "test.defaults")
                let suite = open(file)
                suite[number] = 1
                #expect(chmod(file.path, mode_t(mode)) == 0 && chown(file.path, 0, user) == 0)
                let before = try FileManager.default.attributesOfItem(atPath: file.path)
                fill(suite)
                try suite.synchronize()
                let after = try FileManager.default.attributesOfItem(atPath: file.path)
                #expect(after[.systemFileNumber] as? Int != before[.systemFileNumber] as? Int)
                #expect(after[.posixPermissions] as? Int == mode & 0o644)
                #expect(after[.groupOwnerAccountID] as? Int == (mode == 0o600 ? Int(getegid()) : Int(user)))
                #expect(try FileInspection(file: file).problems == [])
            }
        }

        @Test func aFolderOfAllUsersIsRefusedWithAWayOut() throws {
            try withFolder(of: 0, 0o777) { folder in
                let suite = open(folder.appending(path: "test.defaults"))
                let error = #expect(throws: DefaultsError.self) { _ = try suite.keys() }
                #expect(error?.reason.contains("use a subfolder, such as \(folder.path)/settings") == true)
                open(folder.appending(path: "settings/test.defaults"))[number] = 1
            }
        }

        @Test(.ownFile) func anUnreadableFileOfAnotherUserIsNamedSo() async throws {
            try FileBackend(path: ownFile).write([("number", 1)])
            #expect(chown(ownFolder, 65_534, 65_534) == 0)
            for owner in [UInt32(0), 65_534] {
                #expect(chmod(ownFile, 0) == 0 && chown(ownFile, owner, owner) == 0)
                await #expect(processExitsWith: .success) { [path = ownFile as String, owner = owner as UInt32] in
                    #expect(setgid(65_534) == 0 && setuid(65_534) == 0)
                    let suite = DefaultsSuite(backend: FileBackend(path: path))
                    let error = #expect(throws: DefaultsError.self) { try suite.checkReadability() }
                    #expect(error?.reason.contains("belongs to the user") == (owner == 0), "\(error?.reason ?? "")")
                }
            }
        }
    }
#endif
