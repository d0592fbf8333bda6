import TypedDefaults

/// The settings. Their initial values are the defaults.
struct CameraConfig: DefaultConfig {
    static let key = "CameraConfig"
    var savesToCameraRoll = true
    var zoom = 1
}
