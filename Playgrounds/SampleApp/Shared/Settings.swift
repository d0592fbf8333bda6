import TypedDefaults

struct CameraConfig: DefaultConvertible, Codable {
    static let key = "CameraConfig"
    enum Size: String, Codable { case large, medium, small }
    var savesToCameraRoll = true
    var size = Size.medium
}

extension DefaultKey<CameraConfig> { static let config = DefaultKey("CameraConfig", default: CameraConfig()) }
extension DefaultKey<Bool> { static let showsGrid = DefaultKey("showsGrid", default: true) }

enum Settings {
    /// What the app and its widget share. Both targets need the app group among their capabilities.
    // The name is right, and a wrong one is the programmer's mistake.
    static let group = try! DefaultsSuite(name: "group.com.example.camera")
}
