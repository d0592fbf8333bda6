// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that whoever depends on the library never sees it: `swift run -c release --package-path Benchmarks`
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v14)],
    dependencies: [
        // The peer of the settings file. Exact, so that the ratios of two runs mean the same.
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0")
    ],
    targets: [
        .systemLibrary(name: "CMalloc"),
        // The library once more, through links, so that its engine can be measured without what is above it.
        .target(name: "SettingsFile", swiftSettings: settings),
        .target(
            name: "TypedDefaults", dependencies: ["SettingsFile"], exclude: ["Platform/Apple/PrivacyInfo.xcprivacy"],
            swiftSettings: settings + [.define("UserDefaults")]),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "CMalloc", "SettingsFile", "TypedDefaults", .product(name: "GRDB", package: "GRDB.swift"),
            ], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
