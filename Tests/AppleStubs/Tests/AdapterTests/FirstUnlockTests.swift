import AppleFoundation
import TestSupport
import Testing

@testable import TypedDefaults

/// Tests settings that are hidden before the first unlock.
@Suite(.ownThreads) struct FirstUnlockTests {
    private static let number = DefaultKey<Int?>("number")
    private var number: DefaultKey<Int?> { Self.number }

    /// The folder `Library` of a program. A folder with the name of a file stands for one that
    /// exists but cannot be read, not even by root.
    private struct Library {
        let url = FileManager.default.temporaryDirectory.appending(path: "AdapterTests-\(UUID().uuidString)")
        let name: String
        var probe: URL { url.appending(path: "Application Support/TypedDefaults/TypedDefaults-\(name)") }
        var domain: URL { url.appending(path: "Preferences/\(name).plist") }

        var hasProbe: Bool { FileManager.default.fileExists(atPath: probe.path) }

        func makeUnreadable(_ file: URL) throws {
            if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        }

        func makeReadable(_ file: URL) throws {
            try FileManager.default.removeItem(at: file)
            try Data("readable".utf8).write(to: file)
        }

        /// Writes the file of the domain.
        func write(_ values: [String: Any]) throws {
            try FileManager.default.createDirectory(
                at: domain.deletingLastPathComponent(), withIntermediateDirectories: true)
            try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0).write(to: domain)
        }

