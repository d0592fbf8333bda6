// swift-tools-version: 6.2
import PackageDescription

// Examples of articles that use other packages, or need a newer system than the library. A package
// of its own, because the library has no dependency.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]
let library = Target.Dependency.product(name: "TypedDefaults", package: "TypedDefaults")
let testing = Target.Dependency.product(name: "TypedDefaultsTesting", package: "TypedDefaults")
// `swift-crypto` takes longer to build than all else here, so it is left out at a landing.
let isLanding = Context.environment["TYPED_DEFAULTS_LANDING"] != nil
let configuration = Target.Dependency.product(name: "Configuration", package: "swift-configuration")

func example(
    _ name: String, with others: [Target.Dependency] = [], testedWith testing: [Target.Dependency] = []
) -> [Target] {
    let all = [library] + others
    return [
        .target(name: name, dependencies: all, swiftSettings: strict),
        .testTarget(
            name: "\(name)Tests", dependencies: [.init(stringLiteral: name)] + all + testing, swiftSettings: strict),
    ]
}

let package = Package(
    name: "OtherPackages",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "TypedDefaults", path: "../.."),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.2.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    ] + (isLanding ? [] : [.package(url: "https://github.com/apple/swift-crypto", from: "4.0.0")]),
    targets: [
        // `servers` runs this program, and the tool.
        .executableTarget(
            name: "shop-server",
            dependencies: [
                library, .product(name: "Logging", package: "swift-log"),
                .product(name: "typed-defaults", package: "TypedDefaults"),
            ],
            path: "Sources/ShopServer", swiftSettings: strict)
    ] + example("ConfigurationLayer", with: [configuration])
        + example(
            "SuiteProvider", with: [configuration],
            testedWith: [.product(name: "ConfigurationTesting", package: "swift-configuration")])
        + (isLanding ? [] : example("EncryptedStore", with: [.product(name: "Crypto", package: "swift-crypto")]))
        + example("RemoteBackend", testedWith: [testing]),
    swiftLanguageModes: [.v6]
)
