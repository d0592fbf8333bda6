#if os(macOS) || os(Linux)
    import Foundation
    import TestSupport
    import Testing

    @testable import SettingsFile
    @testable import TypedDefaults

    /// Tests what the program prints and leaves behind when a suite is damaged or is being written.
    struct DamagedSuiteToolTests {
        /// Stores a = 1, b = 2 and c = 3, each as a commit of its own, as another process would.
        private func fill(_ file: URL) throws {
            // One process, because another one would replace the file when it flushes.
            let backend = FileBackend(path: file.path)
            for (key, value) in [("a", 1), ("b", 2), ("c", 3)] as [(String, PropertyList)] {
                try backend.writing { #expect(throws: Never.self) { try backend.commit([(key, value)]) } }
            }
            try backend.synchronize()
        }

        /// Changes the bytes of a file in place, and returns them.
        private func damage(_ file: URL, _ damage: (inout Data) -> Void) throws -> Data {
            var bytes = try Data(contentsOf: file)
            damage(&bytes)
            try overwrite(file, with: bytes)
            chmod(file.path, 0o600)
            return bytes
        }

        /// A program cannot repair a header, because nothing says whether it is a settings file.
        @Test(arguments: [true, false]) func repairKeepsAllBytesAndWhatCanBeRead(isHeader: Bool) throws {
            try CommandLineTool.run { tool throws in
                try fill(tool.file("camera"))
                let bytes = try damage(tool.file("camera")) {
                    if isHeader { $0[33] ^= 4 } else { $0 = Data("text".utf8) }
                }
                let refusal = try tool("set", "camera", "d", "4")
                #expect(refusal.code == 3 && refusal.errors.contains("typed-defaults repair"))
                let outcome = try tool("repair", "camera")
                #expect(outcome.code == 0)
                #expect(outcome.text == (isHeader ? "a = 1\nb = 2\nc = 3\n" : ""))
                #expect(outcome.errors.contains(isHeader ? "3 keys could be read" : "0 keys could be read"))
                let names = try tool.names
                let copy = try #require(names.first { $0.hasPrefix("camera.defaults.damaged-") })
                #expect(outcome.errors.contains(copy))
                #expect(try Data(contentsOf: tool.folder.appending(path: copy)) == bytes)
                #expect(try tool("set", "camera", "d", "4").code == 0)
                #expect(try tool("list", "camera").lines.count == (isHeader ? 4 : 1))
                let again = try tool("repair", "camera")
                #expect(again.code == 0 && again.text == (isHeader ? "OK, 4 keys\n" : "OK, 1 key\n"))
                // Another copy; the oldest comes first.
                _ = try damage(tool.file("camera")) { $0[33] ^= 4 }
                #expect(try tool("repair", "camera").code == 0)
                let copies = try tool("info", "camera").lines.filter { $0.hasPrefix("set aside: ") }
                #expect(copies.count == 2 && copies[0].hasSuffix(copy))
            }
        }

        @Test func repairSetsADamagedRecordAside() throws {
            try CommandLineTool.run { tool throws in
                try fill(tool.file("camera"))
                _ = try damage(tool.file("camera")) { $0[121] ^= 1 }
                let outcome = try tool("repair", "camera")
                #expect(outcome.code == 0 && outcome.text == "OK, 2 keys\n")
                #expect(outcome.errors.contains("are kept in"))
                #expect(try tool("list", "camera").lines == ["a = 1", "b = 2"])
                #expect(try tool("repair", "missing").code == 1)
            }
        }

        /// What is damaged, what `check` says, the keys that can still be read, and how.
        private static let damages: [(String, [String], [String], @Sendable (inout Data) -> Void)] = [
            ("empty", ["is empty"], [], { $0 = Data() }),
            ("only zeros", ["holds only zeros"], [], { $0 = Data(count: 4_096) }),
            ("another file", ["not a settings file"], [], { $0 = Data(repeating: 0x41, count: 200) }),
            (
                "a newer version", ["was written by a newer version"], [],
                { bytes in
                    bytes[8] = 3
                    let checksum = RecordFormat.checksum(ofHeader: Array(bytes))
                    for index in 0..<4 { bytes[60 + index] = UInt8(truncatingIfNeeded: checksum >> (8 * index)) }
                }
            ),
            ("the header", ["header is damaged", "a = 1", "b = 2", "c = 3"], [], { $0[33] ^= 4 }),
            ("the first record", ["no valid record at byte 64", "b = 2", "c = 3"], [], { $0[73] ^= 1 }),
            ("a length", ["no valid record at byte 64", "b = 2", "c = 3"], [], { $0[64] ^= 0x20 }),
            ("the last record", ["no valid record at byte 112"], ["a", "b"], { $0[121] ^= 1 }),
            ("cut in a record", ["has 10 more bytes; perhaps it was copied"], ["a", "b"], { $0 = $0.prefix(122) }),
            (
                "cut after a record", ["ends at byte 112, although records up to byte 136 had been"], ["a", "b"],
                {
                    // All of it had been flushed.
                    $0[48] = 136
                    $0 = $0.prefix(112)
                }
            ),
        ]

        @Test(arguments: damages)
        func readingADamagedSuiteChangesNothing(
            what: String, says: [String], keys: [String], body: @Sendable (inout Data) -> Void
        ) throws {
            try CommandLineTool.run { tool throws in
                let (file, backup) = (tool.file("camera"), tool.folder.appending(path: "backup.json"))
                try fill(file)
                #expect(try tool("export", "camera", backup.path).code == 0)
                let good = try Data(contentsOf: backup)
                let bytes = try damage(file, body)
                func expectFailure(_ arguments: String..., says text: String) throws {
                    let outcome = try tool(arguments)
                    #expect(outcome.code == 3)
                    #expect(outcome.text == text)
                    #expect(outcome.errors.contains("; see typed-defaults check \(file.path)"), "\(outcome.errors)")
                    #expect(outcome.errors.split(separator: "\n").count == 1)
                }
                // The second time is no better than the first.
                for _ in 0..<2 {
                    let lines = keys.enumerated().map { "\($1) = \($0 + 1)\n" }.joined()
                    try expectFailure("list", "camera", says: lines)
                    var contents: SuiteContents = [:]
                    for (index, key) in keys.enumerated() { contents[key] = .integer(.init(index + 1)) }
                    let json = String(decoding: contents.json(), as: UTF8.self) + "\n"
                    for arguments in [["list", "--json"], ["export"], ["export", "-"]] {
                        let outcome = try tool([arguments[0], "camera"] + arguments.dropFirst())
                        #expect((outcome.code, outcome.text) == (3, json))
                    }
                    for (index, key) in ["a", "b", "c"].enumerated() {
                        try expectFailure(
                            "get", "camera", key, says: keys.contains(key) ? "\(index + 1)\n" : "")
                    }
                    try expectFailure("export", "camera", backup.path, says: "")
                    try expectFailure("export", "camera", tool.folder.appending(path: "new.json").path, says: "")
                }
                let check = try tool("check", "camera")
                #expect(check.code == 1)
                for text in says { #expect(check.text.contains(text), "\(check.text)") }
                for key in ["a", "b", "c"] where !says.contains(where: { $0.hasPrefix("\(key) =") }) {
                    #expect(!check.text.contains("\(key) = "))
                }
                #expect(try Data(contentsOf: file) == bytes)
                #expect(try Data(contentsOf: backup) == good)
                #expect(try tool.names == ["backup.json", "camera.defaults"])
            }
        }

        /// After another program has set the damage aside, the file is valid, but a backup may be
        /// all that is left of the values.
        @Test(arguments: [false, true]) func aBackupIsNotReplacedWhileADamagedCopyExists(isLink: Bool) throws {
            try CommandLineTool.run { tool throws in
                let (file, backup) = (tool.file("camera"), tool.folder.appending(path: "backup.json"))
                if isLink { #expect(symlink("target.defaults", file.path) == 0) }
                try fill(file)
                #expect(try tool("export", "camera", backup.path).code == 0)
                let good = try Data(contentsOf: backup)
                _ = try damage(file) { $0[121] ^= 1 }
                try FileBackend(path: file.path).writing {}
                let copy = try #require(tool.names.first { $0.contains(".damaged-") })
                #expect(copy.hasPrefix(isLink ? "target" : "camera"))
                #expect(try tool("list", "camera").code == 0)
                #expect(try tool("check", "camera").text.contains(copy))
                let refused = try tool("export", "camera", backup.path)
                #expect(refused.code == 3)
                #expect(refused.errors.contains(copy) && refused.errors.contains("typed-defaults check"))
                #expect(try Data(contentsOf: backup) == good)
                // A new file, and standard output, replace no backup.
                #expect(try tool("export", "camera", tool.folder.appending(path: "new.json").path).code == 0)
                #expect(
                    try tool("export", "camera", "-").text
                        == "{\n  \"TypedDefaults-migrations\": [],\n  \"a\": 1,\n  \"b\": 2\n}\n")
                try FileManager.default.removeItem(at: tool.folder.appending(path: copy))
                #expect(try tool("export", "camera", backup.path).code == 0)
            }
        }

        @Test(arguments: ["camera.defaults", "symbolic link", "hard link"])
        func aSuiteIsNotExportedOntoItsOwnFile(name: String) throws {
            try CommandLineTool.run { tool throws in
                let (file, other) = (tool.file("camera"), tool.folder.appending(path: name))
                try fill(file)
                if name == "symbolic link" { #expect(symlink(file.path, other.path) == 0) }
                if name == "hard link" { #expect(link(file.path, other.path) == 0) }
                let bytes = try Data(contentsOf: file)
                #expect(try tool("export", "camera", other.path).code == 3)
                #expect(try Data(contentsOf: file) == bytes)
            }
        }

        @Test func aValueOfANewerVersionIsMissedByEveryCommandThatNeedsIt() throws {
            try CommandLineTool.run { tool throws in
                try fill(tool.file("camera"))
                let newer = SettingsFile(path: tool.file("camera").path)
                try newer.beginWrite()
                var record = RecordWriter()
                record.append("d", raw: [200, 1])
                try newer.commit(&record)
                newer.endWrite()
                let bytes = try Data(contentsOf: tool.file("camera"))
                for arguments in [["get", "camera", "d"], ["list", "camera"], ["export", "camera"]] {
                    let outcome = try tool(arguments)
                    #expect(outcome.code == 3)
                    #expect(outcome.errors.contains("“d”"))
                }
                #expect(try tool("get", "camera", "a").code == 0)
                #expect(try Data(contentsOf: tool.file("camera")) == bytes)
                #expect(try tool("remove", "camera", "d").code == 0)
                #expect(try tool("export", "camera").code == 0)
            }
        }

        /// The writer was killed or the power failed, so the value has never been part of the
        /// suite.
        @Test func anUnfinishedRecordIsNoDamage() throws {
            try CommandLineTool.run { tool throws in
                let file = tool.file("camera")
                try fill(file)
                let backend = FileBackend(path: file.path)
                let value = PropertyList.string(String(repeating: "x", count: 3_000))
                try backend.writing { #expect(throws: Never.self) { try backend.commit([("d", value)]) } }
                let bytes = try damage(file) { $0.replaceSubrange(1_024..., with: Data(count: $0.count - 1_024)) }
                #expect(try tool("list", "camera").lines == ["a = 1", "b = 2", "c = 3"])
                #expect(try tool("export", "camera").code == 0)
                #expect(try tool("check", "camera").code == 1)
                #expect(try Data(contentsOf: file) == bytes)
                // A file that was flushed beyond that has lost a part.
                let suite = try DefaultsSuite(file: file).quiet
                try suite.update { $0["d"] = value }
                try suite.synchronize()
                _ = try damage(file) { $0.replaceSubrange(1_024..., with: Data(count: $0.count - 1_024)) }
                #expect(try tool("export", "camera").code == 3)
            }
        }

        @Test(
            .enabled(
                if: geteuid() != 0 || access("/usr/bin/setpriv", X_OK) == 0, "root needs setpriv to give up its rights"),
            arguments: [false, true])
        func aSuiteThatCannotBeWrittenIsRead(isDamaged: Bool) throws {
            try CommandLineTool.run { tool throws in
                let file = tool.file("camera")
                try fill(file)
                if isDamaged { _ = try damage(file) { $0[121] ^= 1 } }
                let bytes = try Data(contentsOf: file)
                let program = tool.folder.appending(path: "program")
                try FileManager.default.copyItem(at: #require(CommandLineTool.program), to: program)
                #expect(chmod(program.path, 0o755) == 0 && chmod(file.path, 0o400) == 0)
                if geteuid() == 0 { #expect(chown(file.path, 65_534, 65_534) == 0) }
                #expect(chmod(tool.folder.path, 0o555) == 0)
                defer { chmod(tool.folder.path, 0o700) }
                let user = geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : ""
                for arguments in ["list '\(file.path)'", "get '\(file.path)' a", "export '\(file.path)'"] {
                    // A process that another test has just started may still have the copy open for
                    // writing, so that it cannot be executed, which the shell reports as status
                    // 126.
                    var outcome = try tool.run(inShell: "exec \(user) '\(program.path)' \(arguments)")
                    for _ in 0..<100 where outcome.code == 126 {
                        usleep(50_000)
                        outcome = try tool.run(inShell: "exec \(user) '\(program.path)' \(arguments)")
                    }
                    #expect(outcome.code == (isDamaged ? 3 : 0), "\(outcome.errors)")
                    #expect(outcome.text.contains("1"))
                }
                #expect(try Data(contentsOf: file) == bytes)
                #expect(try tool.names == ["camera.defaults", "program"])
            }
        }

        @Test(arguments: [238, 239]) func theCopyOfALongNameIsFound(length: Int) throws {
            try CommandLineTool.run { tool throws in
                let file = tool.file(String(repeating: "x", count: length - 9))
                #expect(file.lastPathComponent.utf8.count == length)
                try FileBackend(path: file.path).write([("a", 1)])
                var bytes = try Data(contentsOf: file)
                bytes[33] ^= 4
                try overwrite(file, with: bytes)
                #expect(try tool("repair", file.path).code == 0)
                #expect(try tool("info", file.path).lines.count { $0.hasPrefix("set aside: ") } == 1)
            }
        }
    }
#endif
