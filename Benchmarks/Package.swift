// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that clients of the library do not see its dependencies. Run it with
// `swift run -c release --package-path Benchmarks`.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v14)],
    dependencies: [
        // The comparison for the settings file. An exact version keeps the ratios of different runs
        // comparable.
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0")
    ],
    targets: [
        .systemLibrary(name: "CMalloc"),
        // The library's sources through symbolic links, so that its engine can be measured
        // separately.
        .systemLibrary(name: "CChecksum"),
        .target(name: "SettingsFile", dependencies: ["CChecksum"], swiftSettings: settings),
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
