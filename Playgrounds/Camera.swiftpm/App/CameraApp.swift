import CameraKit
import SwiftUI
import TypedDefaults

@main struct CameraApp: App {
    // Prints one line for each change, by the app or by another process.
    private let token = DefaultsSuite.standard.observeAll(prefix: "CameraConfig") { change in
        print("\(change.origin): \(change.keys)")
    }

    var body: some Scene {
        WindowGroup { CameraScreen() }
    }
}
