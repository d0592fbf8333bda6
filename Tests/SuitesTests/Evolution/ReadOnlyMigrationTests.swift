import TestSupport
import Testing

@testable import TypedDefaults

#if canImport(AppleFoundation)
    import AppleFoundation
#else
    import Foundation
#endif

// The article *Changing your settings* shows the call that this function makes.

func settings(
    in suite: DefaultsSuite, migrating migrator: DefaultsMigrator
) throws -> DefaultsSuite {
    guard suite.isReadOnly else {
        try suite.migrate(migrator)
        return suite
    }
    let copy = DefaultsSuite.inMemory()
    try copy.replaceContents(with: suite.contents(), migrating: migrator)
    return copy
}

#if os(macOS) || os(Linux)
    /// A process that may not write the folder. Root may, so it becomes another user.
    @Suite(.ownThreads) struct ReadOnlyMigrationTests {
        private static func makeReadOnlyFile() throws -> URL {
            let file = try makeFile()
            let folder = file.deletingLastPathComponent()
            let suite = try DefaultsSuite(file: file)
            try VolumeRelease.one.choose(["left": 7], in: suite)
            try suite.synchronize()
            if geteuid() == 0 { #expect(chown(file.path, 65_534, 65_534) == 0) }
            #expect(chmod(file.path, 0o444) == 0 && chmod(folder.path, 0o555) == 0)
            if geteuid() == 0 { #expect(setgid(65_534) == 0 && setuid(65_534) == 0) }
            return file
        }

        @Test func oldSettingsAreReadFromAMigratedCopy() async {
            await #expect(processExitsWith: .success) {
                let suite = DefaultsSuite(backend: FileBackend(path: try Self.makeReadOnlyFile().path))
                #expect(suite.isReadOnly)
                #expect(fails(with: .unavailable) { try suite.migrate(VolumeRelease.three.migrator) })
                let copy = try settings(in: suite, migrating: VolumeRelease.three.migrator)
                let volumes = (try VolumeRelease.three.volumes(copy), try VolumeRelease.one.volumes(suite))
                #expect(volumes == (["left": 7], ["left": 7]))
            }
        }
    }
#endif
