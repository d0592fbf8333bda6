import AppleFoundation
import TestSupport
import Testing

@testable import SettingsFile
@testable import SettingsFileInspection
@testable import TypedDefaults

/// Tests settings files on a device that protects files.
@Suite(.ownThreads) struct FileProtectionTests: SettingsFileTests {
    private let text = DefaultKey("text", default: "")

    private let firstUnlock = FileProtectionType.completeUntilFirstUserAuthentication.rawValue

    private func classes(in folder: URL) throws -> [String: String?] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let files = names.map { ($0, FileProtectionType.ofItem(atPath: folder.appending(path: $0).path)?.rawValue) }
        return Dictionary(uniqueKeysWithValues: files)
    }

    @Test func allFilesAreReadableAfterTheFirstUnlock() throws {
        try withFile { file in
            let (folder, writer) = (file.deletingLastPathComponent(), open(file))
            writer[text] = "a"
            writer[DefaultKey("damaged", default: 0)] = 1
            #expect(try classes(in: folder) == ["test.defaults": firstUnlock])

            let handle = try FileHandle(forUpdating: file)
            try handle.seek(toOffset: UInt64(FileInspection(file: file).end - 4))
            try handle.write(contentsOf: Data([1, 2, 3]))
            try handle.close()
            let suite = open(file)
            suite.onFailure = { _ in }
            #expect(suite[text] == "a")
            try FileBackend(path: file.path).writing {}
            let classes = try classes(in: folder)
            #expect(classes.count == 2)
            #expect(classes.values.allSatisfy { $0 == firstUnlock })
        }
    }

    /// Before the first unlock, `open` fails with `EPERM`. A file without permissions simulates
    /// that for a user other than root.
    @Test func aFileThatCannotBeOpenedIsUnavailableAndNotOverwritten() async {
        #expect(FileFailure(call: "open", code: EPERM).isPermissionDenied)
        await #expect(processExitsWith: .success) {
            setuid(65_534)
            let folder = FileManager.default.temporaryDirectory.appending(path: "AdapterTests-\(UUID().uuidString)")
            let file = folder.appending(path: "settings")
            let key = DefaultKey<Int?>("number")
            try UserDefault(key, in: DefaultsSuite(backend: FileBackend(path: file.path))).store.save(5)
            chmod(file.path, 0)
            let suite = DefaultsSuite(backend: FileBackend(path: file.path))
            suite.onFailure = { _ in }
            let store = UserDefault(key, in: suite).store
            #expect(fails(with: .unavailable) { _ = try store.load() })
            #expect(fails(with: .unavailable) { try store.save(1) })
            #expect(fails(with: .unavailable) { try store.updateStored { $0 = 1 } })
            #expect(fails(with: .unavailable) { _ = try suite.keys() })
            #expect(fails(with: .unavailable) { try suite.removeAll() })
            #expect(store.get() == nil)
            chmod(file.path, 0o600)
            #expect(try store.load() == 5)
            try store.save(6)
            #expect(store.get() == 6)
            try FileManager.default.removeItem(at: folder)
        }
    }
}
