public import SwiftUI
import TypedDefaults

public struct CameraScreen: View {
    @State private var model: CameraModel
    /// The same settings as those of the model. `$camera` is a binding for controls.
    @ViewSetting private var camera: CameraConfig

    public init() { self.init(model: CameraModel()) }
    init(model: CameraModel) { _model = State(wrappedValue: model) }

    public var body: some View {
        Form {
            Toggle("Save to Camera Roll", isOn: $camera.savesToCameraRoll)
            Text(model.title)
            Button("Zoom In") { model.zoomIn() }
            Button("Reset") { model.reset() }
            if let message = model.message { Text(message) }
        }
    }
}
