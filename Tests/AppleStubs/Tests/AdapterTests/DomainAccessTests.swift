import AppleFoundation
import Testing

@testable import TypedDefaults

/// Settings that cannot be seen before the first unlock, and settings that are too large.
struct DomainAccessTests {
    /// The file that tells, and whether its contents can be seen.
    private final class Disk: Sendable {
        let isReadable = Guarded<Bool?>(nil)
        var probe: FirstUnlock.Probe {
            FirstUnlock.Probe {
                self.isReadable.now
            } plant: {
                self.isReadable.withLock { $0 = true }
            }
        }
    }
    private let number = DefaultKey<Int?>("number")

    /// A suite as a process makes it when it starts.
    private func launch(_ name: String, _ defaults: UserDefaults, _ disk: Disk) -> DefaultsSuite {
        let access = DomainAccess(firstUnlock: FirstUnlock(disk.probe))
        let suite = DefaultsSuite(backend: UserDefaultsBackend(defaults, domain: name, access: access))
        suite.onFailure = { _ in }
        return suite
    }

    @Test func settingsAreUnavailableBeforeTheFirstUnlockAndNotWrittenOver() throws {
        try withDomain { name, defaults in
            let disk = Disk()
            launch(name, defaults, disk)[number] = 5
            #expect(disk.isReadable.now == true)

            defaults.lockDevice()
            disk.isReadable.withLock { $0 = false }
            let suite = launch(name, defaults, disk)
            let store = PersistentStore(number, suite: suite)
            #expect(fails(with: .unavailable) { _ = try store.load() })
            #expect(fails(with: .unavailable) { try store.save(1) })
            #expect(fails(with: .unavailable) { try store.update { $0 = 1 } })
            #expect(fails(with: .unavailable) { _ = try suite.keys() })
            suite.removeAll()
            #expect(store.get() == nil)

            // The file is seen sooner than the settings.
            disk.isReadable.withLock { $0 = true }
            #expect(fails(with: .unavailable) { try store.save(1) })
            defaults.unlockDevice()
            #expect(try store.load() == 5)
            try store.save(6)
            #expect(store.get() == 6)
            #expect(try suite.keys() == ["number"])
        }
    }

    /// The wrong adapter takes what it does not see for what is not there.
    @Test func anAdapterThatDoesNotAskWritesOverTheSettings() throws {
        try withDomain { name, defaults in
            let suite = DefaultsSuite(backend: UserDefaultsBackend(defaults, domain: name, access: DomainAccess()))
            suite[number] = 5
            suite[DefaultKey("other", default: 0)] = 1
            defaults.lockDevice()
            if suite[number] == nil { suite[number] = 0 }
            defaults.unlockDevice()
            #expect(suite[number] == 0)
            #expect(suite[DefaultKey("other", default: 0)] == 0)
        }
    }

    @Test func settingsOfAFirstLaunchAndSettingsThatWereWipedAreAvailable() throws {
        try withDomain { name, defaults in
            let disk = Disk()
            let store = PersistentStore(number, suite: launch(name, defaults, disk))
            #expect(try store.load() == nil)
            try store.save(5)
            defaults.removePersistentDomain(forName: name)
            #expect(try store.load() == nil)
            let next = PersistentStore(number, suite: launch(name, defaults, disk))
            #expect(try next.load() == nil)
            try next.save(6)
            #expect(try store.load() == 6)
        }
    }

    @Test func theFileTellsWhetherItIsThereAndCanBeRead() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "AdapterTests-\(UUID().uuidString)")
        let probe = FirstUnlock.Probe(folder: folder, domain: "a")
        #expect(probe.isReadable() == nil)
        try probe.plant()
        #expect(probe.isReadable() == true)
        let file = folder.appending(path: "TypedDefaults-a")
        try FileManager.default.removeItem(at: file)
        // What is there and cannot be read, for root as well.
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        #expect(probe.isReadable() == false)
        try FileManager.default.removeItem(at: folder)
    }

    @Test func aSizeNearTheLimitIsToldOnceAndMoreThanThatIsRefused() throws {
        try withDomain { name, defaults in
            let access = DomainAccess(sizeLimit: SizeLimit(warning: 5_000, limit: 10_000))
            let suite = DefaultsSuite(backend: UserDefaultsBackend(defaults, domain: name, access: access))
            let failures = Guarded<[DefaultsError.Kind]>([])
            suite.onFailure = { error in failures.withLock { $0.append(error.kind) } }
            func set(_ key: String, _ count: Int) {
                suite[DefaultKey(key, default: "")] = String(repeating: "a", count: count)
            }
            // The same key again and again is not more.
            for count in 4_000..<4_010 { set("a", count) }
            #expect(failures.now == [])
            set("b", 3_000)
            #expect(failures.now == [.nearlyFull])
            set("c", 1_000)
            #expect(failures.now == [.nearlyFull])
            set("d", 3_000)
            #expect(failures.now == [.nearlyFull, .refused])
            let full = try suite.keys()
            #expect(full == ["a", "b", "c"])
            suite.remove(["a"])
            set("d", 3_000)
            #expect(failures.now == [.nearlyFull, .refused])
            let freed = try suite.keys()
            #expect(freed == ["b", "c", "d"])
        }
    }

    // What each system gets.

    @Test func onIOSTheFirstChangePlantsWhatTells() throws {
        try withDomain { name, defaults in
            let folder = FileManager.default.temporaryDirectory.appending(path: "AdapterTests-\(UUID().uuidString)")
            let access = DomainAccess.onIOS(domain: name, folder: folder)
            let suite = DefaultsSuite(backend: UserDefaultsBackend(defaults, domain: name, access: access))
            suite[number] = 5
            #expect(defaults.object(forKey: FirstUnlock.sentinel) != nil)
            let file = folder.appending(path: "TypedDefaults/TypedDefaults-\(name)")
            let protection = FileProtectionType.ofItem(atPath: file.path)
            #expect(protection?.rawValue == FileProtectionType.completeUntilFirstUserAuthentication.rawValue)
            #expect(try suite.keys() == ["number"])
            try FileManager.default.removeItem(at: folder)
        }
    }

    @Test func theLimitsAreThoseOfTheSystems() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "AdapterTests-\(UUID().uuidString)")
        let onTVOS = (access: DomainAccess.onTVOS(), warning: 512_000, limit: 1_000_000)
        let onIOS = (access: DomainAccess.onIOS(domain: nil, folder: folder), warning: 4_194_304, limit: 4_194_304)
        for system in [onTVOS, onIOS] {
            try withDomain { name, defaults in
                let suite = DefaultsSuite(backend: UserDefaultsBackend(defaults, domain: name, access: system.access))
                let failures = Guarded<[DefaultsError.Kind]>([])
                suite.onFailure = { error in failures.withLock { $0.append(error.kind) } }
                let data = DefaultKey("data", default: Data())
                suite[data] = Data(count: system.warning - 100_000)
                #expect(failures.now == [])
                suite[data] = Data(count: system.warning - 100)
                let warned: [DefaultsError.Kind] = system.warning < system.limit ? [.nearlyFull] : []
                #expect(failures.now == warned)
                suite[data] = Data(count: system.limit)
                #expect(failures.now == warned + [.refused])
                #expect(suite[data].count == system.warning - 100)
            }
        }
    }
}
