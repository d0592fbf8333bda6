// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that whoever depends on the library never sees it: `swift run -c release --package-path Benchmarks`
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v14)],
    dependencies: [.package(name: "TypedDefaults", path: "..", traits: ["UserDefaults"])],
    targets: [
        .executableTarget(
            name: "Benchmarks", dependencies: [.product(name: "TypedDefaults", package: "TypedDefaults")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
