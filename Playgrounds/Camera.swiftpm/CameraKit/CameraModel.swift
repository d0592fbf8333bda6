import Observation
import TypedDefaults

/// The model of the screen. It does not know where its settings are stored.
@MainActor @Observable final class CameraModel {
    private let config: AnyStore<CameraConfig>
    private(set) var message: String?

    init(config: AnyStore<CameraConfig> = .persistent()) { self.config = config }

    var title: String { "Zoom \(config.value.zoom)×" }

    func zoomIn() {
        do {
            try config.update { $0.zoom = min($0.zoom * 2, 8) }
            message = nil
        } catch {
            message = "The zoom could not be saved."
        }
    }

    /// Removes what is stored. All values are defaults again.
    func reset() { config.remove() }
}
