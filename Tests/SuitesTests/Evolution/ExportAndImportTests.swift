import TestSupport
import Testing
import TypedDefaults

#if canImport(AppleFoundation)
    import AppleFoundation
#else
    import Foundation
#endif

// The article *Moving, exporting and importing* shows these calls.

func export(_ suite: DefaultsSuite, to file: URL) throws {
    try suite.contents().json().write(to: file)
}

/// Replaces all settings with those in the file.
func restore(
    _ file: URL, in suite: DefaultsSuite, migrating migrator: DefaultsMigrator
) throws {
    let contents = try SuiteContents(json: Data(contentsOf: file))
    try suite.replaceContents(with: contents, migrating: migrator)
}

/// Adds the settings in the file to the others.
func add(
    _ file: URL, to suite: DefaultsSuite, migrating migrator: DefaultsMigrator
) throws {
    let contents = try SuiteContents(json: Data(contentsOf: file))
    try suite.merge(contents, migrating: migrator)
}

struct ExportAndImportTests {
    @Test(.ownFile, arguments: Backend.allCases) func anExportOfAnEarlierVersionComesBackMigrated(backend: Backend)
        throws
    {
        let file = URL(filePath: ownFile)
        let old = DefaultsSuite.inMemory()
        try VolumeRelease.one.choose(["left": 7], in: old)
        try export(old, to: file)
        try backend.withSuite { suite in
            try suite.migrate(VolumeRelease.three.migrator)
            try VolumeRelease.three.choose(["left": 1, "right": 2], in: suite)
            try add(file, to: suite, migrating: VolumeRelease.three.migrator)
            #expect(try VolumeRelease.three.volumes(suite) == ["left": 7, "right": 2])
            try restore(file, in: suite, migrating: VolumeRelease.three.migrator)
            #expect(try VolumeRelease.three.volumes(suite) == ["left": 7])
            #expect(try suite.migrate(VolumeRelease.three.migrator) == [])
        }
    }
}