        /// Creates a suite as a starting process does.
        func launch(_ defaults: UserDefaults) -> DefaultsSuite {
            let firstUnlock = FirstUnlock.onIOS(domain: name, library: url)
            let suite = DefaultsSuite(backend: UserDefaultsBackend(defaults, domain: name, firstUnlock: firstUnlock))
            suite.onFailure = { _ in }
            return suite
        }
    }

    private func withLibrary(_ body: (Library, UserDefaults) throws -> Void) throws {
        try withDomain { name, defaults in
            let library = Library(name: name)
            defer { try? FileManager.default.removeItem(at: library.url) }
            try body(library, defaults)
        }
    }

    @Test func theSentinelOfAnAddedDomainIsNoProof() throws {
        try withLibrary { library, defaults in
            try withDomain { group, other in
                library.launch(defaults)[number] = 5
                other.set(true, forKey: FirstUnlock.sentinel)
                defaults.addSuite(named: group)
                defaults.lockDevice()
                try library.makeUnreadable(library.probe)
                let store = UserDefault(number, in: library.launch(defaults)).store
                #expect(fails(with: .unavailable) { _ = try store.load() })
                #expect(fails(with: .unavailable) { try store.save(1) })
            }
        }
    }

    @Test func settingsAreUnavailableBeforeTheFirstUnlockAndNotOverwritten() throws {
        try withLibrary { library, defaults in
            library.launch(defaults)[number] = 5
            #expect(library.hasProbe)
            #expect(defaults.object(forKey: FirstUnlock.sentinel) != nil)
            let protection = FileProtectionType.ofItem(atPath: library.probe.path)
            #expect(protection?.rawValue == FileProtectionType.completeUntilFirstUserAuthentication.rawValue)

            defaults.lockDevice()
            try library.makeUnreadable(library.probe)
            let suite = library.launch(defaults)
            let store = UserDefault(number, in: suite).store
            #expect(fails(with: .unavailable) { _ = try store.load() })
            #expect(fails(with: .unavailable) { try store.save(1) })
            #expect(fails(with: .unavailable) { try store.updateStored { $0 = 1 } })
            #expect(fails(with: .unavailable) { _ = try suite.keys() })
            #expect(fails(with: .unavailable) { try suite.removeAll() })
            #expect(store.get() == nil)

            // The file becomes readable before the settings do.
            try library.makeReadable(library.probe)
            #expect(fails(with: .unavailable) { try store.save(1) })
            defaults.unlockDevice()
            #expect(try store.load() == 5)
            try store.save(6)
            #expect(store.get() == 6)
            #expect(try suite.keys() == ["number"])
        }
    }

    @Test func settingsAreAvailableOnTheFirstLaunchAndAfterTheyAreRemoved() throws {
        try withLibrary { library, defaults in
            let store = UserDefault(number, in: library.launch(defaults)).store
            #expect(try store.load() == nil)
            try store.save(5)
            defaults.removePersistentDomain(forName: library.name)
            #expect(try store.load() == nil)
            let next = UserDefault(number, in: library.launch(defaults)).store
            #expect(try next.load() == nil)
            try next.save(6)
            #expect(try store.load() == 6)
        }
    }

    /// The process was started before the first unlock, and an SDK stores an identifier.
    @Test(arguments: [true, false])
    func aValueOfOtherCodeBeforeTheUnlockDoesNotShowThatSettingsCanBeRead(hasMarkers: Bool) async {
        await #expect(processExitsWith: .success) { [hasMarkers = hasMarkers as Bool] in
            try FirstUnlockTests().withLibrary { library, defaults in
                if hasMarkers {
                    library.launch(defaults)[FirstUnlockTests.number] = 5
                } else {
                    defaults.set(5, forKey: "number")
                }
                let stored = try #require(defaults.persistentDomain(forName: library.name))
                let file = hasMarkers ? library.probe : library.domain
                defaults.lockDevice()
                try library.makeUnreadable(file)
                let store = UserDefault(FirstUnlockTests.number, in: library.launch(defaults)).store
                func expectUnavailable() {
                    #expect(fails(with: .unavailable) { _ = try store.load() })
                    #expect(fails(with: .unavailable) { try store.updateStored { $0 = 1 } })
                }
                expectUnavailable()
                defaults.set("SDK", forKey: "identifier")
                expectUnavailable()
                #expect(defaults.synchronizations == 0)

                // The device is unlocked, and the process does not see its settings.
                try library.makeReadable(file)
                try library.write(stored)
                expectUnavailable()
                NotificationCenter.default.post(
                    name: Notification.Name("UIApplicationWillEnterForegroundNotification"), object: nil)
                expectUnavailable()
                #expect(defaults.object(forKey: "number") == nil)
                #expect(library.hasProbe == hasMarkers)
                defaults.setPersistentDomain(stored, forName: library.name)
                #expect(try store.load() == 5)
                try store.updateStored { $0 = 6 }
                #expect(defaults.integer(forKey: "number") == 6)
                #expect(library.hasProbe)
            }
        }
    }

    // Values that were stored before the program had this library

    @Test func aProgramThatOnlyReadsFindsItsSettingsLocked() throws {
        try withLibrary { library, defaults in
            defaults.set(5, forKey: "number")
            #expect(library.launch(defaults)[number] == 5)
            #expect(library.hasProbe)
            // A read writes nothing to `UserDefaults`.
            #expect(defaults.persistentDomain(forName: library.name)?.count == 1)

            defaults.lockDevice()
            try library.makeUnreadable(library.probe)
            let store = UserDefault(number, in: library.launch(defaults)).store
            #expect(fails(with: .unavailable) { _ = try store.load() })
            try library.makeReadable(library.probe)
            try library.write(["number": 5])
            defaults.unlockDevice()
            #expect(try store.load() == 5)
        }
    }

    /// Nothing could tell such a process that the device was unlocked.
    @Test func aProgramWithoutSettingsCanStoreSomeAfterAStartBeforeTheFirstUnlock() throws {
        try withLibrary { library, defaults in
            #expect(library.launch(defaults)[number] == nil)
            #expect(!library.hasProbe)
            defaults.lockDevice()
            let store = UserDefault(number, in: library.launch(defaults)).store
            #expect(try store.load() == nil)
            defaults.unlockDevice()
            try store.save(5)
            #expect(defaults.integer(forKey: "number") == 5)
        }
    }

    @Test func aDomainWithoutValuesWhoseFileCanBeReadIsEmpty() throws {
        try withLibrary { library, defaults in
            try library.makeUnreadable(library.domain)
            try library.makeReadable(library.domain)
            let store = UserDefault(number, in: library.launch(defaults)).store
            #expect(try store.load() == nil)
            try store.save(5)
            #expect(try store.load() == 5)
        }
    }

    /// The library does not depend on a file that a system may not let it read.
    @Test func visibleValuesCountMoreThanTheFileOfTheDomain() throws {
        try withLibrary { library, defaults in
            defaults.set(5, forKey: "number")
            try library.makeUnreadable(library.domain)
            #expect(try UserDefault(number, in: library.launch(defaults)).store.load() == 5)
        }
    }

    // The checks of each system

    @Test func programsOfAGroupShareAProbe() throws {
        try withGroup { name, defaults in
            // Each program has its own folder.
            func launch() -> DefaultsSuite { Library(name: name).launch(defaults) }
            launch()[number] = 5
            let container = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: name)
            let folder = try #require(container).appending(path: "Library/Application Support/TypedDefaults")
            let file = folder.appending(path: "TypedDefaults-\(name)")
            #expect(FileManager.default.fileExists(atPath: file.path))

            // Before the first unlock, in a widget that has never written anything.
            defaults.lockDevice()
            try FileManager.default.removeItem(at: file)
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            let store = UserDefault(number, in: launch()).store
            #expect(fails(with: .unavailable) { _ = try store.load() })
            #expect(fails(with: .unavailable) { try store.save(1) })
            defaults.unlockDevice()
            #expect(try store.load() == 5)
            try FileManager.default.removeItem(at: file)
        }
    }

    @Test(arguments: ["UIApplicationWillEnterForegroundNotification", "UIApplicationProtectedDataDidBecomeAvailable"])
    func aProcessThatStartedLockedRecoversIfTheDomainWasEmptied(notification: String) async {
        await #expect(processExitsWith: .success) { [notification = notification as String] in
            try FirstUnlockTests().withLibrary { library, defaults in
                library.launch(defaults)[FirstUnlockTests.number] = 5
                defaults.lockDevice()
                try library.makeUnreadable(library.probe)
                let store = UserDefault(FirstUnlockTests.number, in: library.launch(defaults)).store
                #expect(fails(with: .unavailable) { _ = try store.load() })
                defaults.unlockDevice()
                try library.makeReadable(library.probe)
                defaults.removePersistentDomain(forName: library.name)
                // The domain may be empty or hidden. Until the app returns, a value of other code
                // shows nothing.
                #expect(fails(with: .unavailable) { _ = try store.load() })
                defaults.set(6, forKey: "number")
                #expect(fails(with: .unavailable) { _ = try store.load() })
                NotificationCenter.default.post(name: Notification.Name(notification), object: nil)
                #expect(try store.load() == 6)
                try store.save(7)
                #expect(defaults.integer(forKey: "number") == 7)
            }
        }
    }

    private func withGroup(_ body: (_ name: String, UserDefaults) throws -> Void) throws {
        let name = "group.AdapterTests-\(UUID().uuidString)"
        FileManager.entitle(toGroup: name)
        let defaults = try #require(UserDefaults(suiteName: name))
        defer {
            defaults.removePersistentDomain(forName: name)
            try? FileManager.default.removeItem(
                at: FileManager.default.temporaryDirectory.appending(path: "AppleStubs-\(name)"))
        }
        try body(name, defaults)
    }

    @Test func anIOSAppOnAMacHasNoProbe() throws {
        try withDomain { name, defaults in
            let folder = FileManager.default.temporaryDirectory.appending(path: "AdapterTests-\(UUID().uuidString)")
            let firstUnlock = FirstUnlock.onIOS(domain: name, library: folder, isOnMac: true)
            let suite = DefaultsSuite(backend: UserDefaultsBackend(defaults, domain: name, firstUnlock: firstUnlock))
            let failures = Failures(of: suite)
            suite[DefaultKey("data", default: Data())] = Data(count: 5_000_000)
            #expect(failures.kinds == [])
            #expect(defaults.object(forKey: FirstUnlock.sentinel) == nil)
            #expect(!FileManager.default.fileExists(atPath: folder.path))
        }
    }
}
