// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that clients of the library do not see its dependencies. It needs the
// Debian packages liblmdb-dev and libsqlite3-dev.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v14)],
    targets: [
        .systemLibrary(name: "CLMDB"),
        .systemLibrary(name: "CMalloc"),
        .systemLibrary(name: "CSQLite"),
        // The library's sources through symbolic links, so that its engine can be measured
        // separately.
        .systemLibrary(name: "CChecksum"),
        .target(name: "SettingsFile", dependencies: ["CChecksum"], swiftSettings: settings),
        .target(
            name: "TypedDefaults", dependencies: ["SettingsFile"], exclude: ["Platform/Apple/PrivacyInfo.xcprivacy"],
            swiftSettings: settings),
        .executableTarget(
            name: "Benchmarks",
            dependencies: ["CLMDB", "CMalloc", "CSQLite", "SettingsFile", "TypedDefaults"],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
