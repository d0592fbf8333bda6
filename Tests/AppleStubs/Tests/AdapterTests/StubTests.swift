import AppleFoundation
import Testing

/// Tests the behavior of the stubs that adapters depend on. The stubs cite the documentation of
/// each behavior.
struct StubTests {
    /// Records the keys that it is called for, and the thread.
    private final class KeyValueObserver: NSObject {
        var received: [String] = []
        var thread: Thread?
        override func observeValue(
            forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
            context: UnsafeMutableRawPointer?
        ) {
            received.append(keyPath ?? "")
            thread = .current
        }
    }

    private func withObserver(of keys: [String], _ body: (UserDefaults, KeyValueObserver) -> Void) throws {
        let name = "StubTests-\(UUID().uuidString)"
        let (defaults, observer) = (try #require(UserDefaults(suiteName: name)), KeyValueObserver())
        for key in keys { defaults.addObserver(observer, forKeyPath: key, options: [], context: nil) }
        body(defaults, observer)
        for key in keys { defaults.removeObserver(observer, forKeyPath: key, context: nil) }
        defaults.removePersistentDomain(forName: name)
    }

    @Test func observersAreCalledOnTheThreadOfTheChangeBeforeItReturns() throws {
        try withObserver(of: ["a"]) { defaults, observer in
            defaults.set(1, forKey: "a")
            defaults.set(1, forKey: "b")
            #expect(observer.received == ["a"])
            #expect(observer.thread == .current)
            defaults.setFromAnotherProcess(2, forKey: "a")
            #expect(observer.received == ["a", "a"])
            #expect(observer.thread != .current)
        }
    }

    @Test func someSetupsNotifyTwice() throws {
        try withObserver(of: ["a"]) { defaults, observer in
            defaults.notifiesTwice = true
            defaults.set(1, forKey: "a")
            #expect(observer.received == ["a", "a"])
        }
    }

    @Test func keysWithDotsAreNotObserved() throws {
        try withObserver(of: ["a.b"]) { defaults, observer in
            defaults.set(1, forKey: "a.b")
            #expect(observer.received == [])
        }
    }

    @Test func theNotificationReportsOnlyThisProcess() throws {
        try withObserver(of: []) { defaults, _ in
            // Safe: posted on this thread only.
            nonisolated(unsafe) var count = 0
            let token = NotificationCenter.default.addObserver(
                forName: UserDefaults.didChangeNotification, object: defaults, queue: nil
            ) { _ in count += 1 }
            defaults.setFromAnotherProcess(1, forKey: "a")
            #expect(count == 0)
            defaults.set(2, forKey: "a")
            #expect(count == 1)
            NotificationCenter.default.removeObserver(token)
        }
    }

    @Test func aManagedValueHidesTheOneInTheDomain() throws {
        try withObserver(of: ["a"]) { defaults, observer in
            #expect(!defaults.objectIsForced(forKey: "a"))
            defaults.setManaged(1, forKey: "a")
            defaults.set(2, forKey: "a")
            #expect(defaults.objectIsForced(forKey: "a"))
            #expect(defaults.integer(forKey: "a") == 1)
            #expect(observer.received == ["a", "a"])
            defaults.setManaged(nil, forKey: "a")
            #expect(defaults.integer(forKey: "a") == 2)
        }
    }

    @Test func aGroupIsSharedOnlyWithTheEntitlement() throws {
        let name = "group.StubTests-\(UUID().uuidString)"
        let own = try #require(UserDefaults(suiteName: name))
        #expect(FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: name) == nil)
        own.set(1, forKey: "a")
        own.removePersistentDomain(forName: name)
        own.set(1, forKey: "a")
        FileManager.entitle(toGroup: name)
        let shared = try #require(UserDefaults(suiteName: name))
        #expect(FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: name) != nil)
        #expect(shared.object(forKey: "a") == nil)
        FileManager.entitle(toGroup: name, false)
        #expect(own.integer(forKey: "a") == 1)
        own.removePersistentDomain(forName: name)
    }

    @Test func numbersAndURLsAreStoredAsOnApplePlatforms() throws {
        try withObserver(of: []) { defaults, _ in
            for nan in [-Double.nan, .signalingNaN, Double(nan: 5, signaling: false)] {
                defaults.set(nan, forKey: "a")
                #expect((defaults.object(forKey: "a") as? NSNumber)?.doubleValue.bitPattern == Double.nan.bitPattern)
            }
            let url = URL(string: "https://example.com")
            defaults.set(url, forKey: "a")
            #expect(defaults.object(forKey: "a") is Data)
            #expect(defaults.url(forKey: "a") == url)
            // A string is a path.
            defaults.set("/tmp/a", forKey: "a")
            #expect(defaults.url(forKey: "a") == URL(filePath: "/tmp/a"))
        }
    }

    @Test func registeredValuesBelongToTheProcess() async {
        await #expect(processExitsWith: .success) {
            UserDefaults.standard.register(defaults: ["a": 1, "b": 2])
            try StubTests().withObserver(of: []) { defaults, _ in
                defaults.set("own", forKey: "a")
                #expect(defaults.dictionaryRepresentation()["b"] as? Int == 2)
                #expect(defaults.dictionaryRepresentation()["a"] as? String == "own")
                defaults.setVolatileDomain(["a": 3], forName: UserDefaults.argumentDomain)
                #expect(UserDefaults.standard.object(forKey: "a") as? Int == 3)
            }
        }
    }

    @Test func mistakesThatCrashOnApplePlatformsCrashHere() async {
        await #expect(processExitsWith: .failure) {
            UserDefaults.standard.addObserver(KeyValueObserver(), forKeyPath: "@count", options: [], context: nil)
        }
        await #expect(processExitsWith: .failure) {
            // Nothing retains the observer.
            UserDefaults.standard.addObserver(KeyValueObserver(), forKeyPath: "a", options: [], context: nil)
            UserDefaults.standard.set(1, forKey: "a")
        }
        await #expect(processExitsWith: .failure) {
            let observer = KeyValueObserver()
            // Nothing retains the observed object.
            UserDefaults(suiteName: "StubTests")?.addObserver(observer, forKeyPath: "a", options: [], context: nil)
        }
        await #expect(processExitsWith: .failure) {
            UserDefaults.standard.removeObserver(KeyValueObserver(), forKeyPath: "a", context: nil)
        }
        await #expect(processExitsWith: .failure) {
            UserDefaults.standard.set(NSNull(), forKey: "a")
        }
    }
}
