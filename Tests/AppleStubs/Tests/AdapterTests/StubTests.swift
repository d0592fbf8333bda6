import AppleFoundation
import TestSupport
import Testing

/// Tests what the tests of the adapters do not show of the stubs.
@Suite(.ownThreads) struct StubTests {
    @Test func mistakesThatCrashOnApplePlatformsCrashHere() async {
        await #expect(processExitsWith: .failure) {
            UserDefaults.standard.addObserver(
                KeyValueObserver { _ in }, forKeyPath: "@count", options: [], context: nil)
        }
        await #expect(processExitsWith: .failure) {
            // Nothing retains the observer.
            UserDefaults.standard.addObserver(KeyValueObserver { _ in }, forKeyPath: "a", options: [], context: nil)
            UserDefaults.standard.set(1, forKey: "a")
        }
        await #expect(processExitsWith: .failure) {
            let observer = KeyValueObserver { _ in }
            // Nothing retains the observed object.
            UserDefaults(suiteName: "StubTests")?.addObserver(observer, forKeyPath: "a", options: [], context: nil)
        }
        await #expect(processExitsWith: .failure) {
            UserDefaults.standard.removeObserver(KeyValueObserver { _ in }, forKeyPath: "a", context: nil)
        }
        await #expect(processExitsWith: .failure) {
            UserDefaults.standard.set(NSNull(), forKey: "a")
        }
    }
}
