// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that clients of the library do not fetch SwiftNIO.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"), .treatAllWarnings(as: .error),
]
// `Scripts/split` replaces these three lines.
let libraryName = "TypedDefaults"
let library = Package.Dependency.package(name: libraryName, path: "../..")
let typedDefaults = Target.Dependency.product(name: "TypedDefaults", package: libraryName)
let nio: [Target.Dependency] = [
    .product(name: "NIOConcurrencyHelpers", package: "swift-nio"), .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
]

let package = Package(
    name: "TypedDefaultsEtcd",
    platforms: [.macOS(.v15)],
    products: [.library(name: "TypedDefaultsEtcd", targets: ["TypedDefaultsEtcd"])],
    dependencies: [
        library,
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    ],
    targets: [
        .target(
            name: "TypedDefaultsEtcd",
            dependencies: [typedDefaults, .product(name: "NIOSSL", package: "swift-nio-ssl")] + nio,
            swiftSettings: settings),
        // The examples of README.md.
        .executableTarget(
            name: "flag-server", dependencies: [typedDefaults, "TypedDefaultsEtcd"] + nio,
            path: "Examples/FlagServer",
            swiftSettings: settings),
        .executableTarget(
            name: "flip", dependencies: [typedDefaults, "TypedDefaultsEtcd"], path: "Examples/Flip",
            swiftSettings: settings),
        // The program that the proofs of `Tests/Cluster` run.
        .executableTarget(
            name: "client", dependencies: [typedDefaults, "TypedDefaultsEtcd"], path: "Tests/Cluster/Client",
            swiftSettings: settings),
        .testTarget(
            name: "TypedDefaultsEtcdTests",
            dependencies: [
                typedDefaults, "TypedDefaultsEtcd",
                .product(name: "TypedDefaultsTesting", package: libraryName),
            ] + nio,
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
