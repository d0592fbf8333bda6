import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsRecipes

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
        struct Standard: BoolUserDefaultable { enum BoolDefaultKey: String { case flag } }
        Own.set(true, forKey: .flag)
        #expect(Own.bool(forKey: .flag))
        #expect(try Own.source.keys() == ["Own_BoolDefaultKey_flag"])
        #expect(Standard.source == .standard)
    }
}
