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
}
