import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsRecipes

private final class Config: StorableConfig { @Stored var count = 1 }

private final class Player: StorableConfig {
    @Stored(rule: .in(1...9)) var speed = 3
    @Stored("player-volume", rule: .clamped(to: 0...10)) var volume = 5
}

private final class Account: StorableConfig { @Stored("text") var text = "" }

/// The config class of the first version in `LibraryTests/TimeMachine`.
private final class AppSettings: StorableConfig {
    @Stored var userName = ""
    @Stored var launches = 0
}

/// Config classes with what suites offer: rules, scopes, a suite that stands in, moved settings.
struct ConfigsInSuitesTests {
    @Test func propertiesTakeARule() {
        let suite = DefaultsSuite.inMemory()
        let failures = Failures(of: suite)
        let player = Player(in: suite, identifier: "app")
        player.speed = 10
        #expect(player.speed == 3)
        player.volume = -1
        #expect(player.volume == 0)
        #expect(failures.kinds == [.invalid])
    }

    @Test(arguments: Backend.allCases) func configsUseTheirScope(backend: Backend) throws {
        try backend.withSuite { suite throws in
            let scope = suite.scoped("user-1/")
            try PersistentStore<CameraConfig>(in: scope).save(CameraConfig(size: .large))
            let config = Config(in: scope, identifier: "app")
            config.count = 4
            #expect(try suite.keys() == ["user-1/CameraConfig", "user-1/app/Config/count"])
            config.reset()
            #expect(try suite.keys() == ["user-1/CameraConfig"])
        }
    }

    @Test func aConfigDoesNotShowItsValues() {
        let secret = "S3CR3T"
        let config = Account(in: .inMemory(["text": .string(secret)]))
        #expect(config.text == secret)
        for value in [config, config.$text] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] { #expect(!text.contains(secret)) }
        }
    }

    /// Version 1 stored the fixture with this class.
    @Test func aConfigReadsWhatAnEarlierVersionStored() throws {
        let file = try makeFile()
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let fixture = tests.appending(path: "LibraryTests/TimeMachine/Fixtures/version-1.defaults")
        try FileManager.default.copyItem(at: fixture, to: file)
        let suite = try DefaultsSuite(file: file)
        let failures = Failures(of: suite)
        let before = try suite.contents()
        let settings = AppSettings(in: suite, identifier: "app")
        #expect(settings.userName == "ada" && settings.launches == 7)
        #expect(try suite.contents() == before)
        try settings.$launches.update { $0 += 1 }
        #expect(suite[DefaultKey("app/AppSettings/launches", default: 0)] == 8)
        #expect(failures.all == [])
    }

    // On Apple platforms the standard suite is the user's own.
    #if !canImport(Darwin)
        @Test(.ownFile) func anotherSuiteStandsInForTheStandardOne() async throws {
            await #expect(processExitsWith: .success) { [folder = ownFolder as String] in
                unsetenv("TYPED_DEFAULTS_STANDARD")
                setenv("XDG_CONFIG_HOME", folder, 1)
                let config = Config(identifier: "withStandard")
                config.count = 2
                let stored = try DefaultsSuite.standard.contents()
                let other = DefaultsSuite.inMemory()
                try DefaultsSuite.withStandard(other) { () throws in
                    #expect(config.count == 1)
                    config.count = 4
                    #expect(config.count == 4)
                    #expect(try DefaultsSuite.standard.contents() == other.contents())
                }
                #expect(try other.contents() == ["withStandard/Config/count": 4])
                #expect(try DefaultsSuite.standard.contents() == stored)
                #expect(config.count == 2)
            }
        }

        /// Runs the code of the page “Moving, exporting and importing”.
        @Test(.ownFile) func aRenamedProgramFindsItsConfig() async throws {
            #expect(try article("MovingSettings", shows: "standardName"))
            // The old program.
            let old = try DefaultsSuite(file: URL(filePath: ownFolder + "/old-camera.defaults"))
            AppConfig(in: old, identifier: "old-camera").userName = "Ada"
            for _ in 1...2 {
                await #expect(processExitsWith: .success) { [folder = ownFolder as String] in
                    unsetenv("TYPED_DEFAULTS_STANDARD")
                    setenv("XDG_CONFIG_HOME", folder, 1)
                    DefaultsSuite.standardName = "com.example.camera"
                    try DefaultsSuite(name: "old-camera").move(.all, to: .standard)
                    let config = AppConfig(identifier: "old-camera")
                    try #require(config.userName == "Ada")
                    try #require(DefaultsSuite(name: "old-camera").keys() == [])
                }
            }
        }
    #endif
}
