// swift-tools-version: 6.2
import PackageDescription

// The library and its tests once more, with modules named as Apple's beside them, so that the code for Apple platforms is compiled and
// run on Linux. A package of its own: in the library's, `canImport` of a module that a target does not declare would be false in a
// clean build and true in the next, since all modules share one folder.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    // Not by a flag of the command line, which would go to OpenCombine as well.
    .treatAllWarnings(as: .error),
]
let apple: [Target.Dependency] = ["AppleFoundation", "Combine", "SwiftUI", "os"]

let package = Package(
    name: "AppleStubs",
    dependencies: [.package(url: "https://github.com/OpenCombine/OpenCombine", exact: "0.14.0")],
    targets: [
        .target(name: "AppleFoundation", swiftSettings: settings),
        .target(
            name: "Combine", dependencies: [.product(name: "OpenCombine", package: "OpenCombine")],
            swiftSettings: settings),
        .target(name: "SwiftUI", swiftSettings: settings),
        .target(name: "WidgetKit", dependencies: ["SwiftUI"], swiftSettings: settings),
        .target(name: "os", swiftSettings: settings),
        .target(name: "SettingsFile", dependencies: ["AppleFoundation", "os"], swiftSettings: settings),
        .target(
            name: "TypedDefaults", dependencies: ["SettingsFile"] + apple,
            exclude: ["Platform/Apple/PrivacyInfo.xcprivacy"],
            swiftSettings: settings),
        .executableTarget(name: "typed-defaults", dependencies: ["TypedDefaults"], swiftSettings: settings),
        // Two programs of one folder, as in Xcode.
        .executableTarget(
            name: "SampleApp", dependencies: ["TypedDefaults", "SwiftUI", "WidgetKit"], exclude: ["Widget"],
            swiftSettings: settings),
        .executableTarget(
            name: "SampleWidget", dependencies: ["TypedDefaults", "SwiftUI", "WidgetKit"], exclude: ["App"],
            swiftSettings: settings),
        .testTarget(
            name: "TypedDefaultsTests", dependencies: ["SettingsFile", "TypedDefaults", "typed-defaults"] + apple,
            swiftSettings: settings),
        .testTarget(
            name: "AdapterTests", dependencies: ["SettingsFile", "TypedDefaults"] + apple, swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
