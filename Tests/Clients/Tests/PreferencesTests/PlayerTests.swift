import Testing
import TypedDefaults

#if MainActorClient
    import MainActorPreferences
#else
    import Preferences
#endif

@MainActor struct PlayerTests {
    let suite = DefaultsSuite.inMemory()
    var player: Player { Player(suite: suite) }

    @Test func theVolumeIsClamped() throws {
        player.turnUp(by: 9)
        #expect(suite[.volume] == 10)
        #expect(try suite.contents()["volume"] == 10)
        // Another program stores a volume that this one does not allow.
        try suite.update { $0["volume"] = -3 }
        #expect(suite[.volume] == 0)
        player.turnUp(by: 2)
        #expect(suite[.volume] == 2)
    }

    @Test func aConfigThatBreaksARuleIsRefusedAsAWhole() throws {
        try player.equalizer.update { $0.bass = 4 }
        let stored = try suite.contents()
        #expect(throws: DefaultsError.self) { try player.equalizer.update { $0.preset = "pop" } }
        #expect(throws: DefaultsError.self) {
            try player.equalizer.update {
                $0.isLoud = true
                $0.bass = 7
            }
        }
        #expect(try suite.contents() == stored)
        do {
            try player.equalizer.update { $0.preset = "pop" }
        } catch {
            #expect((error as? DefaultsError)?.kind == .invalid)
            #expect("\(error)".contains("preset") && !"\(error)".contains("pop"), "names the property, not the value")
        }
        try player.equalizer.update { $0.bass = 40 }
        #expect(player.equalizer.value.bass == 12)
    }
}
