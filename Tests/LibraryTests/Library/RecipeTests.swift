import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsRecipes

/// The published recipes, in each form of declaration.
struct RecipeTests {
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

    /// Checks the default, a write and a read, and for an optional also `nil` again, with both
    /// kinds of declaration.
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

        @UserDefault("value", in: suite) var local = value
        #expect(local == value)
        local = other
        #expect(local == other)
        #expect(suite[DefaultKey("value", default: value)] == other)
        $local.reset()
        #expect(local == value)
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

    @Test func twoStructsStayInStep() {
        let suite = DefaultsSuite.inMemory()
        struct Holder {
            @UserDefault var number: Int
            init(_ suite: DefaultsSuite) { _number = UserDefault("number", defaultValue: 10, in: suite) }
        }
        let (first, second) = (Holder(suite), Holder(suite))
        let received = Guarded<[Int?]>([])
        let token = first.$number.observe(initial: true) { change in received.withLock { $0.append(change.newValue) } }
        first.number = 20
        #expect(second.number == 20)
        second.number = 30
        #expect(first.number == 30)
        for number in [40, 50] { first.$number.value = number }
        second.$number.store.set(60)
        suite[DefaultKey("number", default: 10)] = 70
        token.cancel()
        #expect(received.withLock { $0 } == [10, 20, 30, 40, 50, 60, 70])
        #expect(first.number == 70 && second.number == 70)
    }

    /// An object with string keys that receives its suite.
    struct Hoge {
        let defaults: DefaultsSuite
        var count: Int {
            get { defaults[DefaultKey("count", default: 0)] }
            nonmutating set { defaults[DefaultKey("count", default: 0)] = newValue }
        }
    }

    @Test func anInjectedSuiteIsSwappedInATest() throws {
        let (hoge, other) = (Hoge(defaults: .inMemory()), Hoge(defaults: .inMemory(["count": 5])))
        hoge.count += 1
        #expect(hoge.count == 1)
        #expect(other.count == 5)
        other.defaults.removeAll()
        #expect(other.count == 0)
        #expect(try hoge.defaults.keys() == ["count"])
    }

    /// Its suite in tests is created from a literal, observed like any other, and reset in one
    /// call.
    @Test func anInMemoryStoreIsObservedLikeAPersistentStore() {
        let suite = DefaultsSuite.inMemory(["CameraConfig": ["savesToCameraRoll": false, "size": "large"]])
        let (store, other) = (AnyStore<CameraConfig>.persistent(in: suite), AnyStore.inMemory(CameraConfig()))
        let sizes = Guarded<[CameraConfig.Size?]>([])
        let tokens = [store, other].map { store in
            store.observe { change in sizes.withLock { $0.append(change.newValue?.size) } }
        }
        #expect(store.get() == CameraConfig(savesToCameraRoll: false, size: .large))
        store.set(CameraConfig(size: .small))
        #expect(other.get() == CameraConfig())
        suite.removeAll()
        other.remove()
        #expect(sizes.withLock { $0 } == [.small, nil, nil])
        for token in tokens { token.cancel() }
    }
}
