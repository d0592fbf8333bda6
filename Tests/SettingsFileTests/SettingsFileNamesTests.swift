import Foundation
import TestSupport
import Testing

@testable import SettingsFile
@testable import SettingsFileInspection
@testable import TypedDefaults

/// Tests the names of settings files, of their temporary files and of copies of damage.
struct SettingsFileNamesTests: SettingsFileTests {
    private func file(_ name: String, beside file: URL) -> URL {
        file.deletingLastPathComponent().appending(path: name)
    }

    private func contents(_ file: URL) -> Data? { FileManager.default.contents(atPath: file.path) }

    /// Makes the backend compact its file several times.
    private func fill(_ suite: DefaultsSuite) {
        TestSupport.fill(suite, 60_000..<60_000 + 2 * RecordFormat.busySize / 60_000)
    }

    @Test(arguments: [".test.new", ".\u{E9}.new", ".test.defaults.new"])
    func namesOfTemporaryFilesAreRefused(name: String) throws {
        try withFile { file in
            let other = self.file(name, beside: file)
            #expect(fails(with: .invalidName) { _ = try DefaultsSuite(file: other) })
            let suite = DefaultsSuite(backend: FileBackend(path: other.path))
            #expect(fails(with: .unavailable) { try UserDefault(number, in: suite).store.save(1) })
            #expect(contents(other) == nil)
        }
    }

    #if os(Linux)
        /// Linux compares names by their bytes, Swift compares strings by canonical equivalence.
        @Test func namesAreComparedByTheirBytes() throws {
            try withFile { file in
                // Built from paths, because URLs with equal characters may be equal.
                let folder = file.deletingLastPathComponent().path
                let first = try DefaultsSuite(file: URL(filePath: folder + "/caf\u{E9}.defaults"))
                let second = try DefaultsSuite(file: URL(filePath: folder + "/cafe\u{301}.defaults"))
                first[number] = 1
                second[number] = 2
                #expect(first[number] == 1)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
            }
        }
    #endif

    /// A dead process leaves it.
    @Test func aFileWithTheTemporaryNameIsRemoved() throws {
        try withFile { file in
            let temporary = self.file(".test.defaults.new", beside: file)
            try Data("left".utf8).write(to: temporary)
            let suite = open(file)
            fill(suite)
            try suite.synchronize()
            #expect(contents(temporary) == nil)
            let epoch = try #require(FileInspection(file: file).epoch)
            #expect(epoch > 0)
        }
    }

    @Test func aPathWithANULByteIsRefused() throws {
        try withFile { file in
            let folder = file.deletingLastPathComponent().path
            let other = self.file(".n", beside: file)
            let text = Data("a text of the user's own".utf8)
            try text.write(to: other)
            for path in [folder + "/n\0x", folder + "\0/n"] {
                let suite = DefaultsSuite(backend: FileBackend(path: path))
                #expect(fails(with: .unavailable) { try UserDefault(number, in: suite).store.save(1) })
                #expect(fails(with: .unavailable) { _ = try suite.keys() })
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [".n"])
            #expect(contents(other) == text)
        }
    }

    /// Names of up to 250 bytes can be created and compacted, and damage to the file must not
    /// prevent writes.
    @Test(arguments: [200, 238, 239, 250])
    func damageToAFileOfALongNameIsSetAside(length: Int) throws {
        try withFile { file in
            let long = self.file(String(repeating: "é", count: length / 2) + (length % 2 == 0 ? "" : "x"), beside: file)
            let store = try UserDefault(number, in: DefaultsSuite(file: long)).store
            try store.save(1)
            let end = try FileInspection(file: URL(filePath: long.path)).end
            try store.save(3)
            let damage = try Data(repeating: 0xA5, count: FileInspection(file: URL(filePath: long.path)).end - end)
            try overwrite(long, at: end, with: Array(damage))
            let suite = open(long)
            _ = Failures(of: suite)
            try UserDefault(number, in: suite).store.save(2)
            #expect(open(long)[number] == 2)
            let names = try names(beside: file)
            let copy = try #require(names.first { $0.contains(".damaged-") })
            #expect(names.count == 2)
            #expect(contents(self.file(copy, beside: file)) == damage)
        }
    }

    @Test func namesThatAreTooLongAreRefused() throws {
        let file = URL(filePath: "/tmp/" + String(repeating: "x", count: 251))
        #expect(fails(with: .invalidName) { _ = try DefaultsSuite(file: file) })
    }
}
