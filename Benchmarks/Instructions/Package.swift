// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that this benchmark does not build the dependencies of the others.
let package = Package(
    name: "Instructions",
    platforms: [.macOS(.v14)],
    dependencies: [.package(name: "TypedDefaults", path: "../..")],
    targets: [.executableTarget(name: "Instructions", dependencies: ["TypedDefaults"])],
    swiftLanguageModes: [.v6]
)
