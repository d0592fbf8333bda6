import TypedDefaults

struct CameraConfig: DefaultConvertible, Codable {
    static let key = "CameraConfig"
    enum Size: String, Codable { case large, medium, small }
    var savesToCameraRoll = true
    var size = Size.medium
}
let s = DefaultsSuite.inMemory(["x.unreadable": "y", "CameraConfig": 5])
let store = PersistentStore<CameraConfig>(suite: s)
print(store.get() as Any)
store.set(CameraConfig(savesToCameraRoll: false))
print(store.get() as Any, try! s.keys())
try store.update { $0?.size = .large }
print(store.get() as Any)
dump(store)
do { try store.update { _ in try store.save(CameraConfig()) } } catch { print(error) }
print(s[DefaultKey("CameraConfig")] as PropertyList? as Any)
