import Foundation
import TestSupport
import Testing

@testable import SettingsFile
@testable import SettingsFileInspection
@testable import TypedDefaults

/// Tests when files and folders are created, and with which permissions.
@Suite(.ownThreads) struct FileCreationTests: SettingsFileTests {
    #if os(macOS) || os(Linux)
        /// A `umask` may withhold rights even from the owner. Each case runs in a process of its
        /// own, as a user other than root, because permissions do not restrict root.
        @Test(.ownFile, arguments: [0o777, 0o277, 0o477, 0o077, 0o000] as [mode_t])
        func theOwnerCanUseFilesAndFoldersWithAnyUmask(mask: mode_t) async throws {
            if geteuid() == 0 { try #require(chown(ownFolder, 65_534, 65_534) == 0) }
            await #expect(processExitsWith: .success) { [path = ownFolder as String, mask = mask as mode_t] in
                if geteuid() == 0 { #expect(setgid(65_534) == 0 && setuid(65_534) == 0) }
                _ = umask(mask)
                let file = "\(path)/one/two/test.defaults"
                let number = DefaultKey("number", default: 0)
                let suite = DefaultsSuite(backend: FileBackend(path: file))
                let failures = Failures(of: suite)
                // The file is created, then replaced.
                fill(suite, 20_000..<20_006)
                suite[number] = 1
                try suite.synchronize()
                #expect(try FileInspection(file: URL(filePath: file)).epoch == 1)
                #expect(DefaultsSuite(backend: FileBackend(path: file))[number] == 1)
                #expect(failures.all.isEmpty)
                for (name, mode) in [("one", 0o700), ("one/two", 0o700), ("one/two/test.defaults", 0o600)] {
                    let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
                    #expect(attributes[.posixPermissions] as? Int == mode, "\(name)")
                }
            }
        }
    #endif

    /// Otherwise each observer would look at the file for all of them.
    @Test(.ownFile, arguments: ["", "/one/two"]) func aMissingFileHasAGeneration(folder: String) throws {
        let path = "\(ownFolder)\(folder)/missing.defaults"
        let backend = FileBackend(path: path)
        let generation = try #require(backend.generation)
        #expect(try backend.value(forKey: "a") == nil)
        #expect(try backend.changes(since: 0).generation == generation)
        #expect(backend.generation == generation)
        try FileBackend(path: path).write([("a", 1)])
        #expect(backend.generation != generation)
        #expect(try backend.changes(since: generation).keys == nil)
        #expect(try backend.value(forKey: "a") == 1)
    }

    @Test(arguments: [ENOSPC, EDQUOT])
    func aQuotaCountsAsAFullDisk(code: Int32) { #expect(FileFailure(call: "write", code: code).isDiskFull) }
}
