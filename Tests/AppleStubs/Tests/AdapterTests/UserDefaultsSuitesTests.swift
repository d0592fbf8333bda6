import AppleFoundation
import TestSupport
import Testing
import TypedDefaultsTesting

@testable import TypedDefaults

/// Tests what `DefaultsSuite(name:)` and `.standard` mean on Apple platforms. With the stubs, both
/// still use settings files.
struct UserDefaultsSuitesTests {
    private let number = DefaultKey<Int?>("number")

    @Test func aNameMeansTheSuiteOfAnAppGroup() throws {
        let name = "group.com.example.\(UUID().uuidString)"
        FileManager.entitle(toGroup: name)
        let suite = try DefaultsSuite.onUserDefaults(name: name)
        let received = Guarded<[Int?]>([])
        let token = UserDefault(number, in: suite).store.observe { change in
            received.withLock { $0.append(change.newValue ?? nil) }
        }
        // Write as a widget of the group does.
        let group = try #require(UserDefaults(suiteName: name))
        group.setFromAnotherProcess(5, forKey: "number")
        #expect(suite[number] == 5)
        suite.waitForHandlers()
        #expect(received.now == [5])
        token.cancel()
        try suite.removeAll()
        #expect(group.persistentDomain(forName: name) == nil)
    }

    @Test func theBundleIdentifierMeansTheStandardSuite() throws {
        let name = try #require(Bundle.main.bundleIdentifier)
        let suite = try DefaultsSuite.onUserDefaults(name: name)
        let key = DefaultKey<Int?>("UserDefaultsSuitesTests")
        UserDefaults.standard.set(5, forKey: key.name)
        #expect(suite[key] == 5)
        #expect(suite.core === DefaultsSuite(userDefaults: .standard).core)
        suite.remove([key.name])
        #expect(UserDefaults.standard.object(forKey: key.name) == nil)
    }

    /// An object of which a key was observed is never deallocated.
    @Test func aSuiteThatIsOpenedAgainUsesTheSameObject() throws {
        let name = "AdapterTests-\(UUID().uuidString)"
        for _ in 0..<3 {
            try DefaultsSuite.onUserDefaults(name: name).observe(DefaultKey("main", default: 0)) { _ in }.cancel()
        }
        #expect(UserDefaults.countOfObjects(ofDomain: name) == 1)
    }

    @Test(arguments: ["NSGlobalDomain", "../x", ""])
    func reservedAndInvalidNamesAreRefused(name: String) {
        #expect(fails(with: .invalidName) { _ = try DefaultsSuite.onUserDefaults(name: name) })
    }
}
