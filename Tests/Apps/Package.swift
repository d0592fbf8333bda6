// swift-tools-version: 6.2
import PackageDescription

// Three small apps, written with README.md and the documentation pages only. Their tests fail if
// the library does not do what these pages say.
let package = Package(
    name: "Apps",
    platforms: [.macOS(.v14)],
    dependencies: [.package(name: "TypedDefaults", path: "../..")],
    targets: [
        .executableTarget(name: "Notes", dependencies: ["TypedDefaults"]),
        .testTarget(
            name: "NotesTests",
            dependencies: [
                "Notes", "TypedDefaults", .product(name: "TypedDefaultsTesting", package: "TypedDefaults"),
            ]),
        .target(name: "CameraModel", dependencies: ["TypedDefaults"]),
        .testTarget(name: "CameraModelTests", dependencies: ["CameraModel", "TypedDefaults"]),
        .target(name: "Migrating", dependencies: ["TypedDefaults"]),
        .testTarget(name: "MigratingTests", dependencies: ["Migrating", "TypedDefaults"]),
    ],
    swiftLanguageModes: [.v6]
)
