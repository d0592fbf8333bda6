import Testing
import TypedDefaults
import TypedDefaultsTesting

@testable import Notes

struct WorldTests {
    @Test(arguments: StoreWorld<EditorConfig>.all)
    func aFontSizeIsSetInEverySuite(world: StoreWorld<EditorConfig>) async {
        await world.check(
            in: {
                $0
            },
            act: {
                try Notes.setting("fontSize").set($0, "9")
            },
            shows: { suite, config in
                (try? Notes.setting("fontSize").get(suite)) == "\(config.fontSize)"
            })
    }
}
