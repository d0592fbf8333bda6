import Testing
import TypedDefaults

#if MainActorClient
    import MainActorPreferences
#else
    import Preferences
#endif

@MainActor struct FlagTests {
    let suite = DefaultsSuite.inMemory()

    func menu() -> FlagMenu {
        FlagMenu(
            suite: suite, arguments: ["app", "-flag/f01", "YES"], environment: ["APP_FLAG_F02": "1"],
            server: ["flag/f04": true, "flag/f05": true])
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
}
