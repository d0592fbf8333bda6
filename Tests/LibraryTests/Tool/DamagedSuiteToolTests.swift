#if os(macOS) || os(Linux)
    import Foundation
    import TestSupport
    import Testing

    @testable import SettingsFile
    @testable import SettingsFileInspection
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

        struct Damage: CustomTestStringConvertible {
            let testDescription: String
            /// The keys that can still be read.
            let keys: [String]
            let damage: @Sendable (inout Data) -> Void

            init(_ name: String, _ keys: [String], _ damage: @escaping @Sendable (inout Data) -> Void) {
                (testDescription, self.keys, self.damage) = (name, keys, damage)
            }
        }

        private static let damages = [
            Damage("empty", []) { $0 = Data() },
            Damage("only zeros", []) { $0 = Data(count: 4_096) },
            Damage("another file", []) { $0 = Data(repeating: 0x41, count: 200) },
            Damage("a newer version", []) { bytes in
                bytes[8] = 2
                let crc = bytes[..<60].withUnsafeBytes { CRC32C.checksum(of: $0) }
                for index in 0..<4 { bytes[60 + index] = UInt8(truncatingIfNeeded: crc >> (8 * index)) }
            },
            Damage("the header", []) { $0[33] ^= 4 },
            Damage("the first record", []) { $0[73] ^= 1 },
            Damage("a length", []) { $0[64] ^= 0x20 },
            Damage("the last record", ["a", "b"]) { $0[121] ^= 1 },
            Damage("cut in a record", ["a", "b"]) { $0 = $0.prefix(122) },
            Damage("cut after a record", ["a", "b"]) {
                // All of it had been flushed.
                $0[48] = 136
                $0 = $0.prefix(112)
            },
        ]

        @Test(arguments: damages) func readingADamagedSuiteChangesNothing(damage: Damage) throws {
            try CommandLineTool.run { tool throws in
                let (file, backup) = (tool.file("camera"), tool.folder.appending(path: "backup.json"))
                try fill(file)
                #expect(try tool("export", "camera", backup.path).code == 0)
                let good = try Data(contentsOf: backup)
                let bytes = try self.damage(file, damage.damage)
                func expectFailure(_ arguments: String..., says text: String) throws {
                    let outcome = try tool(arguments)
                    #expect(outcome.code == 3)
                    #expect(outcome.text == text)
                    #expect(outcome.errors.contains("; see typed-defaults check \(file.path)"), "\(outcome.errors)")
                    #expect(outcome.errors.split(separator: "\n").count == 1)
                }
                // The second time is no better than the first.
                for _ in 0..<2 {
                    let lines = damage.keys.enumerated().map { "\($1) = \($0 + 1)\n" }.joined()
                    try expectFailure("list", "camera", says: lines)
                    var contents: SuiteContents = [:]
                    for (index, key) in damage.keys.enumerated() { contents[key] = .integer(.init(index + 1)) }
                    let json = String(decoding: contents.json(), as: UTF8.self) + "\n"
                    for arguments in [["list", "--json"], ["export"], ["export", "-"]] {
                        let outcome = try tool([arguments[0], "camera"] + arguments.dropFirst())
                        #expect((outcome.code, outcome.text) == (3, json))
                    }
                    for (index, key) in ["a", "b", "c"].enumerated() {
                        try expectFailure(
                            "get", "camera", key, says: damage.keys.contains(key) ? "\(index + 1)\n" : "")
                    }
                    try expectFailure("export", "camera", backup.path, says: "")
                    try expectFailure("export", "camera", tool.folder.appending(path: "new.json").path, says: "")
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

        @Test func aLinkToNoFileIsNoSuite() throws {
            try CommandLineTool.run { tool throws in
                #expect(symlink("target.defaults", tool.file("camera").path) == 0)
                for command in ["list", "export", "check", "info"] {
                    #expect(try tool(command, "camera").code == 1, "\(command)")
                }
                #expect(try tool.names == ["camera.defaults"])
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
                let suite = try DefaultsSuite(file: file)
                try suite.update { $0["d"] = value }
                try suite.synchronize()
                _ = try damage(file) { $0.replaceSubrange(1_024..., with: Data(count: $0.count - 1_024)) }
                #expect(try tool("export", "camera").code == 3)
            }
        }

        #if os(Linux)
            /// A record that its writer has not committed is neither a value nor damage, whole or
            /// not. A command needs no lock.
            @Test(arguments: [["list"], ["get", "c"], ["export", "-"], ["check"]], [false, true])
            func aCommandReadsBesideAWriter(arguments: [String], isWhole: Bool) throws {
                try CommandLineTool.run { tool throws in
                    let file = tool.file("camera")
                    try fill(file)
                    let before = try tool(arguments[0], file.path, arguments.count > 1 ? arguments[1] : "--json")
                    let writer = try File.existingDirectory(tool.folder.path).file(file.lastPathComponent, .readWrite)
                    #expect(try writer.tryLock())
                    let bytes = try Data(contentsOf: file)
                    let (crc, end) = try (
                        bytes.withUnsafeBytes { Salvage.word(in: $0, at: 112 + 4) }, FileInspection(file: file).end
                    )
                    var record = RecordWriter()
                    record.append(removalOf: "c")
                    _ = record.finish(after: crc)
                    try writer.write(record.withBytes { Array($0.prefix(isWhole ? $0.count : 9)) }, at: end)
                    let outcome = try tool(arguments[0], file.path, arguments.count > 1 ? arguments[1] : "--json")
                    #expect(outcome.code == before.code && outcome.text == before.text)
                    #expect(outcome.errors == before.errors)
                    writer.unlock()
                }
            }
        #endif

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
    }
#endif
