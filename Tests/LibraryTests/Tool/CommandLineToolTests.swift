#if os(macOS) || os(Linux)
    import Foundation
    import SettingsFile
    import SettingsFileInspection
    import TestSupport
    import Testing

    @testable import TypedDefaults

    /// Tests the program from the command line.
    struct CommandLineToolTests {
        /// Values and keys that are easily changed by conversions.
        private static let contents: [(key: String, value: PropertyList)] = {
            var values: [PropertyList] = [true, false, [], [:], [[:], []], ["a": ["b": [1, 1.0, true]]]]
            values += Samples.strings.map { .string($0) }
            values += Samples.doubles.map { .double($0) }
            values += Samples.integers.map { .integer(Int64($0)) }
            values += [.unsigned(.max), 0x8000_0000_0000_0000, 2, 2.0]
            values += Samples.dates.map { .date($0) }
            values += Samples.data.map { .data($0) }
            for key in ["$data", "$date", "$double", "$dictionary", "$", "$x"] {
                values += [[key: "AA=="], [key: ["$data": "AA=="]], [key: "x", "y": 1]].map { .dictionary($0) }
            }
            var contents = values.enumerated().map { (key: "value \($0)", value: $1) }
            contents += Samples.strings.map { ($0, .string($0)) }
            return contents
        }()

        private func store(_ file: URL, _ contents: [(key: String, value: PropertyList)]) throws {
            let backend = FileBackend(path: file.path)
            try backend.writing {
                do { try backend.commit(contents.map { ($0.key, $0.value) }) } catch { Issue.record(error) }
            }
        }

        private func expect(_ file: URL, holds contents: [(key: String, value: PropertyList)]) throws {
            let backend = FileBackend(path: file.path)
            #expect(try backend.keys().count == contents.count)
            for (key, value) in contents { #expect(try backend.value(forKey: key) == value) }
        }

        // One key

        @Test func getPrintsTheValueThatWasSet() throws {
            try CommandLineTool.run { tool throws in
                for (text, value) in [
                    ("2", 2), ("2.0", 2.0), ("-5", -5), ("-0.0", -0.0), ("true", true), ("\"large\"", "large"),
                    ("-9223372036854775808", -9_223_372_036_854_775_808),
                    ("18446744073709551615", 18_446_744_073_709_551_615),
                    ("[\n  1,\n  1.0\n]", [1, 1.0]), ("{\n  \"$data\": \"AA==\"\n}", .data(Data([0]))),
                ] as [(String, PropertyList)] {
                    let isNew = try tool.names == []
                    let set = try tool("set", "camera", "key", text)
                    #expect((set.code, set.text, set.errors.isEmpty) == (0, "", !isNew))
                    try expect(tool.file("camera"), holds: [("key", value)])
                    let got = try tool("get", "camera", "key").text.filter { !$0.isWhitespace }
                    #expect(got == text.filter { !$0.isWhitespace })
                }
                #expect(try tool("get", "camera", "another").code == 1)
                #expect(try tool("set", "camera", "key", "--string", "true").code == 0)
                #expect(try tool("get", "camera", "key").text == "\"true\"\n")
                #expect(try tool("set", "camera", "--", "-key", "-1").code == 0)
                #expect(try tool("get", "camera", "--", "-key").text == "-1\n")
            }
        }

        @Test func severalKeysAreRemovedOrNone() throws {
            try CommandLineTool.run { tool throws in
                let suite = try DefaultsSuite(file: tool.file("camera"))
                try suite.replaceContents(with: ["a": 1, "b": 2, "c": 3])
                try suite.synchronize()
                let missing = try tool("remove", "camera", "a", "x")
                #expect(missing.code == 1 && missing.errors.contains("“x”"))
                #expect(try tool("list", "camera").lines == ["a = 1", "b = 2", "c = 3"])
                #expect(try tool("remove", "camera", "a", "b").code == 0)
                #expect(try tool("list", "camera").lines == ["c = 3"])
                #expect(try FileInspection(file: URL(filePath: tool.file("camera").path)).records == 2)
            }
        }

        @Test func aListIsOneLineForEachKey() throws {
            try CommandLineTool.run { tool throws in
                try store(
                    tool.file("camera"),
                    [
                        ("b", "x\u{1B}[2J\ny"), ("a key", 1), ("", 2), ("long", .data(Data(count: 1_000))),
                        ("a", [1, ["b": 2.0]]),
                    ])
                let lines = try tool("list", "camera").lines
                #expect(lines.count == 5)
                #expect(lines[0] == "\"\" = 2")
                #expect(lines[1] == "a = [1, {\"b\": 2.0}]")
                #expect(lines[2] == "\"a key\" = 1")
                #expect(lines[3] == "b = \"x\\u001b[2J\\ny\"")
                #expect(lines[4].hasPrefix("long = {\"$data\": \"AAAA") && lines[4].hasSuffix("… (1349 bytes)"))
                #expect(lines[4].count < 140)
            }
        }

        // Whole suites

        @Test(arguments: ["--json", "--plist"])
        func anExportReadsBackBitForBit(form: String) throws {
            try CommandLineTool.run { tool throws in
                // Values that Foundation's property lists do not keep are refused below.
                let contents =
                    form == "--json"
                    ? Self.contents
                    : Self.contents.filter {
                        !Self.isLost($0.value) && $0.key != Samples.composed && $0.key != Samples.decomposed
                    }
                try store(tool.file("camera"), contents)
                let exported = try tool("export", "camera", form)
                #expect(exported.code == 0, "\(exported.errors)")
                let listed = try tool("list", "camera", form)
                // The order in a binary property list is different each time.
                if form == "--json" { #expect(listed.output == exported.output) }
                #expect(try tool("import", "copy", "-", input: exported.output).code == 0)
                try expect(tool.file("copy"), holds: contents)
                #expect(
                    try FileInspection(file: URL(filePath: tool.file("copy").path)).records == 1,
                    "it is one change")
                let file = tool.folder.appending(path: "backup")
                #expect(try tool("export", "copy", file.path, form).code == 0)
                #expect(try tool("import", "third", file.path).code == 0)
                try expect(tool.file("third"), holds: contents)
                let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
                #expect(mode as? Int == 0o600)
            }
        }

        /// NaNs with unusual bits.
        private static func isLost(_ value: PropertyList) -> Bool {
            if case .double(let value) = value { return value.isNaN && value.bitPattern != Double.nan.bitPattern }
            return false
        }

        @Test func aPropertyListThatWouldLoseSomethingIsRefused() throws {
            try CommandLineTool.run { tool throws in
                try store(
                    tool.file("camera"), [("odd", .double(Double(bitPattern: 0x7FF8_0000_0000_0001))), ("good", 1)])
                let refused = try tool("export", "camera", "--plist")
                #expect(refused.code == 3 && refused.output.isEmpty)
                #expect(refused.errors.contains("“odd”") && !refused.errors.contains("“good”"))
            }
        }

        @Test func aXMLPropertyListIsRead() throws {
            try CommandLineTool.run { tool throws in
                let objects: [String: Any] = ["one": 1, "yes": true, "real": 1.0, "list": ["x", Data([1])] as [Any]]
                let data = try PropertyListSerialization.data(fromPropertyList: objects, format: .xml, options: 0)
                #expect(try tool("import", "camera", "-", input: data).code == 0)
                try expect(
                    tool.file("camera"),
                    holds: [("one", 1), ("yes", true), ("real", 1.0), ("list", ["x", .data(Data([1]))])])
            }
        }

        @Test func aDictionaryThatLooksLikeASuiteOfOneTagComesBack() throws {
            try CommandLineTool.run { tool throws in
                for key in ["$data", "$dictionary"] {
                    try store(tool.file(key == "$data" ? "a" : "b"), [(key, ["$data": "x"])])
                    let exported = try tool("export", key == "$data" ? "a" : "b").output
                    #expect(try tool("import", "\(key.dropFirst())", "-", input: exported).code == 0)
                    try expect(tool.file("\(key.dropFirst())"), holds: [(key, ["$data": "x"])])
                }
            }
        }

        @Test(arguments: [
            "null", "[1]", "{\"a\": null}", "{\"a\": 1, \"a\": 2}", "{\"a\": 18446744073709551616}", "{\"a\": 1e999}",
            "{\"a\": {\"$date\": \"x\"}}", "{\"a\": {\"$data\": \"?\"}}", "{\"a\": {\"$double\": \"1\"}}",
            "{\"a\": {\"$other\": 1}}", "{\"$data\": \"AA==\"}", "{\"a\": 01}", "{\"a\": 1.}", "{\"a\": \"\\ud800\"}",
            "{",
            "", "{\"a\": 1} x", "{\"a\": \"\u{1}\"}", "{\"a\": 1,}", "bplist00", "<plist><dict></plist>",
        ])
        func whatIsNoExportIsRefusedAndNothingIsMade(text: String) throws {
            try CommandLineTool.run { tool throws in
                let refused = try tool("import", "camera", "-", input: Data(text.utf8))
                #expect(refused.code == 3)
                #expect(refused.errors.split(separator: "\n").count == 1)
                #expect(try tool.names == [])
            }
        }

        @Test func deepJSONIsRefused() throws {
            try CommandLineTool.run { tool throws in
                for levels in [129, 100_000] {
                    let text =
                        "{\"a\": \(String(repeating: "[", count: levels))\(String(repeating: "]", count: levels))}"
                    #expect(try tool("import", "camera", "-", input: Data(text.utf8)).code == 3)
                }
                let deepest: PropertyList = .nested(64, around: nil)
                try store(tool.file("deep"), [("a", deepest)])
                #expect(try tool("import", "camera", "-", input: tool("export", "deep").output).code == 0)
                try expect(tool.file("camera"), holds: [("a", deepest)])
            }
        }

        // How it is called

        @Test(
            arguments: [
                ([], 2), (["--help"], 0), (["-h"], 0), (["help"], 0), (["help", "set"], 0), (["help", "nix"], 2),
                (["help", "set", "get"], 2), (["--version"], 0), (["suites", "x"], 2), (["diff", "camera"], 2),
                (["diff", "camera", "other"], 1), (["list", "camera", "--raw"], 2),
                (["list", "camera", "--version"], 0), (["export"], 2), (["check"], 2), (["check", "a", "b"], 2),
                (["list", "--help"], 0), (["nix", "camera"], 2), (["list"], 2),
                (["list", "camera", "x"], 2),
                (["list", "camera", "--x"], 2), (["list", "camera", "-x"], 2), (["get", "camera", "key", "--json"], 2),
                (["export", "camera", "--json", "--plist"], 2), (["get", "camera"], 2), (["set", "camera", "key"], 2),
                (["set", "camera", "key", "large"], 2), (["set", "camera", "key", "null"], 3),
                (["remove", "camera"], 2),
                (["import", "camera"], 2), (["import", "camera", "nowhere"], 3), (["list", ".hidden"], 2),
                (["list", ""], 2),
                (["set", "a b", "key", "1"], 2), (["list", "camera"], 1), (["get", "camera", "key"], 1),
                (["remove", "camera", "k"], 1),
                (["export", "camera"], 1), (["info", "camera"], 1), (["check", "camera"], 1), (["path", "camera"], 0),
                (["list", "FOLDER/nowhere/camera"], 1), (["get", "FOLDER/nowhere/camera", "key"], 1),
                (["remove", "FOLDER/nowhere/camera", "key"], 1), (["export", "FOLDER/nowhere/camera"], 1),
                (["info", "FOLDER/nowhere/camera"], 1), (["check", "FOLDER/nowhere/camera"], 1),
                (["set", "/dev/null/nowhere/camera", "key", "1"], 3),
            ] as [([String], Int32)])
        func aCallThatDoesNothingMakesNothing(arguments: [String], code: Int32) throws {
            try CommandLineTool.run { tool throws in
                let outcome = try tool(arguments.map { $0.replacing("FOLDER", with: tool.folder.path) })
                #expect(outcome.code == code, "\(outcome.errors)")
                #expect(outcome.errors.split(separator: "\n").count == (code == 0 ? 0 : 1))
                #expect(outcome.output.isEmpty == (code != 0))
                #expect(try tool.names == [])
            }
        }

        @Test func aSuiteNameThatIsAFileHereIsExplained() throws {
            try CommandLineTool.run { tool throws in
                let script = "cd '\(tool.folder.path)' && mkdir here && cd here && touch camera && \"$0\" list camera"
                let outcome = try tool.run(inShell: script)
                #expect(outcome.code == 1)
                #expect(outcome.errors.contains("to use the file in this folder, write ./camera"))
            }
        }

        @Test func anExportGoesIntoAPipeOrNamesTheFileThatCannotBeWritten() throws {
            try CommandLineTool.run { tool throws in
                try store(tool.file("camera"), [("a", 1)])
                let suite = tool.file("camera").path
                let pipe = tool.folder.appending(path: "pipe").path
                let script = "mkfifo '\(pipe)' && { \"$0\" export '\(suite)' '\(pipe)' & cat '\(pipe)'; wait $!; }"
                let outcome = try tool.run(inShell: script)
                #expect((outcome.code, outcome.text) == (0, "{\n  \"TypedDefaults-migrations\": [],\n  \"a\": 1\n}\n"))
                #expect(try tool.names == ["camera.defaults", "pipe"], "the pipe is not replaced")
                // A folder is not a file, and neither is a name in a folder that does not exist.
                for path in [tool.folder.path, tool.folder.appending(path: "nowhere/file").path] {
                    let outcome = try tool("export", suite, path)
                    #expect(outcome.code == 3)
                    #expect(outcome.errors.contains("the file \(path) cannot be written: "))
                }
            }
        }

        @Test func theUsageFitsOneScreen() throws {
            try CommandLineTool.run { tool throws in
                let lines = try tool("--help").text.split(separator: "\n", omittingEmptySubsequences: false)
                #expect(lines.count <= 24)
                #expect(lines.allSatisfy { $0.count <= 80 })
            }
        }

        #if os(Linux)
            @Test func aNameIsASuiteInTheSettingsFolder() throws {
                try CommandLineTool.run { tool throws in
                    #expect(try tool.run(["set", "camera", "key", "1"]).code == 0)
                    #expect(try tool.run(["path", "camera"]).text == tool.file("camera").path + "\n")
                    #expect(try tool.run(["list", "camera"]).lines == ["key = 1"])
                    #expect(try tool.run(["list", "other"]).code == 1)
                    #expect(try tool.names == ["camera.defaults"])
                }
            }
        #endif

        @Test func aPathIsASuiteAsWell() throws {
            try CommandLineTool.run { tool throws in
                let path = tool.folder.appending(path: "folder/x").path
                #expect(try tool("set", path, "key", "1").code == 0)
                #expect(try tool("path", path).text == path + "\n")
                #expect(try tool("list", path).lines == ["key = 1"])
                #expect(try tool("check", path).text == "OK, 1 key\n")
                #expect(try tool("path", "camera").text == tool.file("camera").path + "\n")
            }
        }

        @Test func aReaderThatStopsCausesNoFailure() throws {
            try CommandLineTool.run { tool throws in
                try store(tool.file("camera"), [("large", .data(Data(count: 1 << 20)))])
                let process = Process()
                let pipe = Pipe()
                process.executableURL = CommandLineTool.program
                process.arguments = ["export", tool.file("camera").path]
                process.standardOutput = pipe
                try process.run()
                // Now only the program has the other end.
                try pipe.fileHandleForReading.close()
                process.waitUntilExit()
                #expect(process.terminationReason == .exit && process.terminationStatus == 0)
            }
        }

        #if !canImport(AppleFoundation)
            /// A timer of Dispatch needs a descriptor, and ends a process that has none.
            @Test func withoutDescriptorsTheProgramWorksOrFails() throws {
                try CommandLineTool.run { tool throws in
                    var codes: [Int32] = []
                    for count in 4...16 {
                        let script = "ulimit -n \(count); \"$0\" set \(tool.file("camera").path) a \(count)"
                        codes.append(try tool.run(inShell: script).code)
                        if codes.last == 0 { #expect(try tool("get", "camera", "a").text == "\(count)\n") }
                    }
                    #expect(Set(codes) == [0, 3])
                }
            }
        #endif

        // The file

        @Test func watchPrintsWhatOthersChange() throws {
            try CommandLineTool.run { tool in
                let process = Process()
                process.executableURL = CommandLineTool.program
                process.arguments = ["watch", tool.file("a").path]
                let (output, errors) = (Pipe(), Pipe())
                process.standardOutput = output
                process.standardError = errors
                try process.run()
                func line(_ pipe: Pipe) -> String {
                    String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
                }
                // The program is running, and the file does not exist yet.
                #expect(line(errors) == "typed-defaults: watching \(tool.file("a").path)\n")
                try store(tool.file("a"), [("n", 1)])
                #expect(line(output) == "n = 1\n")
                try store(tool.file("a"), [("n", 2), ("s", "text")])
                var lines = line(output)
                if lines == "n = 2\n" { lines += line(output) }
                #expect(lines == "n = 2\ns = \"text\"\n")
                DefaultsSuite(backend: FileBackend(path: tool.file("a").path)).remove(["n"])
                #expect(line(output) == "n = (removed)\n")
                // It ends when the file becomes unusable.
                try Data("text".utf8).write(to: tool.file("a"), options: .atomic)
                process.waitUntilExit()
                #expect(process.terminationStatus == 3 && line(errors).contains("cannot be used"))
            }
        }

        @Test func infoPrintsTheStateOfTheFile() throws {
            try CommandLineTool.run { tool throws in
                try store(tool.file("camera"), [("a", 1), ("old.unreadable", 2)])
                try Data([1]).write(to: tool.folder.appending(path: "camera.defaults.damaged-1f"))
                let lines = try tool("info", "camera").lines
                #expect(lines.contains("location: \(tool.file("camera").path)"))
                #expect(lines.contains("size: 4096 bytes") && lines.contains("keys: 2"))
                #expect(lines.contains("format: version 2, epoch 0"))
                #expect(lines.contains { $0.hasPrefix("records: 1 (") })
                #expect(lines.contains("set aside: the key “old.unreadable”"))
                #expect(lines.contains { $0.hasPrefix("set aside: /") && $0.hasSuffix("damaged-1f") })
                #expect(!lines.contains { $0.hasPrefix("problems: ") })
                var bytes = try Data(contentsOf: tool.file("camera"))
                bytes[73] ^= 1
                try overwrite(tool.file("camera"), with: bytes)
                chmod(tool.file("camera").path, 0o600)
                #expect(try tool("info", "camera").lines.contains("problems: 1; see typed-defaults check"))
            }
        }

        struct Damage: CustomTestStringConvertible {
            let testDescription: String
            /// The contents of standard output.
            let says: [String]
            let code: Int32
            let damage: @Sendable (inout Data) -> Void

            init(_ name: String, _ says: [String], code: Int32 = 1, _ damage: @escaping @Sendable (inout Data) -> Void)
            {
                (testDescription, self.says, self.code, self.damage) = (name, says, code, damage)
            }
        }

        private static let damages = [
            Damage("none", ["OK, 3 keys"], code: 0) { _ in },
            Damage("empty", ["is empty"]) { $0 = Data() },
            Damage("another file", ["not a settings file"]) { $0 = Data(repeating: 0x41, count: 200) },
            Damage("a newer version", ["newer version", "a = 1", "b = 2", "c = 3"]) { $0[8] = 3 },
            Damage("the header", ["header is damaged", "a = 1", "b = 2", "c = 3"]) { $0[33] ^= 4 },
            Damage("the first record", ["no valid record at byte 64", "b = 2", "c = 3"]) { $0[73] ^= 1 },
            Damage("a length", ["no valid record at byte 64", "b = 2", "c = 3"]) { $0[64] ^= 0x20 },
            Damage("the last record", ["no valid record at byte 112"]) { $0[121] ^= 1 },
            Damage("cut in a record", ["byte 112, although the file has 10 more bytes; perhaps it was copied"]) {
                $0 = $0.prefix(122)
            },
            Damage("cut behind one", ["ends at byte 112, although records up to byte 136 had been flushed"]) {
                $0[48] = 136
                $0 = $0.prefix(112)
            },
            Damage("behind the committed end", ["OK, 3 keys"], code: 0) { $0[3_000] = 1 },
        ]

        @Test(arguments: damages) func checkFindsTheDamageAndLeavesIt(damage: Damage) throws {
            try CommandLineTool.run { tool throws in
                for (key, value) in [("a", 1), ("b", 2), ("c", 3)] as [(String, PropertyList)] {
                    try store(tool.file("camera"), [(key, value)])
                }
                var bytes = try Data(contentsOf: tool.file("camera"))
                damage.damage(&bytes)
                try overwrite(tool.file("camera"), with: bytes)
                chmod(tool.file("camera").path, 0o600)
                let outcome = try tool("check", "camera")
                #expect(outcome.code == damage.code)
                for text in damage.says { #expect(outcome.text.contains(text), "\(outcome.text)") }
                for key in ["a", "b", "c"] where !damage.says.contains(where: { $0.hasPrefix("\(key) =") }) {
                    #expect(!outcome.text.contains("\(key) = "))
                }
                #expect(try Data(contentsOf: tool.file("camera")) == bytes)
                #expect(try tool.names == ["camera.defaults"])
            }
        }

        @Test func aValueThatWasSetAsideCanBeSaved() throws {
            try CommandLineTool.run { tool throws in
                for (key, value) in [("a", 1), ("b", "two"), ("c", -0.0)] as [(String, PropertyList)] {
                    try store(tool.file("camera"), [(key, value)])
                }
                var bytes = try Data(contentsOf: tool.file("camera"))
                bytes[73] ^= 1
                try overwrite(tool.file("camera"), with: bytes)
                let before = try tool("check", "camera", "--json")
                // A write repairs the file, and sets aside what it cannot use.
                let written = try tool("set", "camera", "d", "1")
                #expect((written.code, written.text) == (0, ""))
                #expect(written.errors.contains("kept in \(tool.file("camera").path).damaged-"))
                let copy = try #require(tool.names.first { $0.contains("damaged") })
                let outcome = try tool("check", "camera")
                #expect(outcome.code == 1)
                #expect(
                    outcome.text.contains(copy) && outcome.text.contains("b = \"two\"")
                        && outcome.text.contains("c = -0.0")
                )
                // A copy of damage is expected not to be a settings file.
                #expect(
                    try tool("check", "\(tool.folder.path)/\(copy)").lines[0].hasSuffix(
                        "is a damaged copy that was set aside"))
                for arguments in [["check", "camera", "--json"], ["check", "\(tool.folder.path)/\(copy)", "--json"]] {
                    let saved = try tool(arguments)
                    #expect(saved.output == before.output)
                    #expect(try tool("import", "saved", "-", input: saved.output).code == 0)
                    try expect(tool.file("saved"), holds: [("b", "two"), ("c", -0.0)])
                }
            }
        }

        /// With repaired text, the tool would store another value under another key, with status 0.
        @Test(arguments: [#"set camera key --string "$(printf 'caf\351')""#, #"set camera "$(printf 'k\377')" 1"#])
        func anArgumentThatIsNotUTF8IsRefused(words: String) throws {
            try CommandLineTool.run { tool in
                let outcome = try tool.run(inShell: #"exec "$0" \#(words)"#)
                #expect(outcome.code == 2)
                #expect(outcome.errors.contains("is not valid UTF-8"))
                #expect(try tool.names == [])
            }
        }

        @Test func anImportReadsNoMoreThanASuiteCanHold() throws {
            try CommandLineTool.run { tool in
                let long = tool.folder.appending(path: "long.json")
                try Data("{".utf8).write(to: long)
                // The blanks take no space on the disk here, but the tool cannot know that.
                #expect(truncate(long.path, 200 << 20) == 0)
                let outcome = try tool("import", "camera", long.path)
                #expect(outcome.code == 3)
                #expect(outcome.errors.contains("is larger than 128 MiB"))
                #expect(try tool.names == ["long.json"])
            }
        }

        #if !canImport(Darwin)
            /// A program that runs with the rights of another user does not store settings where
            /// its caller says.
            @Test(.enabled(if: geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0, "needs root and setpriv"))
            func aSetuidProgramIgnoresTheVariablesOfItsCaller() throws {
                try CommandLineTool.run { tool in
                    let program = tool.folder.appending(path: "program")
                    try FileManager.default.copyItem(at: #require(CommandLineTool.program), to: program)
                    #expect(chmod(tool.folder.path, 0o755) == 0 && chmod(program.path, 0o4755) == 0)
                    let home = try #require(getpwuid(0)?.pointee.pw_dir.map { String(cString: $0) })
                    for variable in ["XDG_CONFIG_HOME", "HOME"] {
                        let call =
                            "unset XDG_CONFIG_HOME; export \(variable)=/tmp/caller HOME; exec setpriv --reuid=65534"
                        let outcome = try tool.run(inShell: "\(call) \(program.path) path camera")
                        #expect(outcome.text == "\(home)/.config/camera.defaults\n", "\(outcome.errors)")
                        // The control: without the rights of another user, the variables are used.
                        let plain = try tool.run(
                            inShell: "unset XDG_CONFIG_HOME; export \(variable)=/tmp/caller; exec $0 path camera")
                        #expect(plain.text.hasPrefix("/tmp/caller/"))
                    }
                }
            }
        #endif
    }
#endif
