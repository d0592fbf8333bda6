#if os(macOS) || os(Linux)
    import Foundation
    import TestSupport
    import Testing
    import TypedDefaults

    /// Tests what helps a person who types commands: help, suggestions, paths and comparisons.
    struct CommandLineToolUseTests {
        private static let commands = [
            "suites", "path", "list", "get", "set", "remove", "export", "import", "diff", "watch", "info", "check",
            "help",
        ]

        @Test(arguments: commands) func eachCommandHasHelp(command: String) throws {
            try CommandLineTool.run { tool throws in
                #expect(try tool.run(["help"]).text.contains("\n  \(command) "))
                let help = try tool.run(["help", command])
                #expect(help.code == 0 && help.text.hasPrefix("Usage: typed-defaults \(command)"))
                #expect(help.text.contains("Exit codes: 0 done"))
                #expect(help.lines.allSatisfy { $0.count <= 80 })
                #expect(try tool.run([command, "--help"]).text == help.text)
            }
        }

        @Test func theVersionIsASemanticVersion() throws {
            try CommandLineTool.run { tool throws in
                #expect(try tool.run(["--version"]).text.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
            }
        }

        @Test func misspelledNamesAreSuggested() throws {
            try CommandLineTool.run { tool throws in
                try tool("set", "camera", "quality", "1")
                for (arguments, text) in [
                    (["lst", "camera"], "did you mean “list”?"), (["eet", "x"], "did you mean “get” or “set”?"),
                    (["help", "exprot"], "did you mean “export”?"), (["list", "camera", "--jsn"], "mean “--json”?"),
                    (["get", "camera", "qualty"], "did you mean “quality”?"),
                ] { #expect(try tool(arguments).errors.contains(text)) }
                #expect(try !tool("publish", "camera").errors.contains("did you mean"))
            }
        }

        @Test func aPathNamesAPartOfAValue() throws {
            try CommandLineTool.run { tool throws in
                let value = #"{"size": "large", "tags": ["x", {"n": 2.0}], "a.b": 1}"#
                try tool("set", "camera", "config", value)
                for (path, text) in [
                    ("config.size", "\"large\"\n"), ("config.tags.0", "\"x\"\n"), ("config.tags.1.n", "2.0\n"),
                ] { #expect(try tool("get", "camera", path).text == text) }
                for (path, text) in [
                    ("config.sise", "“config” has no part “sise”; did you mean “size”?"),
                    ("config.tags.2", "“config.tags” has no part “2”; it is an array of 2"),
                    ("config.size.x", "“config.size” has no part “x”; it is neither"), ("none.size", "has no key"),
                ] {
                    let outcome = try tool("get", "camera", path)
                    #expect(outcome.code == 1 && outcome.text.isEmpty && outcome.errors.contains(text))
                }
                // The other parts stay.
                for (path, text) in [("config.size", "1"), ("config.tags.1.n", "3.0")] {
                    #expect(try tool("set", "camera", path, text).code == 0)
                }
                #expect(try tool("set", "camera", "config.new.b", "true", "--part").code == 0)
                let json = #"{"a.b": 1, "new": {"b": true}, "size": 1, "tags": ["x", {"n": 3.0}]}"#
                let suite = try DefaultsSuite(file: tool.file("camera"))
                #expect(try suite.contents()["config"]?.jsonText == json)
                // A misspelled name is not stored, at any depth.
                for (path, text) in [
                    ("config.tags.2", "an array of 2"), ("config.size.x", "it is neither"),
                    ("config.sise", "no part “sise”, which --part adds; did you mean “size”?"),
                    ("config.tags.1.m", "no part “m”, which --part adds"), ("config.new.a.b", "no part “a”"),
                ] {
                    let outcome = try tool("set", "camera", path, "1")
                    #expect(outcome.code == 1 && outcome.errors.contains(text))
                }
                #expect(try suite.contents()["config"]?.jsonText == json)
                // A key with that name is used instead.
                try tool("set", "camera", "config.size", "5", "--key")
                #expect(try tool("get", "camera", "config.size").text == "5\n")
                #expect(try tool("set", "camera", "config.size", "6").code == 0)
                #expect(try suite.contents()["config"]?.jsonText == json)
                #expect(try tool("get", "camera", "config.size").text == "6\n")
                #expect(try tool("set", "camera", "config.size", "7", "--part").code == 0)
                #expect(try suite.contents()["config.size"] == 6)
                #expect(try tool("get", "camera", "config.tags.0").text == "\"x\"\n")
                // A key comes first here, too.
                #expect(try tool("remove", "camera", "config.size", "config.new.b", "config.tags.0").code == 0)
                #expect(try suite.contents()["config.size"] == nil)
                let rest = #"{"a.b": 1, "new": {}, "size": 7, "tags": [{"n": 3.0}]}"#
                #expect(try suite.contents()["config"]?.jsonText == rest)
                try tool("set", "camera", "list", "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]")
                #expect(try tool("remove", "camera", "list.0", "list.9", "list.10", "list.0").code == 0)
                #expect(try suite.contents()["list"] == [1, 2, 3, 4, 5, 6, 7, 8, 11])
                let outcome = try tool("remove", "camera", "config.new", "config.sise")
                #expect(outcome.code == 1 && outcome.errors.contains("did you mean “size”?"))
                #expect(try suite.contents()["config"]?.jsonText == rest)
            }
        }

        private struct Limits: DefaultConfig, Equatable {
            static let key = "limits"
            var burst = 1
            var rate = 10
        }

        /// A path whose key is not stored may be a key with dots, or a part of a config whose
        /// defaults count so far.
        @Test func aPathToNothingMustSayWhatItIs() throws {
            try CommandLineTool.run { tool throws in
                let suite = try DefaultsSuite(file: tool.file("server"))
                let refused = try tool("set", "server", "limits.burst", "2")
                #expect(refused.code == 2 && refused.errors.contains("--key") && refused.errors.contains("--part"))
                #expect(try suite.contents().isEmpty)
                #expect(try tool("set", "server", "limits.burst", "2", "--part").code == 0)
                #expect(PersistentStore<Limits>(in: suite).value == Limits(burst: 2, rate: 10))
                #expect(try tool("set", "server", "limits.rate", "20", "--part").code == 0)
                #expect(PersistentStore<Limits>(in: suite).value == Limits(burst: 2, rate: 20))
                #expect(try tool("get", "server", "limits.burst").text == "2\n")
                #expect(try tool("set", "server", "com.example.flag", "true", "--key").code == 0)
                #expect(try suite.contents()["com.example.flag"] == true)
                #expect(try tool("set", "server", "a", "1", "--key", "--part").code == 2)
            }
        }

        @Test func manyWritersAtOnceWaitForEachOther() throws {
            try CommandLineTool.run { tool throws in
                let errors = Guarded<[String]>([])
                onThreads(30) { number in
                    let outcome = try? tool("set", "server", "limits.k\(number)", "1", "--part")
                    errors.withLock { $0.append(outcome?.errors ?? "no outcome") }
                }
                #expect(errors.withLock { $0.filter { !$0.contains("created the suite") && !$0.isEmpty } } == [])
                #expect(errors.withLock { $0.filter { $0.contains("created the suite") }.count } == 1)
                guard case .dictionary(let limits)? = try DefaultsSuite(file: tool.file("server")).contents()["limits"]
                else { return #expect(Bool(false), "nothing is stored") }
                #expect(limits.count == 30)
            }
        }

        /// Files and arguments may come from other people.
        @Test func hostileInputIsRefusedBeforeAnyWorkAndNeverPrintedRaw() throws {
            try CommandLineTool.run { tool throws in
                let names = Array(repeating: "a", count: 8_000).joined(separator: ".")
                for arguments in [["set", "camera", names, "1", "--part"], ["remove", "camera", names]] {
                    try tool("set", "camera", "a", "1")
                    let outcome = try tool(arguments)
                    #expect(outcome.code == 2 && outcome.errors.contains("8000 names"))
                }
                // Each array has the next one twice: 170 bytes unfold into 2^30 elements.
                var bytes: [UInt8] = Array("bplist00".utf8) + [0xd1, 1, 2, 0x51, 0x61]
                var offsets: [UInt8] = [8, 11]
                for index in 2..<32 {
                    offsets.append(UInt8(bytes.count))
                    bytes += index < 31 ? [0xa2, UInt8(index + 1), UInt8(index + 1)] : [0x10, 1]
                }
                let table = UInt8(bytes.count)
                bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 32]
                bytes += [UInt8](repeating: 0, count: 15) + [table]
                let file = URL(filePath: tool.file("laughs.plist").path)
                try Data(bytes).write(to: file)
                let laughs = try tool("import", "camera", file.path)
                #expect(laughs.code == 3 && laughs.errors.contains("cannot be read"))

                let hostile = "a\u{1b}[31mRED\u{7}\u{9b}\u{202e}\n"
                let step = String(decoding: PropertyList.array([.string(hostile)]).json(), as: UTF8.self)
                let json = Data(#"{"TypedDefaults-migrations": \#(step), "b": 1}"#.utf8)
                try tool("import", "other", "-", input: json)
                let long = hostile + String(repeating: "k", count: 5_000)
                for outcome in [
                    try tool("info", "other"), try tool("import", "camera", "-", input: json),
                    try tool("get", "other", hostile), try tool("set", "other", long, "1"),
                    try tool("remove", "other", long), try tool("list", "other"),
                ] {
                    let text = outcome.text + outcome.errors
                    #expect(!text.unicodeScalars.contains { "\u{1b}\u{7}\u{9b}\u{202e}".unicodeScalars.contains($0) })
                    #expect(text.utf8.count < 600)
                }
            }
        }

        @Test func rawPrintsAStringWithoutQuotes() throws {
            try CommandLineTool.run { tool throws in
                try tool("set", "camera", "name", "--string", "Ada \"A\"")
                try tool("set", "camera", "list", #"["x"]"#)
                #expect(try tool("get", "camera", "name", "--raw").text == "Ada \"A\"\n")
                #expect(try tool("get", "camera", "list.0", "--raw").text == "x\n")
                #expect(try tool("get", "camera", "list", "--raw").text == "[\n  \"x\"\n]\n")
            }
        }

        @Test func setSaysThatItCreatesASuite() throws {
            try CommandLineTool.run { tool throws in
                let first = try tool("set", "camera", "a", "1")
                #expect(first.code == 0 && first.errors.hasPrefix("typed-defaults: created the suite"))
                #expect(try tool("set", "camera", "a", "2").errors == "")
            }
        }

        @Test func diffPrintsWhatDiffersFromASuiteOrAnExport() throws {
            try CommandLineTool.run { tool throws in
                let backup = tool.folder.appending(path: "backup").path
                let lines = ["- config.size = 1", "+ config.size = 2", "+ new = true", "- old = 1"]
                let json = #"{"config": {"size": 1, "same": 0}, "old": 1, "same": [1]}"#
                try tool("import", "a", "-", input: Data(json.utf8))
                let changed = #"{"config": {"size": 2, "same": 0}, "new": true, "same": [1]}"#
                try tool("import", "b", "-", input: Data(changed.utf8))
                for form in ["--json", "--plist"] {
                    try tool("export", "b", backup, form)
                    for other in [tool.file("b").path, backup] {
                        let outcome = try tool("diff", "a", other)
                        #expect(outcome.code == 1 && outcome.lines == lines, "\(outcome)")
                    }
                    let same = try tool("diff", "b", backup)
                    #expect((same.code, same.text, same.errors) == (0, "", ""))
                }
                // A file of the working directory.
                let suite = tool.file("a").path
                let here = try tool.run(inShell: "cd '\(tool.folder.path)' && exec \"$0\" diff '\(suite)' backup")
                #expect(here.lines == lines)
                #expect(try tool("diff", "a", "-", input: Data(changed.utf8)).lines == lines)
                #expect(try tool("diff", "a", "-", input: Data("x".utf8)).code == 3)
            }
        }

        #if os(Linux)
            @Test func suitesListsNamesAndNothingElse() throws {
                try CommandLineTool.run { tool throws in
                    #expect(try tool.run(["suites"]).text == "")
                    for name in ["b", "camera", "A"] { #expect(try tool.run(["set", name, "a", "1"]).code == 0) }
                    try Data().write(to: tool.folder.appending(path: "other.txt"))
                    try Data().write(to: tool.folder.appending(path: "camera.defaults.damaged-1f"))
                    #expect(try tool.run(["suites"]).lines == ["A", "b", "camera"])
                    #expect(try tool.run(["list", "camra"]).errors.contains("did you mean “camera”?"))
                    #expect(try tool.run(["set", "camra", "a", "1"]).errors.contains("did you mean “camera”?"))
                }
            }
        #endif

        @Test func watchPrintsJSONLinesWithOldAndNewValues() throws {
            try CommandLineTool.run { tool throws in
                try tool("set", "camera", "n", "1")
                let process = Process()
                process.executableURL = CommandLineTool.program
                process.arguments = ["watch", tool.file("camera").path, "--json"]
                let (output, errors) = (Pipe(), Pipe())
                process.standardOutput = output
                process.standardError = errors
                try process.run()
                _ = errors.fileHandleForReading.availableData
                func line(after arguments: String...) throws -> String {
                    try tool(arguments)
                    return String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
                }
                #expect(
                    try line(after: "set", "camera", "n", "2")
                        == #"{"key": "n", "new": 2, "old": 1}"# + "\n")
                #expect(
                    try line(after: "set", "camera", "s", "\"a\\nb\"")
                        == #"{"key": "s", "new": "a\nb"}"# + "\n")
                #expect(try line(after: "remove", "camera", "n") == #"{"key": "n", "old": 2}"# + "\n")
                // In children of the test runner, most signals are blocked.
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
            }
        }
    }
#endif
