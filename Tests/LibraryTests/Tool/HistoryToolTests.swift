#if os(macOS) || os(Linux)
    import Foundation
    import TestSupport
    import Testing
    import TypedDefaults

    /// The tool has no migrations, so it refuses values of another version.
    struct HistoryToolTests {
        /// `RandomHistoriesTests` shows what an import makes of each history.
        @Test func anImportMixesNoVersions() throws {
            try CommandLineTool.run { tool throws in
                let (old, new) = try (DefaultsSuite(file: tool.file("old")), DefaultsSuite(file: tool.file("new")))
                try VolumeRelease.one.choose(["left": 3], in: old)
                try VolumeRelease.one.choose(["left": 7], in: new)
                try new.migrate(VolumeRelease.two.migrator)
                let export = try tool("export", "old").output
                let refused = try tool("import", "new", "-", input: export)
                #expect(refused.code == 3 && refused.errors.contains("values have been through"))
                #expect(try VolumeRelease.two.volumes(new) == ["left": 7])
                #expect(try tool("import", "new", "-", "--replace", input: export).code == 0)
                try new.migrate(VolumeRelease.two.migrator)
                #expect(try VolumeRelease.two.volumes(new) == ["left": 3])
                let byHand = try tool("import", "other", "-", input: VolumeRelease.two.handWritten(["left": 3]))
                #expect(byHand.code == 0 && byHand.errors.contains("history of migrations"))
            }
        }

        @Test func theHistoryIsInExportsAndInInfo() throws {
            try CommandLineTool.run { tool throws in
                let suite = try DefaultsSuite(file: tool.file("camera"))
                try VolumeRelease.one.choose(["left": 3], in: suite)
                try suite.migrate(VolumeRelease.two.migrator)
                try suite.scoped("user/").migrate(VolumeRelease.two.migrator)
                #expect(try tool("list", "camera").lines == [#""volume/left" = 30"#])
                #expect(try tool("info", "camera").lines.contains("migrated: “2.0: in percent”"))
                #expect(try tool("info", "camera").lines.contains("keys: 1"))
                #expect(try tool("get", "camera", "TypedDefaults-migrations").code == 1)
                #expect(try tool("set", "camera", "TypedDefaults-migrations", "[]").code == 3)
                for form in ["--json", "--plist"] {
                    let export = try tool("export", "camera", form).output
                    #expect(try tool("import", "copy", "-", input: export).code == 0)
                    let copy = try DefaultsSuite(file: tool.file("copy"))
                    #expect(try copy.migrate(VolumeRelease.two.migrator) == [])
                    #expect(try copy.scoped("user/").migrate(VolumeRelease.two.migrator) == [])
                    try copy.removeAll(includingHistory: true)
                }
            }
        }
    }
#endif
