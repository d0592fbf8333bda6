// swift-tools-version: 6.2
import PackageDescription

// The program that the torture scripts run. A package of its own, so that clients do not build it.
let package = Package(
    name: "Torture",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "TypedDefaults", path: "../..")],
    targets: [
        .executableTarget(
            name: "torture", dependencies: ["TypedDefaults"], swiftSettings: [.treatAllWarnings(as: .error)])
    ]
)
