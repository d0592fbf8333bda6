import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsRecipes
import TypedDefaultsTesting

struct MyUserDefaults: ObjectUserDefaultable, BoolUserDefaultable {
    enum ObjectDefaultKey: String { case userName, appTheme }
    enum BoolDefaultKey: String { case needsBackup }
}

struct KeyNamespaceableTests {
    private let suite = DefaultsSuite.inMemory()

    private enum Camera {
        struct Defaults: BoolUserDefaultable { enum BoolDefaultKey: String { case on } }
        struct Objects: ObjectUserDefaultable { enum ObjectDefaultKey: String { case name } }
    }
    private enum Player {
        struct Defaults: BoolUserDefaultable { enum BoolDefaultKey: String { case on } }
        struct Objects: ObjectUserDefaultable { enum ObjectDefaultKey: String { case name } }
    }

    @Test func twoNamespacesThatShareTheirKeysAreReportedOnce() throws {
        let failures = Failures(of: suite)
        for _ in 0..<2 {
            Camera.Defaults.set(true, forKey: .on, source: suite)
            Camera.Objects.set("a", forKey: .name, source: suite)
        }
        #expect(failures.all == [])
        for _ in 0..<2 {
            #expect(Player.Defaults.bool(forKey: .on, source: suite))
            #expect(Player.Objects.object(for: .name, source: suite) as? String == "a")
        }
        #expect(failures.kinds == [.conflict, .conflict])
        #expect(failures.all.map(\.key) == ["Defaults_BoolDefaultKey", "Objects_ObjectDefaultKey"])
        let text = try #require(failures.all.first).description
        #expect(text.contains("Camera.Defaults") && text.contains("Player.Defaults"))
    }

    @Test func withoutASourceTheSuiteIsThatOfTheType() throws {
        struct Own: BoolUserDefaultable {
            enum BoolDefaultKey: String { case flag }
            static let source = DefaultsSuite.inMemory()
        }
        Own.set(true, forKey: .flag)
        #expect(Own.bool(forKey: .flag))
        #expect(try Own.source.keys() == ["Own_BoolDefaultKey_flag"])
        #expect(MyUserDefaults.source == .standard)
    }

    @Test func theFiveStepsOfObservationPrintTheExpectedLines() {
        let lines = Guarded<[String]>([])
        let token = MyUserDefaults.observe(String.self, forKey: .userName, source: suite) { _, change in
            let words: [String?] = [
                change.kind == .removed ? "removed" : nil, change.newValue.map { "new \($0)" },
                change.oldValue.map { "old \($0)" },
            ]
            lines.withLock { $0.append(words.compactMap(\.self).joined(separator: " ")) }
        }
        MyUserDefaults.set("hoge", forKey: .userName, source: suite)
        MyUserDefaults.set("hoge", forKey: .userName, source: suite)
        MyUserDefaults.set("fuga", forKey: .userName, source: suite)
        MyUserDefaults.remove(for: .userName, source: suite)
        token.cancel()
        MyUserDefaults.set("piyo", forKey: .userName, source: suite)
        #expect(lines.withLock { $0 } == ["new hoge", "new fuga old hoge", "removed old fuga"])
    }

    private struct All: ObjectUserDefaultable, BoolUserDefaultable, IntegerUserDefaultable, FloatUserDefaultable,
        DoubleUserDefaultable, StringUserDefaultable, URLUserDefaultable
    {
        enum ObjectDefaultKey: String { case object }
        enum BoolDefaultKey: String { case bool }
        enum IntegerDefaultKey: String { case integer }
        enum FloatDefaultKey: String { case float }
        enum DoubleDefaultKey: String { case double }
        enum StringDefaultKey: String { case string }
        enum URLDefaultKey: String { case url }
        static let source = DefaultsSuite.inMemory()
    }

