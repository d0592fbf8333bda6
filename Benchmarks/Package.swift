// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that whoever depends on the library never sees it: `swift run -c release --package-path Benchmarks`
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(name: "TypedDefaults", path: "..", traits: ["UserDefaults"]),
        // The peer of the settings file. Exact, so that the ratios of two runs mean the same.
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        .systemLibrary(name: "CMalloc"),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "CMalloc", .product(name: "TypedDefaults", package: "TypedDefaults"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
