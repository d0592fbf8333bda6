import TypedDefaults

package struct CameraConfig: DefaultConvertible, Codable, Equatable {
    package static let key = "CameraConfig"
    package enum Size: String, Codable { case large, medium, small }
    package var savesToCameraRoll = true
    package var size = Size.medium

    package init(savesToCameraRoll: Bool = true, size: Size = .medium) {
        (self.savesToCameraRoll, self.size) = (savesToCameraRoll, size)
    }
}
