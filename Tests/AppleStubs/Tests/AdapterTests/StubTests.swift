import AppleFoundation
import Testing

/// What the stand-ins do that an adapter has to live with; where that is documented stands beside each in their sources.
struct StubTests {
    /// Notes the keys it hears of, and the thread.
    private final class Ear: NSObject {
        var heard: [String] = []
        var thread: Thread?
        override func observeValue(
            forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
            context: UnsafeMutableRawPointer?
        ) {
            heard.append(keyPath ?? "")
            thread = .current
        }
    }

    private func withEar(of keys: [String], _ body: (UserDefaults, Ear) -> Void) throws {
        let name = "StubTests-\(UUID().uuidString)"
        let (defaults, ear) = (try #require(UserDefaults(suiteName: name)), Ear())
        for key in keys { defaults.addObserver(ear, forKeyPath: key, options: [], context: nil) }
        body(defaults, ear)
        for key in keys { defaults.removeObserver(ear, forKeyPath: key, context: nil) }
        defaults.removePersistentDomain(forName: name)
    }

    @Test func aChangeIsToldOnTheThreadThatMadeItBeforeItReturns() throws {
        try withEar(of: ["a"]) { defaults, ear in
            defaults.set(1, forKey: "a")
            defaults.set(1, forKey: "b")
            #expect(ear.heard == ["a"])
            #expect(ear.thread == .current)
            defaults.setFromAnotherProcess(2, forKey: "a")
            #expect(ear.heard == ["a", "a"])
            #expect(ear.thread != .current)
        }
    }

    @Test func someSetupsTellTwice() throws {
        try withEar(of: ["a"]) { defaults, ear in
            defaults.tellsTwice = true
            defaults.set(1, forKey: "a")
            #expect(ear.heard == ["a", "a"])
        }
    }

    @Test func aKeyWithADotIsNotTold() throws {
        try withEar(of: ["a.b"]) { defaults, ear in
            defaults.set(1, forKey: "a.b")
            #expect(ear.heard == [])
        }
    }

    @Test func theNotificationIsOfThisProcessOnly() throws {
        try withEar(of: []) { defaults, _ in
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

    @Test func aManagedValueStandsInFrontOfTheDomainsOwn() throws {
        try withEar(of: ["a"]) { defaults, ear in
            #expect(!defaults.objectIsForced(forKey: "a"))
            defaults.setManaged(1, forKey: "a")
            defaults.set(2, forKey: "a")
            #expect(defaults.objectIsForced(forKey: "a"))
            #expect(defaults.integer(forKey: "a") == 1)
            #expect(ear.heard == ["a", "a"])
            defaults.setManaged(nil, forKey: "a")
            #expect(defaults.integer(forKey: "a") == 2)
        }
    }

    @Test func aGroupIsSharedOnlyWithItsEntitlement() throws {
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

    @Test func numbersAndURLsAreStoredAsTheRealOneStoresThem() throws {
        try withEar(of: []) { defaults, _ in
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
            defaults.register(defaults: ["a": 1, "b": 2])
            #expect(defaults.dictionaryRepresentation()["b"] as? Int == 2)
            #expect(defaults.dictionaryRepresentation()["a"] as? String == "/tmp/a")
        }
    }

    @Test func whatEndsAProgramThereEndsItHere() async {
        await #expect(processExitsWith: .failure) {
            UserDefaults.standard.addObserver(Ear(), forKeyPath: "@count", options: [], context: nil)
        }
        await #expect(processExitsWith: .failure) {
            // Nobody holds the observer.
            UserDefaults.standard.addObserver(Ear(), forKeyPath: "a", options: [], context: nil)
            UserDefaults.standard.set(1, forKey: "a")
        }
        await #expect(processExitsWith: .failure) {
            let ear = Ear()
            // Nobody holds the observed.
            UserDefaults(suiteName: "StubTests")?.addObserver(ear, forKeyPath: "a", options: [], context: nil)
        }
        await #expect(processExitsWith: .failure) {
            UserDefaults.standard.removeObserver(Ear(), forKeyPath: "a", context: nil)
        }
        await #expect(processExitsWith: .failure) {
            UserDefaults.standard.set(NSNull(), forKey: "a")
        }
    }
}
