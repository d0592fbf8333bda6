#if canImport(DeveloperToolsSupport)
    import SwiftUI
    import TypedDefaults

    #Preview {
        CameraSettings(group: .inMemory(["showsGrid": false])).environment(\.defaultsSuite, .inMemory())
    }
#endif
