import Testing
import TypedDefaults
import TypedDefaultsTesting

#if MainActorClient
    import MainActorCamera
#else
    import Camera
#endif

@MainActor struct WorldTests {
    @Test(arguments: StoreWorld<CameraConfig>.all)
    func theFlashIsSwitchedWithEveryStore(world: StoreWorld<CameraConfig>) async {
        await world.check {
            CameraModel(config: $0, zoom: .inMemory())
        } act: {
            try $0.config.update { $0.flash.isOn.toggle() }
        } shows: {
            $0.config.value == $1
        }
    }

    @Test(arguments: StoreWorld<EditorConfig>.all)
    func aSizeIsAppliedWithEveryStore(world: StoreWorld<EditorConfig>) async {
        await world.check {
            EditorPane(store: $0)
        } act: {
            $0.draft.value.size += 1
            try $0.apply()
        } shows: {
            // An edit that could not be applied stays in the pane until then.
            $0.revert()
            return $0.draft.value == $1
        }
    }

    @Test(arguments: StoreWorld<Equalizer>.all)
    func theBassGrowsInEverySuite(world: StoreWorld<Equalizer>) async {
        await world.check(
            in: {
                Player(suite: $0)
            },
            act: {
                try $0.equalizer.update { $0.bass += 1 }
            },
            shows: {
                $0.equalizer.value == $1
            })
    }
}
