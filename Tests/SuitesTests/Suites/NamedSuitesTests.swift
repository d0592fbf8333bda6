import Foundation
import TestSupport
import Testing
import TypedDefaults

@Suite(.ownThreads) struct NamedSuitesTests {
    @Test(arguments: ["../../x", "/x", "", ".hidden", "a b", "é", "%41", String(repeating: "x", count: 201)])
    func namesWithPathsAreRefused(name: String) {
        #expect(fails(with: .invalidName) { _ = try DefaultsSuite(name: name) })
    }

    #if !canImport(Darwin)
        @Test(.ownFile) func aNamedSuiteIsAFileInTheUsersFolder() async {
            await #expect(processExitsWith: .success) { [folder = ownFolder as String] in
                Self.useFolder(folder + "/config")
                let suite = try DefaultsSuite(name: "com.example.camera")
                let path = folder + "/config/com.example.camera.defaults"
                #expect(suite.location == path)
                try PersistentStore<CameraConfig>(in: suite).save(CameraConfig())
                for (path, mode) in [(path, 0o600), (folder + "/config", 0o700)] {
                    let attributes = try FileManager.default.attributesOfItem(atPath: path)
                    #expect(attributes[.posixPermissions] as? Int == mode)
                }
                // Another handle of that name is the same suite, so it is not blocked by the
                // writer lock.
                let other = PersistentStore<CameraConfig>(in: try DefaultsSuite(name: "com.example.camera"))
                try PersistentStore<CameraConfig>(in: suite).updateStored { _ in
                    let isNested = fails(with: .nestedWrite) { try other.save(CameraConfig()) }
                    #expect(isNested)
                }
            }
        }

        @Test(.ownFile) func aRelativeFolderIsIgnored() async {
            await #expect(processExitsWith: .success) { [folder = ownFolder as String] in
                Self.useFolder("config")
                setenv("HOME", folder, 1)
                let suite = try DefaultsSuite(name: "a")
                #expect(suite.location == folder + "/.config/a.defaults")
            }
        }

        @Test(.ownFile) func theStandardSuiteIsNamedByTheExecutable() async {
            await #expect(processExitsWith: .success) { [folder = ownFolder as String] in
                Self.useFolder(folder)
                let name = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().lastPathComponent
                #expect(DefaultsSuite.standard.location == "\(folder)/\(name).defaults")
                #expect(DefaultsSuite.standardName == name)
                // Setting the same name again is allowed.
                DefaultsSuite.standardName = name
                DefaultsSuite.standard[DefaultKey("number", default: 0)] = 5
                let named = try DefaultsSuite(name: name)
                #expect(named[DefaultKey("number", default: 0)] == 5)
            }
        }

        @Test(.ownFile) func theStandardSuiteCanBeNamedOnce() async {
            await #expect(processExitsWith: .success) { [folder = ownFolder as String] in
                Self.useFolder(folder)
                DefaultsSuite.standardName = "com.example.camera"
                #expect(DefaultsSuite.standard.location == "\(folder)/com.example.camera.defaults")
            }
        }

        @Test func namingTheStandardSuiteTooLateOrWronglyTraps() async {
            await #expect(processExitsWith: .failure) {
                DefaultsSuite.standardName = "com.example.camera"
                DefaultsSuite.standardName = "another"
            }
            await #expect(processExitsWith: .failure) { DefaultsSuite.standardName = "../x" }
        }

        @Test func withoutAFolderSettingsAreUnavailableWithASuggestion() async throws {
            await #expect(processExitsWith: .success) {
                for variable in ["HOME", "XDG_CONFIG_HOME"] { unsetenv(variable) }
                try Self.expectUnavailable(DefaultsSuite(name: "a"))
                #expect(try DefaultsSuite(name: "a").location == nil)
            }
            await #expect(processExitsWith: .success) {
                // Not even root can create this folder.
                setenv("HOME", "/proc/nowhere", 1)
                unsetenv("TYPED_DEFAULTS_STANDARD")
                unsetenv("XDG_CONFIG_HOME")
                let suite = try DefaultsSuite(name: "a")
                #expect(try PersistentStore<CameraConfig>(in: suite).load() == nil)
                try Self.expectUnavailable(suite, accesses: [{ try $0.save(CameraConfig()) }])
            }
        }

        /// Replacing the invalid bytes would lead to another folder.
        @Test(.ownFile) func aFolderThatIsNotUTF8IsUnavailable() async {
            await #expect(processExitsWith: .success) { [folder = ownFolder as String] in
                var name = Array(folder.utf8CString.dropLast())
                name += [UInt8(ascii: "/"), 0x63, 0xE9, 0].map { CChar(bitPattern: $0) }
                unsetenv("TYPED_DEFAULTS_STANDARD")
                setenv("XDG_CONFIG_HOME", name, 1)
                try Self.expectUnavailable(DefaultsSuite(name: "a"))
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
            }
        }

        private static func useFolder(_ path: String) {
            unsetenv("TYPED_DEFAULTS_STANDARD")
            setenv("XDG_CONFIG_HOME", path, 1)
        }

        private static func expectUnavailable(
            _ suite: DefaultsSuite,
            accesses: [(PersistentStore<CameraConfig>) throws -> Void] = [
                { _ = try $0.load() }, { try $0.save(CameraConfig()) },
            ]
        ) throws {
            let store = PersistentStore<CameraConfig>(in: suite)
            for access in accesses {
                do {
                    try access(store)
                    Issue.record("settings are available")
                } catch let error as DefaultsError {
                    #expect(error.kind == .unavailable)
                    for way in ["XDG_CONFIG_HOME", "DefaultsSuite(file:)", ".inMemory()"] {
                        #expect(error.reason.contains(way), "\(error)")
                    }
                }
            }
        }
    #endif
}
