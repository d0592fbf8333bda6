import Testing
import TypedDefaults
import TypedDefaultsTesting

@testable import Migrating

struct WorldTests {
    @Test(arguments: StoreWorld<TextConfig>.all)
    func theFontGrowsInEverySuite(world: StoreWorld<TextConfig>) async {
        await world.check(
            in: {
                try Reader(settings: $0)
            },
            act: {
                try $0.text.update { $0.fontSize += 1 }
            },
            shows: {
                $0.text.value == $1
            })
    }
}
