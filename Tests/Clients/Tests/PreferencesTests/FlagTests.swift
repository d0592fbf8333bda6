import Testing
import TypedDefaults

#if MainActorClient
    import MainActorPreferences
#else
    import Preferences
#endif

@MainActor struct FlagTests {
    let suite = DefaultsSuite.inMemory()

    func menu(server: [String: PropertyList] = ["flag/f04": true, "flag/f05": true]) -> FlagMenu {
        FlagMenu(
            suite: suite, arguments: ["app", "-flag/f01", "YES"], environment: ["APP_FLAG_F02": "1"], server: server)
    }

    @Test func theMenuShowsWhereEachValueComesFrom() {
        let menu = menu()
        #expect(menu.answer("f05") == ["f05 off stored"])
        #expect(menu.answer("f06") == ["f06 on stored"])
        let lines = menu.answer("list")
        #expect(lines.count == 30)
        #expect(
            lines.prefix(7) == [
                #"f01 on layer("arguments") (locked)"#, #"f02 on layer("environment") (locked)"#,
                "f03 on defaultValue", #"f04 on layer("server")"#, "f05 off stored", "f06 on stored",
                "f07 off defaultValue",
            ])
    }

    @Test func aLockedFlagKeepsItsValueUntilTheLayerIsGone() {
        let menu = menu()
        #expect(menu.answer("f01") == [#"f01 on layer("arguments") (locked)"#])
        suite.layers = [.stored]
        // Off is what is read without the layer, so nothing was stored.
        #expect(menu.line(.f01) == "f01 off defaultValue")
    }

    @Test func resetForgetsTheStoredFlagsOnly() throws {
        let menu = menu()
        menu.answer("f05")
        menu.answer("f06")
        try suite.update { $0["window"] = 1 }
        menu.answer("reset")
        #expect(try suite.keys() == ["window"])
        #expect(menu.line(.f05) == #"f05 on layer("server")"#)
        #expect(menu.line(.f06) == "f06 off defaultValue")
    }

    @Test func anUnknownFlagIsNotStored() throws {
        #expect(menu().answer("f31") == ["there is no flag f31"])
        #expect(try suite.keys() == [])
    }

    @Test func aValueOfTheServerThatIsNoFlagIsReportedAndSkipped() {
        let messages = Messages(of: suite)
        #expect(menu(server: ["flag/f03": "perhaps"]).line(.f03) == "f03 on defaultValue")
        #expect(messages.all.count == 1)
        #expect(messages.all.first?.contains("server") == true)
    }
}
