import SwiftUI
import TypedDefaults

// A sample for the list in Tests/AppleCheck/OnAMac.md. In Xcode: a new iOS app with a widget
// extension and an app group, App/ and Shared/ in the app's target, Widget/ and Shared/ in the
// extension's, and this package in both.
@main struct CameraApp: App {
    private let tokens: [ObservationToken]

    init() {
        let config = PersistentStore<CameraConfig>()
        tokens = [
            // One line in the console for each change, by this process or another one.
            config.observe { print("\($0.origin): saves to camera roll: \($0.newValue?.savesToCameraRoll as Any)") },
            UserDefault(.showsGrid, in: Settings.group).observe { _ in reloadWidgets() },
        ]
    }

    var body: some Scene {
        WindowGroup { CameraSettings(group: Settings.group) }
    }
}

/// The app's own settings, from the environment's suite, and one that the widget shows.
struct CameraSettings: View {
    @Environment(\.defaultsSuite) private var suite
    @UserDefault private var showsGrid: Bool

    init(group: DefaultsSuite) { _showsGrid = UserDefault(.showsGrid, in: group) }

    var body: some View {
        Toggle("Save to camera roll", isOn: suite.binding(.config).savesToCameraRoll)
        Text("Size: \(suite[.config].size.rawValue)")
        Toggle("Grid, in the widget too", isOn: $showsGrid.binding)
    }
}
