import Observation
import TypedDefaults

struct CameraConfig: DefaultConfig, Equatable {
    static let key = "CameraConfig"
    enum Size: String, Codable { case large, medium, small }
    var savesToCameraRoll = true
    var size = Size.medium
    var quality = 0.8
    var owner = ""
    var shots = 0
}

/// The view model of a camera. A view that reads its properties is updated when they change.
@MainActor final class CameraModel {
    let config: AnyStore<CameraConfig>

    /// The sizes that were chosen while this model existed, oldest first.
    private(set) var chosenSizes: [CameraConfig.Size] = []
    private var token: ObservationToken?

    init(config: AnyStore<CameraConfig> = .persistent()) {
        self.config = config
        token = config.observeOnMainActor { [weak self] change in
            let old = change.oldValue ?? CameraConfig()
            if change.value.size != old.size { self?.chosenSizes.append(change.value.size) }
        }
    }

    var savesToCameraRoll: Bool { config.value.savesToCameraRoll }

    var megapixels: Double {
        switch config.value.size {
        case .large: 48
        case .medium: 12
        case .small: 3
        }
    }

    /// The approximate size of a picture in megabytes.
    var megabytes: Double { megapixels * (0.1 + 0.4 * config.value.quality) }

    var title: String {
        let config = config.value
        return config.owner.isEmpty ? "\(config.size) camera" : "\(config.owner)'s \(config.size) camera"
    }

    var hasChanges: Bool { config.value != CameraConfig() }

    func choose(_ size: CameraConfig.Size) throws { try config.update { $0.size = size } }
    func takePicture() throws { try config.update { $0.shots += 1 } }
    func setOwner(_ name: String) throws { try config.update { $0.owner = name } }
    func reset() { config.remove() }
}
