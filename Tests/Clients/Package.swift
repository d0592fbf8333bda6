// swift-tools-version: 6.2
import PackageDescription

// Programs that use the library as its users do, with warnings as errors. One package, so that the
// library is built once for all of them.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]
let mainActor: [SwiftSetting] =
    strict + [
        .define("MainActorClient"),
        .defaultIsolation(MainActor.self), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
    ]

let recipes: Target.Dependency = .product(name: "TypedDefaultsRecipes", package: "TypedDefaults")
let libraries: [Target.Dependency] = [
    "TypedDefaults", recipes, .product(name: "TypedDefaultsTesting", package: "TypedDefaults"),
]
func client(_ name: String, _ settings: [SwiftSetting] = strict) -> Target {
    .target(name: name, dependencies: ["TypedDefaults", recipes], swiftSettings: settings)
}
func tests(of name: String, _ settings: [SwiftSetting] = strict) -> Target {
    .testTarget(name: "\(name)Tests", dependencies: [.init(stringLiteral: name)] + libraries, swiftSettings: settings)
}

// A program with the spellings of each published article, in each mode; the text is the same.
let articles = ["Article000", "Article001", "Article002", "Article003", "Article004"]
let modes: [(name: String, settings: [SwiftSetting])] = [
    ("", strict), ("Swift5", strict + [.swiftLanguageMode(.v5)]), ("MainActor", mainActor),
]
let programs = articles.flatMap { article in
    modes.map { mode in
        Target.executableTarget(name: article + mode.name, dependencies: [recipes], swiftSettings: mode.settings)
    }
}

let package = Package(
    name: "Clients",
    platforms: [.iOS(.v17), .macOS(.v14), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
    dependencies: [.package(name: "TypedDefaults", path: "../..")],
    targets: [
        // One client with the language's own defaults, and isolated to the main actor by default,
        // as new Xcode projects are. The second one is a link to the first one's sources.
        client("Camera"), tests(of: "Camera"),
        client("MainActorCamera", mainActor), tests(of: "MainActorCamera", mainActor),
        .testTarget(
            name: "ArticleTests", dependencies: programs.map { .init(stringLiteral: $0.name) }, swiftSettings: strict),
    ] + programs
)
