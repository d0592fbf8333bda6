// swift-tools-version: 6.2
import AppleProductTypes
import PackageDescription

// A small app. On a Mac, open this folder in Xcode and run the scheme `Camera`. Swift Playgrounds
// does not open packages in a parent folder: use the dependency on the published package there,
//
//     .package(url: "https://github.com/OWNER/TypedDefaults", from: "0.1.0")
let package = Package(
    name: "Camera",
    platforms: [.iOS("17.0")],
    products: [
        .iOSApplication(
            name: "Camera", targets: ["AppModule"], bundleIdentifier: "com.example.camera", teamIdentifier: "",
            displayVersion: "1.0", bundleVersion: "1", appIcon: .placeholder(icon: .camera),
            accentColor: .presetColor(.blue), supportedDeviceFamilies: [.phone, .pad],
            supportedInterfaceOrientations: [
                .portrait, .landscapeLeft, .landscapeRight, .portraitUpsideDown(.when(deviceFamilies: [.pad])),
            ])
    ],
    dependencies: [.package(name: "TypedDefaults", path: "../..")],
    targets: [
        .executableTarget(
            name: "AppModule", dependencies: ["CameraKit", .product(name: "TypedDefaults", package: "TypedDefaults")],
            path: "App"),
        // A library of its own, because a test cannot import the module of an app.
        .target(
            name: "CameraKit", dependencies: [.product(name: "TypedDefaults", package: "TypedDefaults")],
            path: "CameraKit"),
        .testTarget(
            name: "CameraKitTests",
            dependencies: ["CameraKit", .product(name: "TypedDefaultsTesting", package: "TypedDefaults")],
            path: "Tests", exclude: ["Fixtures"]),
    ],
    swiftLanguageModes: [.v6]
)
