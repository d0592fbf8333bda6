// Xcode defines `#Preview`; the checks on Linux skip it.
#if canImport(DeveloperToolsSupport)
    import SwiftUI
    import TypedDefaults

    #Preview {
        let suite = DefaultsSuite.inMemory()
        CameraScreen(model: CameraModel(config: .persistent(in: suite))).environment(\.defaultsSuite, suite)
    }
#endif
