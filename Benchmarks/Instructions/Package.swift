// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that counting does not build the dependencies of the other benchmarks.
let package = Package(
    name: "Instructions",
    platforms: [.macOS(.v14)],
    dependencies: [.package(name: "TypedDefaults", path: "../..")],
    targets: [.executableTarget(name: "Instructions", dependencies: ["TypedDefaults"])],
    swiftLanguageModes: [.v6]
)
