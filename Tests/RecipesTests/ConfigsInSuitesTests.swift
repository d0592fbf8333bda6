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

/// Config classes with what suites offer: rules, scopes, secrecy, moved settings.
@Suite(.ownThreads) struct ConfigsInSuitesTests {
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

    // On Apple platforms the standard suite is the user's own.
    #if !canImport(Darwin)
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
