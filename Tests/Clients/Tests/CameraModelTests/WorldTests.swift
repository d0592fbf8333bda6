import Testing
import TypedDefaults
import TypedDefaultsTesting

@testable import CameraModel

@MainActor struct WorldTests {
    @Test(arguments: StoreWorld<CameraConfig>.all)
    func aPictureIsCountedWithEveryStore(world: StoreWorld<CameraConfig>) async {
        await world.check {
            CameraModel(config: $0)
        } act: {
            try $0.takePicture()
        } shows: {
            $0.config.value == $1 && $0.hasChanges == ($1 != CameraConfig())
        }
    }
}
