// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that clients of the library do not fetch SwiftNIO. A release splits it
// into a repository of its own; see README.md.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"), .treatAllWarnings(as: .error),
]
let nio: [Target.Dependency] = [
    .product(name: "NIOConcurrencyHelpers", package: "swift-nio"), .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
]

let package = Package(
    name: "TypedDefaultsEtcd",
    platforms: [.macOS(.v15)],
    products: [.library(name: "TypedDefaultsEtcd", targets: ["TypedDefaultsEtcd"])],
    dependencies: [
        .package(name: "TypedDefaults", path: "../.."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    ],
    targets: [
        .target(
            name: "TypedDefaultsEtcd",
            dependencies: ["TypedDefaults", .product(name: "NIOSSL", package: "swift-nio-ssl")] + nio,
            swiftSettings: settings),
        // The program that the proofs of `Tests/Cluster` run.
        .executableTarget(
            name: "client", dependencies: ["TypedDefaults", "TypedDefaultsEtcd"], path: "Tests/Cluster/Client",
            swiftSettings: settings),
        .testTarget(
            name: "TypedDefaultsEtcdTests",
            dependencies: [
                "TypedDefaults", "TypedDefaultsEtcd",
                .product(name: "TypedDefaultsTesting", package: "TypedDefaults"),
            ] + nio,
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
