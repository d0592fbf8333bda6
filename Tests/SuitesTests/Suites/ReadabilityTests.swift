import Foundation
import TestSupport
import Testing
import TypedDefaultsTesting

@testable import SettingsFile
@testable import TypedDefaults

/// Tests the check with which a server stops instead of running on defaults.
@Suite(.ownThreads) struct ReadabilityTests: SettingsFileTests {
    private func commit(_ edits: [(key: String, value: PropertyList?)], to file: URL) throws {
        let backend = FileBackend(path: file.path)
        try backend.write(edits)
    }

    private func bytes(of file: URL) throws -> Data { try #require(FileManager.default.contents(atPath: file.path)) }

    /// Changes the bytes of the file in place.
    private func change(_ file: URL, _ body: (inout Data) -> Void) throws {
        var bytes = try bytes(of: file)
        body(&bytes)
        try overwrite(file, with: bytes)
        chmod(file.path, 0o600)
    }

    /// Expects that the check throws each time and changes nothing.
    private func expectFailure(_ file: URL, _ phrase: String) throws {
        let before = try bytes(of: file)
        for _ in 0..<2 {
            let error = #expect(throws: DefaultsError.self) { try open(file).checkReadability() }
            #expect(fails(with: .unavailable) { try open(file).checkReadability(number) })
            #expect(error?.kind == .unavailable)
            #expect(error?.reason.contains(phrase) == true, "\(error?.reason ?? "")")
        }
        #expect(try bytes(of: file) == before)
        #expect(
            try names(beside: file)
                == [file.lastPathComponent])
    }

    @Test func suitesThatCanBeReadPass() throws {
        try withFile { file in
            // A missing file, in a folder that exists and in one that does not.
            try open(file).checkReadability()
            try open(file.appendingPathExtension("folder").appending(path: "missing.defaults")).checkReadability()
            #expect(!FileManager.default.fileExists(atPath: file.path))
            try commit([("number", 1)], to: file)
            let suite = open(file)
            try suite.checkReadability()
            try suite.scoped("scope/").checkReadability()
            #expect(suite[number] == 1)
        }
        try DefaultsSuite.inMemory(["number": 1]).checkReadability()
    }

    /// After a power failure, a server must start.
    @Test func anUnfinishedRecordPasses() throws {
        try withFile { file in
            try commit([("number", 1)], to: file)
            try commit([("text", .string(String(repeating: "x", count: 3_000)))], to: file)
            try change(file) { $0.replaceSubrange(1_024..., with: Data(count: $0.count - 1_024)) }
            let suite = open(file)
            _ = Failures(of: suite)
            try suite.checkReadability()
            #expect(suite[number] == 1)
        }
    }

    @Test func damageIsAnError() throws {
        try withFile { file in
            // One suite, because another one would replace the file when it flushes.
            let suite = open(file)
            for value in 1...2 { try suite.update { $0["number"] = .integer(.init(value)) } }
            try suite.synchronize()
            let good = try bytes(of: file)
            for byte in [0, 33, 64, 73] {
                try overwrite(file, with: good)
                try change(file) { $0[byte] ^= 1 }
                try expectFailure(file, byte < 64 ? "typed-defaults repair" : "is damaged")
            }
            try overwrite(file, with: good)
            try change(file) { $0 = $0.prefix(80) }
            try expectFailure(file, "is damaged")
        }
    }

    @Test func newerFormatsAreAnError() throws {
        try withFile { file in
            try commit([("number", 1)], to: file)
            try change(file) { bytes in
                bytes[8] = 3
                let crc = RecordFormat.checksum(ofHeader: bytes)
                for index in 0..<4 { bytes[60 + index] = UInt8(truncatingIfNeeded: crc >> (8 * index)) }
            }
            try expectFailure(file, "newer version")
        }
        try withFile { file in
            let newer = SettingsFile(path: file.path)
            try newer.beginWrite()
            var record = RecordWriter()
            record.append("mode", raw: [200, 1])
            try newer.commit(&record)
            newer.endWrite()
            try expectFailure(file, "values that this version cannot read")
        }
    }

    @Test(.enabled(if: geteuid() == 0, "needs root")) func aFileOfAnotherUserIsAnError() throws {
        try withFile { file in
            try commit([("number", 1)], to: file)
            #expect(chown(file.path, 1, 1) == 0)
            try expectFailure(file, "belongs to the user 1")
        }
    }

    #if os(macOS) || os(Linux)
        @Test(.ownFile) func anUnreadableFolderOrFileIsAnError() async throws {
            try commit([("number", 1)], to: URL(filePath: ownFile))
            if geteuid() == 0 {
                for path in [ownFile, ownFolder] { #expect(chown(path, 65_534, 65_534) == 0) }
            }
            await #expect(processExitsWith: .success) { [path = ownFile as String] in
                if geteuid() == 0 { #expect(setgid(65_534) == 0 && setuid(65_534) == 0) }
                let folder = URL(filePath: path).deletingLastPathComponent().path
                func isRefused() -> Bool {
                    let suite = DefaultsSuite(backend: FileBackend(path: path))
                    return fails(with: .unavailable) { try suite.checkReadability() }
                }
                #expect(!isRefused())
                #expect(chmod(path, 0) == 0)
                #expect(isRefused())
                #expect(chmod(path, 0o600) == 0 && chmod(folder, 0) == 0)
                #expect(isRefused())
                #expect(chmod(folder, 0o700) == 0)
            }
        }
    #endif

    @Test func aPlaceThatCannotHoldAFileIsAnError() throws {
        try withFile { file in
            try Data("x".utf8).write(to: file)
            #expect(fails(with: .unavailable) { try open(file.appending(path: "x.defaults")).checkReadability() })
        }
        let homeless = DefaultsSuite(backend: FileBackend(namedPath: nil))
        #expect(fails(with: .unavailable) { try homeless.checkReadability() })
    }

    @Test(arguments: [BackendCall.Name.keys, .value])
    func anErrorOfAnotherBackendIsThrown(call: BackendCall.Name) throws {
        let base = SharedBackend(["number": 1])
        try DefaultsSuite(backend: base).checkReadability()
        let suite = DefaultsSuite(backend: FailingBackend(call, base: base))
        #expect(fails(with: .unavailable) { try suite.checkReadability() })
    }
}
