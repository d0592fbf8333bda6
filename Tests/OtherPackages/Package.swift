// swift-tools-version: 6.2
import PackageDescription

// Examples of articles that use other packages. A package of its own, because the library has no
// dependency.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]
let library = Target.Dependency.product(name: "TypedDefaults", package: "TypedDefaults")

func example(_ name: String, with dependency: Target.Dependency) -> [Target] {
    [
        .target(name: name, dependencies: [library, dependency], swiftSettings: strict),
        .testTarget(
            name: "\(name)Tests", dependencies: [.init(stringLiteral: name), library, dependency],
            swiftSettings: strict),
    ]
}

let package = Package(
    name: "OtherPackages",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "TypedDefaults", path: "../.."),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.2.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
    ],
    targets: example("ConfigurationLayer", with: .product(name: "Configuration", package: "swift-configuration"))
        + example("EncryptedStore", with: .product(name: "Crypto", package: "swift-crypto")),
    swiftLanguageModes: [.v6]
)
