import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsRecipes

/// A property of a config class has each type, and the form that a `UserDefault` of its type has.
struct StoredTypesTests {
    final class TestClass: Codable, Sendable, Equatable {
        let p1: Int
        let p2: String
        init(p1: Int, p2: String) { (self.p1, self.p2) = (p1, p2) }
        static func == (lhs: TestClass, rhs: TestClass) -> Bool { lhs.p1 == rhs.p1 && lhs.p2 == rhs.p2 }
    }

    /// One property for each type, optional and not.
    final class Config: StorableConfig {
        @Stored var bool = true
        @Stored var int = 1
        @Stored var string = "a"
        @Stored var double = 0.5
        @Stored var float: Float = 0.25
        @Stored var strings = ["a"]
        @Stored var counts = ["a": 1]
        @Stored var url = URL(string: "https://example.com/a")!
        @Stored var object = TestClass(p1: 33, p2: "second")
        @Stored var optionalBool: Bool?
        @Stored var optionalInt: Int?
        @Stored var optionalString: String?
        @Stored var optionalDouble: Double?
        @Stored var optionalFloat: Float?
        @Stored var optionalStrings: [String]?
        @Stored var optionalCounts: [String: Int]?
        @Stored var optionalURL: URL?
        @Stored var optionalObject: TestClass?
    }

    /// Checks the default, a write, a read, and the default again.
    private func check<Value: Codable & Sendable & Equatable>(
        _ property: ReferenceWritableKeyPath<Config, Value>, default value: Value, _ other: Value
    ) throws {
        let suite = DefaultsSuite.inMemory()
        let failures = Failures(of: suite)
        let config = Config(in: suite)
        #expect(config[keyPath: property] == value)
        config[keyPath: property] = other
        #expect(config[keyPath: property] == other)
        #expect(Config(in: suite)[keyPath: property] == other)
        config.reset()
        #expect(config[keyPath: property] == value)
        #expect(failures.all == [])
    }

    @Test func eachTypeReadsItsDefaultThenWhatIsWritten() throws {
        try check(\.bool, default: true, false)
        try check(\.int, default: 1, .max)
        try check(\.string, default: "a", "")
        try check(\.double, default: 0.5, -0.0)
        try check(\.float, default: 0.25, 0.1)
        try check(\.strings, default: ["a"], [])
        try check(\.counts, default: ["a": 1], ["b": 2, "": 3])
        try check(\.url, default: URL(string: "https://example.com/a")!, URL(fileURLWithPath: "/b c"))
        try check(\.object, default: TestClass(p1: 33, p2: "second"), TestClass(p1: 34, p2: "third"))
    }

    @Test func eachOptionalReadsNilThenWhatIsWritten() throws {
        try check(\.optionalBool, default: nil, false)
        try check(\.optionalInt, default: nil, 0)
        try check(\.optionalString, default: nil, "")
        try check(\.optionalDouble, default: nil, 1e300)
        try check(\.optionalFloat, default: nil, 0.1)
        try check(\.optionalStrings, default: nil, [])
        try check(\.optionalCounts, default: nil, [:])
        try check(\.optionalURL, default: nil, URL(string: "https://example.com"))
        try check(\.optionalObject, default: nil, TestClass(p1: 33, p2: "second"))
    }

    final class LaunchConfig: StorableConfig { @Stored var isFirstLaunch = true }

    #if os(macOS) || os(Linux)
        @Test func theFirstLaunchIsTheFirstInOneProcessOnly() async throws {
            let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID())/app.defaults").path
            defer { try? FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent) }
            await #expect(processExitsWith: .success) { [path = path as String] in
                let config = try LaunchConfig(in: DefaultsSuite(file: URL(fileURLWithPath: path)), identifier: "app")
                try #require(config.isFirstLaunch)
                config.isFirstLaunch = false
            }
            await #expect(processExitsWith: .success) { [path = path as String] in
                let config = try LaunchConfig(in: DefaultsSuite(file: URL(fileURLWithPath: path)), identifier: "app")
                try #require(!config.isFirstLaunch)
            }
        }
    #endif

    final class Forms: StorableConfig {
        @Stored("raw") var raw = DeclaredForms.Raw.one
        @Stored("optionalRaw") var optionalRaw: DeclaredForms.Raw?
        @Stored("converting") var converting = DeclaredForms.Converting(1)
        @Stored("optionalConverting") var optionalConverting: DeclaredForms.Converting?
        @Stored("both") var both = DeclaredForms.Both.zero
        @Stored("optionalBoth") var optionalBoth: DeclaredForms.Both?
        @Stored("optionalText") var optionalText: String?
    }

    @Test func storedPropertiesStoreTheFormOfTheirType() throws {
        let suite = DefaultsSuite.inMemory()
        let config = Forms(in: suite)
        #expect(config.raw == .one && config.optionalRaw == nil)
        #expect(config.converting.number == 1 && config.optionalConverting == nil)
        #expect(config.both == .zero && config.optionalBoth == nil)
        config.raw = .two
        config.optionalRaw = .two
        config.converting = DeclaredForms.Converting(2)
        config.optionalConverting = DeclaredForms.Converting(2)
        config.both = .one
        config.optionalBoth = .one
        #expect(try suite.contents() == DeclaredForms.stored)
        #expect(config.optionalText == nil)
        config.optionalText = "text"
        #expect(suite[DefaultKey<PropertyList?>("optionalText")] == "text")
    }
}
