//: # SwiftUI
//:
//: `@ViewSetting` declares a setting of a view. Its `$` is a `Binding`, and the view updates when
//: the value changes.
#if canImport(SwiftUI)
    import SwiftUI
    import TypedDefaults

    struct CameraConfig: DefaultConfig {
        static let key = "CameraConfig"
        var savesToCameraRoll = true
    }

    struct CameraSettings: View {
        @ViewSetting private var camera: CameraConfig
        var body: some View { Toggle("Save to Camera Roll", isOn: $camera.savesToCameraRoll) }
    }

    //: The settings are in the suite of the environment, by default `DefaultsSuite.standard`.
    let suite = DefaultsSuite.inMemory()
    let view = CameraSettings().environment(\.defaultsSuite, suite)

    #if canImport(PlaygroundSupport)
        import PlaygroundSupport
        PlaygroundPage.current.setLiveView(view)
    #endif
#endif
//: [Next: Test](@next)
