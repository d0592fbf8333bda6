import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting
import XCTest

/// The example of 2016, word for word except for `Any` in place of `AnyObject`. It is in a
/// namespace, because `CameraConfig` is the current one.
enum Year2016 {
    struct CameraConfig: DefaultConvertible {
        // The names of 2016.
        // swift-format-ignore: AlwaysUseLowerCamelCase
        enum Size: Int { case Large, Medium, Small }

        static let key = "CameraConfig"
        var saveToCameraRoll: Bool
        var size: Size

        init?(_ object: Any) {
            guard let dict = object as? [String: Any] else { return nil }
            self.saveToCameraRoll = dict["cameraRoll"] as? Bool ?? true
            if let rawSize = dict["size"] as? Int, let size = Size(rawValue: rawSize) {
                self.size = size
            } else {
                self.size = .Medium
            }
        }

        func serialize() -> Any {
            return ["cameraRoll": saveToCameraRoll, "size": size.rawValue]
        }
    }

    final class CameraViewController {
        lazy var config: AnyStore<CameraConfig> = AnyStore(PersistentStore())
    }
}

struct CameraConfig2016Tests {
    typealias CameraConfig = Year2016.CameraConfig

    @Test func theExampleWorksWordForWord() {
        let store = InMemoryStore<CameraConfig>()
        var config = CameraConfig([:])!
        #expect(config.saveToCameraRoll)
        store.set(config)
        #expect(store.get()?.size == .Medium)
        config.size = .Large
        store.set(config)
        #expect(store.get()?.size == .Large)
        store.remove()
        #expect(store.get() == nil)
    }

    @Test func theExampleIsStoredAsItSerializes() throws {
        let suite = DefaultsSuite.inMemory()
        var config = try #require(CameraConfig(["cameraRoll": false, "size": 2]))
        PersistentStore<CameraConfig>(in: suite).set(config)
        #expect(suite[DefaultKey<PropertyList?>("CameraConfig")] == ["cameraRoll": false, "size": 2])
        config.size = .Large
        try PersistentStore<CameraConfig>(in: suite).save(config)
        #expect(suite[DefaultKey<PropertyList?>("CameraConfig")] == ["cameraRoll": false, "size": 0])
    }

    @Test func theExampleReadsWhatItCan() {
        #expect(CameraConfig(5) == nil)
        #expect(CameraConfig([1, 2]) == nil)
        #expect(CameraConfig(["size": 7, "cameraRoll": "no"])?.size == .Medium)
        #expect(CameraConfig(["size": 7, "cameraRoll": "no"])?.saveToCameraRoll == true)
        #expect(CameraConfig(["cameraRoll": false])?.saveToCameraRoll == false)
    }

    @Test(.isolatedDefaults) func theStoreOfAViewControllerIsReplacedFromOutside() throws {
        let controller = Year2016.CameraViewController()
        let store = InMemoryStore<CameraConfig>()
        controller.config = AnyStore(store)
        var config = CameraConfig([:])!
        config.size = .Small
        store.set(config)
        #expect(controller.config.get()?.size == .Small)
        config.size = .Large
        controller.config.set(config)
        #expect(store.get()?.size == .Large)

        #expect(try DefaultsSuite.standard.keys() == [])
    }

    @Test func theStoreOfAViewControllerIsInMemoryFromTheStart() {
        let controller = Year2016.CameraViewController()
        controller.config = AnyStore(InMemoryStore())
        #expect(controller.config.get() == nil)
    }
}

final class CameraConfig2016XCTests: XCTestCase {
    typealias CameraConfig = Year2016.CameraConfig

    func testCameraConfig() {
        let store = AnyStore(InMemoryStore<CameraConfig>())
        var config = CameraConfig([:])!
        store.set(config)
        XCTAssertEqual(store.get()?.size, .Medium)
        config.size = .Large
        store.set(config)
        XCTAssertEqual(store.get()?.size, .Large)
        store.remove()
        XCTAssertNil(store.get())
    }

    func testReplacingTheStoreOfAViewController() {
        let controller = Year2016.CameraViewController()
        controller.config = AnyStore(InMemoryStore())
        XCTAssertNil(controller.config.get())
        controller.config.set(CameraConfig(["cameraRoll": false])!)
        XCTAssertEqual(controller.config.get()?.saveToCameraRoll, false)
    }
}
