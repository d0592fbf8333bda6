// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    // `any` marks where a call is dynamic: erasure has a cost and should be seen.
    .enableUpcomingFeature("ExistentialAny"),
    // A file names the modules whose members it uses, so FoundationEssentials is not widened to
    // Foundation by accident.
    .enableUpcomingFeature("MemberImportVisibility"),
    // What the library imports is its own business unless a public signature names it.
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// The privacy manifest is for Apple platforms only, which are built for on a Mac. Elsewhere a
// resource would bring an accessor that imports all of Foundation, 45 MB in a static Linux program.
let privacyManifest = "Platform/Apple/PrivacyInfo.xcprivacy"
#if os(macOS)
    let (resources, excluded): ([Resource], [String]) = ([.copy(privacyManifest)], [])
#else
    let (resources, excluded): ([Resource], [String]) = ([], [privacyManifest])
#endif

// A module without access to `package` symbols: it shows that the public API is enough for another
// way to declare settings.
func outside(_ name: String) -> Target {
    .target(name: name, dependencies: ["TypedDefaults"], packageAccess: false, swiftSettings: settings)
}

// Five modules, so that a change of a test compiles a part of them.
func tests(_ name: String, _ others: [Target.Dependency] = [], exclude: [String] = []) -> Target {
    .testTarget(
        name: name,
        dependencies: [
            "SettingsFile", "SettingsFileInspection", "TypedDefaults", "TypedDefaultsTesting", "TestSupport",
        ] + others,
        exclude: exclude, swiftSettings: settings)
}

let package = Package(
    name: "TypedDefaults",
    platforms: [.iOS(.v17), .macOS(.v14), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
    products: [
        .library(name: "TypedDefaults", targets: ["TypedDefaults"]),
        .library(name: "TypedDefaultsRecipes", targets: ["TypedDefaultsRecipes"]),
        .library(name: "TypedDefaultsTesting", targets: ["TypedDefaultsTesting"]),
        .executable(name: "typed-defaults", targets: ["typed-defaults"]),
    ],
    dependencies: [],
    targets: [
        // The engine: bytes by key in files that any number of processes share. It knows nothing of
        // property lists.
        .target(name: "SettingsFile", dependencies: ["CChecksum"], swiftSettings: settings),
        // One header, for instructions of the processor that Swift cannot use.
        .systemLibrary(name: "CChecksum"),
        .target(
            name: "TypedDefaults", dependencies: ["SettingsFile"], exclude: excluded, resources: resources,
            swiftSettings: settings),
        // The eye of the tool, and of tests: what is wrong with a file, and what can be recovered.
        .target(
            name: "SettingsFileInspection", dependencies: ["SettingsFile", "TypedDefaults"],
            swiftSettings: settings),
        // The forms of published articles. `.ci/run recipes-apart` removes each line with the name.
        outside("TypedDefaultsRecipes"),
        // For the tests of programs that use the library, and of their own stores and backends.
        .target(
            name: "TypedDefaultsTesting", dependencies: ["SettingsFile", "TypedDefaults"], swiftSettings: settings),
        .executableTarget(name: "Tour", dependencies: ["TypedDefaults"], swiftSettings: settings),
        .executableTarget(
            name: "typed-defaults", dependencies: ["SettingsFile", "SettingsFileInspection", "TypedDefaults"],
            swiftSettings: settings),
        .target(
            name: "TestSupport", dependencies: ["SettingsFile", "SettingsFileInspection", "TypedDefaults"],
            path: "Tests/Support",
            swiftSettings: settings),
        tests("SettingsFileTests", exclude: ["Fixtures"]),
        tests("ValuesTests"),
        tests("SuitesTests", exclude: ["Fixtures"]),
        // These run the tool as a program, which only macOS and Linux allow.
        tests(
            "LibraryTests", [.target(name: "typed-defaults", condition: .when(platforms: [.macOS, .linux]))],
            exclude: ["TimeMachine/Fixtures", "Testing/Fixtures"]),
        tests("RecipesTests", ["TypedDefaultsRecipes"]),
    ],
    swiftLanguageModes: [.v6]
)

#if os(macOS)
    // Questions about the systems, too; see Tests/AppleCheck/OnAMac.md. They need a Mac, which is
    // also what evaluates this file.
    package.targets.append(tests("OnAMacTests"))
#endif
