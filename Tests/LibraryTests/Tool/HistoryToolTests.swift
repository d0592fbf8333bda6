#if os(macOS) || os(Linux)
    import Foundation
    import TestSupport
    import Testing
    import TypedDefaults

    /// The tool has no migrations, so it refuses values of another version.
    struct HistoryToolTests {
        private static let releases: [VolumeRelease?] = VolumeRelease.allCases + [nil]

        /// Exports of every version and text by hand, into suites of every version and a new one.
        /// Every value is what a user of the newest release sees, or nothing changes.
        @Test(arguments: releases, [true, false])
        func whatIsImportedIsMigratedOnce(release: VolumeRelease?, isReplacing: Bool) throws {
            try CommandLineTool.run { tool throws in
                for (number, export) in Self.releases.enumerated() {
                    let name = "camera" + ["a", "b", "c", "d"][number]
                    let suite = try DefaultsSuite(file: tool.file(name))
                    if let release {
                        try VolumeRelease.one.choose(["left": 7, "right": 5], in: suite)
                        try suite.migrate(release.migrator)
                    }
                    var text = (release ?? .three).handWritten(["left": 3])
                    if let export {
                        let source = try DefaultsSuite(file: tool.file("source"))
                        try VolumeRelease.one.choose(["left": 3], in: source)
                        try source.migrate(export.migrator)
                        text = try tool("export", "source").output
                        try source.removeAll(includingHistory: true)
                    }
                    let option = isReplacing ? ["--replace"] : []
                    let outcome = try tool(["import", name, "-"] + option, input: text)
                    let isRefused = !isReplacing && export != nil && release != nil && export != release
                    #expect(outcome.code == (isRefused ? 3 : 0), "\(outcome.errors)")
                    #expect(outcome.errors.contains("values have been through") == isRefused)
                    let isUnknown = export == nil && (release == nil || release == .one)
                    #expect(outcome.errors.contains("history of migrations") == isUnknown)
                    try suite.migrate(VolumeRelease.three.migrator)
                    let volumes = try VolumeRelease.three.volumes(suite)
                    if isRefused {
                        #expect(volumes == ["left": 7, "right": 5])
                    } else if !isUnknown {
                        #expect(volumes["left"] == 3)
                        #expect(volumes["right"] == (isReplacing || release == nil ? nil : 5))
                    }
                }
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
