import TypedDefaults

struct CameraConfig: DefaultConvertible, Codable, Equatable {
    static let key = "CameraConfig"
    enum Size: String, Codable { case large, medium, small }
    var savesToCameraRoll = true
    var size = Size.medium
}
