import Testing
import TypedDefaults
import TypedDefaultsTesting

@testable import CameraKit

@MainActor struct CameraModelTests {
    @Test func aNewUserStartsWithoutZoom() {
        #expect(CameraModel(config: .inMemory()).title == "Zoom 1×")
    }

    @Test func zoomingInDoublesTheZoomUpToEight() {
        let model = CameraModel(config: .inMemory())
        model.zoomIn()
        #expect(model.title == "Zoom 2×")
        for _ in 1...3 { model.zoomIn() }
        #expect(model.title == "Zoom 8×")
    }

    @Test func zoomingInKeepsTheOtherSettings() {
        let config = AnyStore<CameraConfig>.inMemory(CameraConfig(savesToCameraRoll: false))
        CameraModel(config: config).zoomIn()
        #expect(!config.value.savesToCameraRoll)
    }

    @Test func aResetRestoresTheDefaults() {
        let model = CameraModel(config: .inMemory(CameraConfig(zoom: 4)))
        model.reset()
        #expect(model.title == "Zoom 1×")
    }

    @Test func aFullDiskIsReported() {
        let suite = DefaultsSuite(backend: FailingBackend(.commit))
        let model = CameraModel(config: .persistent(in: suite))
        model.zoomIn()
        #expect(model.message == "The zoom could not be saved.")
        #expect(model.title == "Zoom 1×")
    }

    /// The model has no suite here, and uses the standard one, which is in memory.
    @Test(.isolatedDefaults) func theZoomIsThereAtTheNextLaunch() {
        CameraModel().zoomIn()
        #expect(CameraModel().title == "Zoom 2×")
    }

    /// What an update does to the settings of users. For the next release, pass its version.
    @Test func anUpdateChangesNoSettingByAccident() {
        expectRelease("1.0", of: CameraConfig.self)
    }

    /// A full disk, another process, the values of other releases, and seven more.
    @Test(arguments: StoreWorld<CameraConfig>.all)
    func zoomingInWorksWithEveryStore(world: StoreWorld<CameraConfig>) async {
        await world.check {
            CameraModel(config: $0)
        } act: {
            $0.zoomIn()
        } shows: {
            $0.title == "Zoom \($1.zoom)×"
        } reports: {
            $0.message != nil
        }
    }
}
