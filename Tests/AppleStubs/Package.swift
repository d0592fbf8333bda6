// swift-tools-version: 6.2
import PackageDescription

// The library and its tests, built against stubs of Apple's modules, so that the code for Apple
// platforms compiles and runs on Linux. This is a package of its own because modules share one
// folder: in the library's package, `canImport` of a stub that a target does not depend on would be
// false in a clean build and true in the next.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    // Not a command-line flag, because that would also apply to OpenCombine.
    .treatAllWarnings(as: .error),
]
let apple: [Target.Dependency] = ["AppleFoundation", "Combine", "SwiftUI", "os"]

func tests(_ name: String, _ others: [Target.Dependency] = [], exclude: [String] = []) -> Target {
    .testTarget(
        name: name,
        dependencies: [
            "SettingsFile", "SettingsFileInspection", "TypedDefaults", "TypedDefaultsTesting", "TestSupport",
        ]
            + others + apple,
        exclude: exclude, swiftSettings: settings)
}

// The code under some tests is the same on Linux, so they are left out at a landing.
let isLanding = Context.environment["TYPED_DEFAULTS_LANDING"] != nil
let sameOnLinux =
    isLanding
    ? []
    : [
        tests("SettingsFileTests", exclude: ["Fixtures"]), tests("ValuesTests"),
        tests("RecipesTests", ["TypedDefaultsRecipes"]),
    ]

let package = Package(
    name: "AppleStubs",
    dependencies: [.package(url: "https://github.com/OpenCombine/OpenCombine", exact: "0.14.0")],
    targets: [
        .target(name: "AppleFoundation", swiftSettings: settings),
        .target(
            name: "Combine", dependencies: [.product(name: "OpenCombine", package: "OpenCombine")],
            swiftSettings: settings),
        .target(name: "SwiftUI", swiftSettings: settings),
        .target(name: "os", swiftSettings: settings),
        .systemLibrary(name: "CChecksum"),
        .target(
            name: "SettingsFile", dependencies: ["AppleFoundation", "CChecksum", "os"], swiftSettings: settings),
        .target(
            name: "TypedDefaults", dependencies: ["SettingsFile"] + apple,
            exclude: ["Platform/Apple/PrivacyInfo.xcprivacy"],
            swiftSettings: settings),
        .target(
            name: "SettingsFileInspection", dependencies: ["SettingsFile", "TypedDefaults"], swiftSettings: settings),
        .target(
            name: "TypedDefaultsRecipes", dependencies: ["TypedDefaults"] + apple, packageAccess: false,
            swiftSettings: settings),
        .target(
            name: "TypedDefaultsTesting", dependencies: ["SettingsFile", "TypedDefaults"] + apple,
            swiftSettings: settings),
        .executableTarget(
            name: "typed-defaults", dependencies: ["SettingsFile", "SettingsFileInspection", "TypedDefaults"],
            swiftSettings: settings),
        // The app in Playgrounds/Camera.swiftpm, whose own manifest only Xcode can read.
        .target(name: "CameraKit", dependencies: ["TypedDefaults", "SwiftUI"], swiftSettings: settings),
        .executableTarget(
            name: "CameraApp", dependencies: ["CameraKit", "TypedDefaults", "SwiftUI"], swiftSettings: settings),
        .testTarget(
            name: "CameraKitTests", dependencies: ["CameraKit", "TypedDefaults", "TypedDefaultsTesting"],
            exclude: ["Fixtures"], swiftSettings: settings),
        .target(
            name: "TestSupport", dependencies: ["SettingsFile", "SettingsFileInspection", "TypedDefaults"] + apple,
            swiftSettings: settings),
        tests("SuitesTests", exclude: ["Fixtures"]),
        tests(
            "LibraryTests", ["typed-defaults"],
            exclude: isLanding
                ? ["TimeMachine", "Testing", "Tool"] : ["TimeMachine/Fixtures", "Testing/Fixtures"]),
        tests("AdapterTests"),
    ] + sameOnLinux,
    swiftLanguageModes: [.v6]
)
