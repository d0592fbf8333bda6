import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsRecipes

struct MyUserDefaults: ObjectUserDefaultable, BoolUserDefaultable {
    enum ObjectDefaultKey: String { case userName, appTheme }
    enum BoolDefaultKey: String { case needsBackup }
}

struct KeyNamespaceableTests {
    private let suite = DefaultsSuite.inMemory()

    @Test func valuesOfBothNamespacesAreStoredAndRemoved() throws {
        #expect(MyUserDefaults.object(for: .userName, source: suite) == nil)
        #expect(!MyUserDefaults.bool(forKey: .needsBackup, source: suite))
        MyUserDefaults.set("krimpedance", forKey: .userName, source: suite)
        MyUserDefaults.set(["a": [1, 2]], forKey: .appTheme, source: suite)
        MyUserDefaults.set(true, forKey: .needsBackup, source: suite)
        #expect(MyUserDefaults.object(for: .userName, source: suite) as? String == "krimpedance")
        #expect(MyUserDefaults.object(for: .userName, source: suite) as? String == "krimpedance")
        #expect(MyUserDefaults.object(for: .appTheme, source: suite) as? [String: [Int]] == ["a": [1, 2]])
        #expect(MyUserDefaults.bool(forKey: .needsBackup, source: suite))
        #expect(
            try suite.keys() == [
                "MyUserDefaults_BoolDefaultKey_needsBackup", "MyUserDefaults_ObjectDefaultKey_appTheme",
                "MyUserDefaults_ObjectDefaultKey_userName",
            ])
        MyUserDefaults.remove(for: .userName, source: suite)
        MyUserDefaults.remove(for: .needsBackup, source: suite)
        #expect(try suite.keys() == ["MyUserDefaults_ObjectDefaultKey_appTheme"])
    }

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

    @Test func observersOfABooleanReceiveItsDefault() {
        let received = Guarded<[Bool?]>([])
        let token = MyUserDefaults.observe(forKey: .needsBackup, source: suite) { _, change in
            received.withLock { $0.append(change.newValue) }
        }
        MyUserDefaults.set(true, forKey: .needsBackup, source: suite)
        MyUserDefaults.remove(for: .needsBackup, source: suite)
        token.cancel()
        #expect(received.withLock { $0 } == [true, false])
    }

    private struct All: IntegerUserDefaultable, FloatUserDefaultable, DoubleUserDefaultable, StringUserDefaultable,
        URLUserDefaultable
    {
        enum IntegerDefaultKey: String { case integer }
        enum FloatDefaultKey: String { case float }
        enum DoubleDefaultKey: String { case double }
        enum StringDefaultKey: String { case string }
        enum URLDefaultKey: String { case url }
    }

    @Test func eachOtherKindHasItsDefaultAndIsObserved() throws {
        let fake = UserDefaultsFake()
        let failures = Failures(of: fake.suite)
        let received = Guarded<[Int?]>([])
        let token = All.observe(forKey: .integer, source: fake, options: [.initial]) { defaults, change in
            #expect(defaults.integer(forKey: "All_IntegerDefaultKey_integer") == change.newValue)
            received.withLock { $0.append(change.newValue) }
        }
        #expect(All.float(forKey: .float, source: fake) == 0 && All.double(forKey: .double, source: fake) == 0)
        #expect(All.string(forKey: .string, source: fake) == nil && All.url(forKey: .url, source: fake) == nil)
        let url = try #require(URL(string: "https://example.com"))
        All.set(1, forKey: .integer, source: fake)
        All.set(0.5, forKey: .float, source: fake)
        All.set(0.25, forKey: .double, source: fake)
        All.set("a", forKey: .string, source: fake)
        All.set(url, forKey: .url, source: fake)
        #expect(All.float(forKey: .float, source: fake) == 0.5 && All.double(forKey: .double, source: fake) == 0.25)
        #expect(All.string(forKey: .string, source: fake) == "a" && All.url(forKey: .url, source: fake) == url)
        All.remove(for: .integer, source: fake)
        token.invalidate()
        #expect(received.withLock { $0 } == [0, 1, 0])
        fake.set(url, forKey: "other")
        fake.set(nil, forKey: "All_StringDefaultKey_string")
        #expect(fake.url(forKey: "other") == url && All.string(forKey: .string, source: fake) == nil)
        fake.reset()
        #expect(try fake.suite.keys() == [])
        #expect(failures.all == [])
    }
}
