import TypedDefaults

struct CameraConfig: DefaultConvertible, Codable {
    static let key = "CameraConfig"
    enum Size: String, Codable { case large, medium, small }
    var savesToCameraRoll = true
    var size = Size.medium
}

// `nonisolated`, because a new project of Xcode 26 isolates all code to the main actor by default.
nonisolated extension DefaultKey<CameraConfig> {
    static let config = DefaultKey("CameraConfig", default: CameraConfig())
}
nonisolated extension DefaultKey<Bool> {
    static let showsGrid = DefaultKey("showsGrid", default: true)
}

enum Settings {
    /// What the app and its widget share. Both targets need the app group among their capabilities.
    // The name is right, and a wrong one is the programmer's mistake.
    static let group = try! DefaultsSuite(name: "group.com.example.camera")
}
