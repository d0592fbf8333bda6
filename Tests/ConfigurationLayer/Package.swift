// swift-tools-version: 6.2
import PackageDescription

// The example of the article *Layers* for the package swift-configuration. A package of its own,
// because the library has no dependency.
let libraries: [Target.Dependency] = [
    .product(name: "Configuration", package: "swift-configuration"),
    .product(name: "TypedDefaults", package: "TypedDefaults"),
]

let package = Package(
    name: "ConfigurationLayer",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "TypedDefaults", path: "../.."),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.2.0"),
    ],
    targets: [
        .target(
            name: "ConfigurationLayer", dependencies: libraries, swiftSettings: [.treatAllWarnings(as: .error)]),
        .testTarget(
            name: "ConfigurationLayerTests", dependencies: ["ConfigurationLayer"] + libraries,
            swiftSettings: [.treatAllWarnings(as: .error)]),
    ],
    swiftLanguageModes: [.v6]
)
