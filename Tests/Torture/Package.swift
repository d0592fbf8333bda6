// swift-tools-version: 6.2
import PackageDescription

// The program that the torture scripts run, and the one that `Tests/Benchmarks/instructions`
// measures. A package of its own, so that clients do not build them, and one package, because both
// are release builds.
let package = Package(
    name: "Torture",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "TypedDefaults", path: "../..")],
    targets: [
        .executableTarget(
            name: "torture", dependencies: ["SeveralKeys", "TypedDefaults"],
            swiftSettings: [.treatAllWarnings(as: .error)]),
        // A file of `Tests/Support`, because the compiler has to be right in release builds, too.
        .target(
            name: "SeveralKeys", dependencies: ["TypedDefaults"], path: "Sources/Support",
            sources: ["SeveralKeys.swift"]),
        .executableTarget(
            name: "Instructions",
            dependencies: ["TypedDefaults", .product(name: "TypedDefaultsRecipes", package: "TypedDefaults")],
            swiftSettings: [.treatAllWarnings(as: .error)]),
    ]
)
