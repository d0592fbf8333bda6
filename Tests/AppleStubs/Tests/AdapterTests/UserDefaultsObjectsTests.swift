import AppleFoundation
import Testing

@testable import TypedDefaults

struct UserDefaultsObjectsTests {
    /// An object of which a key was observed is never deallocated.
    @Test func aSuiteThatIsOpenedAgainUsesTheSameObject() throws {
        let name = "AdapterTests-\(UUID().uuidString)"
        for _ in 0..<3 {
            let suite = try DefaultsSuite.onUserDefaults(name: name)
            suite.observe(DefaultKey("main", default: 0)) { _ in }.cancel()
        }
        #expect(UserDefaults.countOfObjects(ofDomain: name) == 1)
    }
}
