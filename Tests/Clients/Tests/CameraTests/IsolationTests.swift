import Testing
import TypedDefaults
import TypedDefaultsTesting
import XCTest

#if MainActorClient
    import MainActorCamera
#else
    import Camera
#endif

@MainActor @Suite(.isolatedDefaults) struct IsolationTests {
    @Test(arguments: 1...20) func eachTestStartsWithoutSettings(count: Int) {
        let model = ZoomModel()
        for _ in 0..<count { model.zoomIn() }
        #expect(model.level == Double(1 << count))
    }

    @Test(.isolatedDefaults(["zoom.level": 4.0, "zoom.isLocked": true])) func aTestStartsWithGivenSettings() {
        ZoomModel().zoomIn()
        #expect(ZoomModel().level == 4)
    }

    @Test func aStoreThatTheTestDoesNotUseIsUnimplemented() throws {
        let model = CameraModel(config: AnyStore(UnimplementedStore()), zoom: .inMemory())
        try model.shoot()
    }

    @Test func theModelReportsWhatIsNotStored() throws {
        let suite = DefaultsSuite(backend: FailingBackend(.commit, at: 2))
        let model = CameraModel(config: .inMemory(), zoom: .persistent(in: suite))
        try model.shoot()
        #expect(throws: DefaultsError.self) { try model.shoot() }
        #expect(model.zoom.get() == Zoom(factor: 2))
    }

    @Test func theModelFollowsAnotherProcess() throws {
        let backend = SharedBackend()
        let model = CameraModel(config: .persistent(in: DefaultsSuite(backend: backend)), zoom: .inMemory())
        try backend.updateFromOutside { $0[CameraConfig.self].size = .large }
        #expect(model.config.value.size == .large)
    }

    @Test func typesAreStoredAsTheyAre() {
        expectRoundTrip(of: CameraConfig())
        expectRoundTrip(of: Grid())
        expectRoundTrip(of: Zoom(factor: 0.1))
    }
}

nonisolated final class IsolationXCTests: XCTestCase {
    override func invokeTest() {
        withIsolatedDefaults(["zoom.level": 3.0]) { super.invokeTest() }
    }

    func testATestStartsWithGivenSettings() {
        XCTAssertEqual(ZoomModel().level, 3)
        ZoomModel().level = 5
    }

    func testAnotherTestStartsWithThemToo() { XCTAssertEqual(ZoomModel().level, 3) }
}
