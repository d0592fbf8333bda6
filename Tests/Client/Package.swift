// swift-tools-version: 6.2
import PackageDescription

// A package that uses the library as people do, with its warnings as errors: once with the
// language's own defaults, and once isolated to the main actor by default, as new Xcode projects
// are. The second one is a link to the first one's sources.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]
let mainActor: [SwiftSetting] =
    strict + [
        .define("MainActorClient"),
        .defaultIsolation(MainActor.self), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
    ]

let libraries: [Target.Dependency] = [
    "TypedDefaults", .product(name: "TypedDefaultsTesting", package: "TypedDefaults"),
]

let package = Package(
    name: "Client",
    platforms: [.iOS(.v17), .macOS(.v14), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
    dependencies: [.package(name: "TypedDefaults", path: "../..")],
    targets: [
        .target(name: "Camera", dependencies: ["TypedDefaults"], swiftSettings: strict),
        .testTarget(name: "CameraTests", dependencies: ["Camera"] + libraries, swiftSettings: strict),
        .target(name: "MainActorCamera", dependencies: ["TypedDefaults"], swiftSettings: mainActor),
        .testTarget(
            name: "MainActorCameraTests", dependencies: ["MainActorCamera"] + libraries,
            swiftSettings: mainActor),
    ]
)
