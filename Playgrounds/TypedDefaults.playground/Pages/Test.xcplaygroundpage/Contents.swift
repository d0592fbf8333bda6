//: # Test
//:
//: A model that takes an `AnyStore` needs no mock: a test passes a store in memory.
import TypedDefaults

struct CameraConfig: DefaultConfig {
    static let key = "CameraConfig"
    var zoom = 1
}

@MainActor final class CameraModel {
    let config: AnyStore<CameraConfig>
    init(config: AnyStore<CameraConfig> = .persistent()) { self.config = config }
    func zoomIn() throws { try config.update { $0.zoom *= 2 } }
}

let model = CameraModel(config: .inMemory(CameraConfig(zoom: 2)))
try model.zoomIn()
print(model.config.value.zoom)  // 4

//: In a test target, write the same with Swift Testing:
//:
//:     @Test @MainActor func zoomingInDoublesTheZoom() throws {
//:         let model = CameraModel(config: .inMemory())
//:         try model.zoomIn()
//:         #expect(model.config.value.zoom == 2)
//:     }
//:
//: `Camera.swiftpm/Tests` has such tests, one of them with a full disk.
//:
//: [Next: Error](@next)
