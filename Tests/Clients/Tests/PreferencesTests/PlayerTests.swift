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
        let messages = Messages(of: suite)
        player.turnUp(by: 9)
        #expect(suite[.volume] == 10)
        #expect(try suite.contents()["volume"] == 10)
        #expect(messages.all == [])
        // Another program stores a volume that this one does not allow.
        try suite.update { $0["volume"] = -3 }
        #expect(suite[.volume] == 0)
        player.turnUp(by: 2)
        #expect(suite[.volume] == 2)
    }

    @Test func aPortIsRefusedWithAMessage() throws {
        #expect(player.usePort(9000) == nil)
        #expect(player.usePort(80) == "invalid “port” (Int): the value must be in 1024...65535")
        #expect(suite[.port] == 9000)
        #expect(try suite.contents()["port"] == 9000)
    }

    @Test func aStoredPortThatIsRefusedReadsAsTheDefaultAndIsKept() throws {
        let messages = Messages(of: suite)
        try suite.update { $0["port"] = 80 }
        #expect(suite[.port] == 8080)
        #expect(suite[.port] == 8080)
        #expect(messages.all.count == 1)
        #expect(player.usePort(9000) == nil)
        #expect(suite[.port] == 9000)
        #expect(try suite.contents()["port.unreadable"] == 80)
    }

    @Test func aRuleOfOnePropertyReplacesThatPropertyOnly() throws {
        let messages = Messages(of: suite)
        try suite.update { $0["Equalizer"] = ["bass": 99, "preset": "loud", "isLoud": false] }
        let value = player.equalizer.value
        #expect(value.bass == 12)
        #expect(value.preset == "flat")
        for property in ["bass", "preset"] {
            #expect(messages.all.filter { $0.contains(" at \(property):") }.count == 1, "reported once")
        }
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