    /// The calls of one protocol.
    struct Calls: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The suite is `nil` for the type's own.
        typealias Source = (any UserDefaultable)?
        let get: @Sendable (Source) -> String
        /// Stores one of two values, the first or the second.
        let set: @Sendable (Source, Bool) -> Void
        let remove: @Sendable (Source) -> Void
        let observe:
            @Sendable (Source, UDKeyValueObservingOptions, @escaping @Sendable (String) -> Void)
                -> UDKeyValueObservation
        /// The default and the two values, as `get` returns them.
        let texts: [String]
    }

    private static func text(_ value: (some Any)?) -> String { value.map { "\($0)" } ?? "nil" }
    private static let urls = [URL(string: "https://example.com/a"), URL(string: "https://example.com/b")]

    static let calls = [
        Calls(
            testDescription: "Object", get: { text(All.object(for: .object, source: $0)) },
            set: { All.set($1 ? ["a": 1] : ["a": 2], forKey: .object, source: $0) },
            remove: { All.remove(for: .object, source: $0) },
            observe: { source, options, body in
                All.observe([String: Int].self, forKey: .object, source: source, options: options) { defaults, change in
                    body("\(text(change.newValue)) \(text(defaults.object(forKey: "All_ObjectDefaultKey_object")))")
                }
            }, texts: ["nil", #"["a": 1]"#, #"["a": 2]"#]),
        Calls(
            testDescription: "Bool", get: { text(All.bool(forKey: .bool, source: $0)) },
            set: { All.set($1, forKey: .bool, source: $0) }, remove: { All.remove(for: .bool, source: $0) },
            observe: { source, options, body in
                All.observe(forKey: .bool, source: source, options: options) { defaults, change in
                    body("\(text(change.newValue)) \(text(defaults.bool(forKey: "All_BoolDefaultKey_bool")))")
                }
            }, texts: ["false", "true", "false"]),
        Calls(
            testDescription: "Integer", get: { text(All.integer(forKey: .integer, source: $0)) },
            set: { All.set($1 ? 1 : .max, forKey: .integer, source: $0) },
            remove: { All.remove(for: .integer, source: $0) },
            observe: { source, options, body in
                All.observe(forKey: .integer, source: source, options: options) { defaults, change in
                    body("\(text(change.newValue)) \(text(defaults.integer(forKey: "All_IntegerDefaultKey_integer")))")
                }
            }, texts: ["0", "1", "\(Int.max)"]),
        Calls(
            testDescription: "Float", get: { text(All.float(forKey: .float, source: $0)) },
            set: { All.set($1 ? 0.5 : 0.1, forKey: .float, source: $0) },
            remove: { All.remove(for: .float, source: $0) },
            observe: { source, options, body in
                All.observe(forKey: .float, source: source, options: options) { defaults, change in
                    body("\(text(change.newValue)) \(text(defaults.float(forKey: "All_FloatDefaultKey_float")))")
                }
            }, texts: ["0.0", "0.5", "0.1"]),
        Calls(
            testDescription: "Double", get: { text(All.double(forKey: .double, source: $0)) },
            set: { All.set($1 ? 0.25 : 1e300, forKey: .double, source: $0) },
            remove: { All.remove(for: .double, source: $0) },
            observe: { source, options, body in
                All.observe(forKey: .double, source: source, options: options) { defaults, change in
                    body("\(text(change.newValue)) \(text(defaults.double(forKey: "All_DoubleDefaultKey_double")))")
                }
            }, texts: ["0.0", "0.25", "1e+300"]),
        Calls(
            testDescription: "String", get: { text(All.string(forKey: .string, source: $0)) },
            set: { All.set($1 ? "a" : "b", forKey: .string, source: $0) },
            remove: { All.remove(for: .string, source: $0) },
            observe: { source, options, body in
                All.observe(forKey: .string, source: source, options: options) { defaults, change in
                    body(
                        "\(text(change.newValue)) \(text(defaults.string(forKey: "All_StringDefaultKey_string")))"
                    )
                }
            }, texts: ["nil", "a", "b"]),
        Calls(
            testDescription: "URL", get: { text(All.url(forKey: .url, source: $0)) },
            set: { All.set($1 ? urls[0] : urls[1], forKey: .url, source: $0) },
            remove: { All.remove(for: .url, source: $0) },
            observe: { source, options, body in
                All.observe(forKey: .url, source: source, options: options) { defaults, change in
                    body("\(text(change.newValue)) \(text(defaults.url(forKey: "All_URLDefaultKey_url")))")
                }
            }, texts: ["nil", "https://example.com/a", "https://example.com/b"]),
    ]

    @Test(arguments: calls, UserDefaultableTests.Kind.allCases)
    func eachProtocolStoresRemovesAndObserves(calls: Calls, kind: UserDefaultableTests.Kind) throws {
        let source = kind.make()
        let failures = Failures(of: source.suite)
        let received = Guarded<[String]>([])
        let kindName = calls.testDescription
        let observation = calls.observe(source, [.initial]) { text in received.withLock { $0.append(text) } }
        #expect(calls.get(source) == calls.texts[0])
        calls.set(source, true)
        #expect(calls.get(source) == calls.texts[1])
        #expect(try source.suite.keys() == ["All_\(kindName)DefaultKey_\(kindName.lowercased())"])
        calls.set(source, true)
        calls.set(source, false)
        #expect(calls.get(source) == calls.texts[2])
        calls.set(source, true)
        calls.remove(source)
        #expect(calls.get(source) == calls.texts[0])
        #expect(try source.suite.keys() == [])
        observation.invalidate()
        calls.set(source, true)
        let (none, one, two) = (calls.texts[0], calls.texts[1], calls.texts[2])
        #expect(received.withLock { $0 } == [none, one, two, one, none].map { "\($0) \($0)" })
        #expect(failures.all == [])
    }

    @Test(arguments: calls) func theSourceOfTheTypeIsUsedWhereNoneIsPassed(calls: Calls) throws {
        let received = Guarded(0)
        let observation = calls.observe(nil, []) { _ in received.withLock { $0 += 1 } }
        calls.set(nil, true)
        #expect(calls.get(nil) == calls.texts[1])
        #expect(calls.get(All.source) == calls.texts[1])
        #expect(calls.get(UserDefaultsFake()) == calls.texts[0])
        calls.remove(nil)
        #expect(calls.get(nil) == calls.texts[0])
        // Other cases write to the same suite at the same time.
        All.source.waitForHandlers()
        observation.invalidate()
        #expect(received.withLock { $0 } == 2)
    }

    @Test func settingNilRemoves() throws {
        let fake = UserDefaultsFake()
        let failures = Failures(of: fake.suite)
        let url = URL(string: "https://example.com")
        for _ in 0..<2 {
            All.set("a", forKey: .object, source: fake)
            All.set("a", forKey: .string, source: fake)
            All.set(url, forKey: .url, source: fake)
            #expect(try fake.suite.keys().count == 3)
            All.set(nil, forKey: .object, source: fake)
            All.set(nil, forKey: .string, source: fake)
            All.set(nil, forKey: .url, source: fake)
            #expect(try fake.suite.keys() == [])
        }
        All.set("a", forKey: .object, source: fake)
        All.set(String?.none, forKey: .object, source: fake)
        #expect(try fake.suite.keys() == [])
        #expect(failures.all == [])
    }
}
