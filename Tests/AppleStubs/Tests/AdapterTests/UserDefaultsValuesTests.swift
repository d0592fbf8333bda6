import AppleFoundation
import TestSupport
import Testing
import TypedDefaultsTesting

@testable import TypedDefaults

/// Tests which values of `UserDefaults` a suite reads and writes.
struct UserDefaultsValuesTests {
    private let number = DefaultKey<Int?>("number")

    private func suite(_ name: String, _ defaults: UserDefaults) -> DefaultsSuite {
        DefaultsSuite(userDefaults: defaults, suiteName: name)
    }

    // Managed values

    @Test func changingAManagedValueThrows() throws {
        try withDomain { name, defaults in
            let suite = suite(name, defaults)
            let (setting, store) = (UserDefault(number, in: suite), UserDefault(number, in: suite).store)
            let failures = Failures(of: suite)
            #expect(!setting.isManaged)
            setting.value = 1
            let received = Guarded<[Int?]>([])
            let token = setting.observe { change in received.withLock { $0.append(change.newValue ?? nil) } }
            defaults.setManaged(7, forKey: "number")
            #expect(setting.isManaged)
            #expect(setting.value == 7)
            #expect(setting.isSet)

            #expect(fails(with: .managed) { try store.save(2) })
            #expect(fails(with: .managed) { try store.updateStored { $0 = 3 } })
            #expect(fails(with: .managed) { try store.updateStored { $0 = nil } })
            setting.value = 4
            setting.reset()
            #expect(failures.kinds == [.managed, .managed])
            #expect(failures.all.map(\.key) == ["number", "number"])
            #expect(setting.value == 7)
            #expect(defaults.persistentDomain(forName: name)?["number"] as? Int == 1)
            suite.waitForHandlers()
            #expect(received.now == [7])

            // The program's own values are removed; managed values stay.
            suite[DefaultKey("other", default: 0)] = 1
            try suite.removeAll()
            #expect(failures.kinds.count == 2)
            let kept = try suite.keys()
            #expect(kept == ["number"])

            defaults.setManaged(nil, forKey: "number")
            #expect(!setting.isManaged)
            #expect(setting.value == 1)
            try store.save(2)
            suite.waitForHandlers()
            #expect(received.now == [7, 1, 2])
            token.cancel()
        }
    }

    // Registered and global values. These tests and those of launch arguments run in processes of
    // their own, because the values belong to the process, and hide those of every suite.

    @Test func aRegisteredValueIsReadButNotStored() async {
        await #expect(processExitsWith: .success) {
            let number = DefaultKey<Int?>("number")
            try withDomain { name, defaults in
                defaults.register(defaults: ["number": 5])
                for suite in [
                    DefaultsSuite(userDefaults: defaults, suiteName: name),
                    DefaultsSuite(backend: UserDefaultsBackend(defaults)),
                ] {
                    let setting = UserDefault(number, in: suite)
                    let failures = Failures(of: suite)
                    #expect(setting.value == 5)
                    #expect(!setting.isSet)
                    let received = Guarded<[DefaultChange<Int?>]>([])
                    let token = setting.observe { change in received.withLock { $0.append(change) } }
                    setting.value = 6
                    #expect(setting.isSet)
                    setting.reset()
                    #expect(setting.value == 5)
                    #expect(!setting.isSet)
                    setting.reset()
                    // Each change is reported once, with the value that `get` returns.
                    #expect(received.now.map { $0.newValue ?? nil } == [6, 5])
                    #expect(received.now.map(\.origin) == [.local, .local])
                    #expect(failures.kinds == [])
                    token.cancel()
                }
                let keys = try DefaultsSuite(userDefaults: defaults, suiteName: name).keys()
                #expect(keys == [])
            }
        }
    }

    @Test func aRegisteredValueIsReadByEverySuite() async {
        await #expect(processExitsWith: .success) {
            UserDefaults.standard.register(defaults: ["number": 5])
            try withDomain { name, defaults in
                let setting = UserDefault(
                    DefaultKey<Int?>("number"), in: DefaultsSuite(userDefaults: defaults, suiteName: name))
                #expect(setting.value == 5)
                #expect(!setting.isSet)
                setting.value = 5
                #expect(setting.isSet)
                #expect(defaults.persistentDomain(forName: name)?["number"] as? Int == 5)
                // A copy does not replace a stored value, but a registered one is not stored.
                setting.reset()
                let other = DefaultsSuite.inMemory(["number": 7])
                let report = try other.copy(.all, to: DefaultsSuite(userDefaults: defaults, suiteName: name))
                #expect(report.kept == [])
                #expect(setting.value == 7)
            }
        }
    }

    @Test func observersOfTheSuiteReceiveTheRegisteredValue() async {
        await #expect(processExitsWith: .success) {
            let number = DefaultKey<Int?>("number")
            try withDomain { name, defaults in
                defaults.register(defaults: ["number": 5])
                let suite = DefaultsSuite(userDefaults: defaults, suiteName: name)
                suite[number] = 6
                let changes = Guarded<[SuiteChange]>([])
                let token = suite.observeAll { change in changes.withLock { $0.append(change) } }
                try suite.removeAll()
                #expect(changes.now.count == 1)
                let keys = try suite.keys()
                #expect(keys == [])
                #expect(suite[number] == 5)
                token.cancel()
            }
        }
    }

    @Test func aValueOfTheGlobalDomainIsReadButNotStored() async {
        // A process of its own, because all processes share this domain.
        await #expect(processExitsWith: .success) {
            try withDomain { name, defaults in
                let key = "global-\(UUID().uuidString)"
                let global = UserDefaults.globalDomain
                var values = defaults.persistentDomain(forName: global) ?? [:]
                values[key] = 5
                defaults.setPersistentDomain(values, forName: global)
                let setting = UserDefault(
                    DefaultKey<Int?>(key), in: DefaultsSuite(userDefaults: defaults, suiteName: name))
                #expect(setting.value == 5)
                #expect(!setting.isSet)
                setting.reset()
                #expect(setting.value == 5)
                values[key] = nil
                defaults.setPersistentDomain(values, forName: global)
                #expect(setting.value == nil)
            }
        }
    }

    @Test func aValueOfAnAddedSuiteIsReadButNotStored() throws {
        try withDomain { name, defaults in
            try withDomain { other, others in
                others.set(5, forKey: "number")
                defaults.addSuite(named: other)
                let suite = suite(name, defaults)
                let setting = UserDefault(number, in: suite)
                let failures = Failures(of: suite)
                #expect(setting.value == 5)
                #expect(!setting.isSet)
                setting.value = 6
                #expect(setting.isSet)
                // A stored value that is equal to the one of the suite is stored.
                setting.value = 5
                #expect(setting.isSet)
                for _ in 0..<2 {
                    setting.reset()
                    #expect(setting.value == 5)
                    #expect(!setting.isSet)
                }
                #expect(others.integer(forKey: "number") == 5)
                let keys = try suite.keys()
                #expect(keys == [])
                #expect(failures.kinds == [])
            }
        }
    }

    // Launch arguments

    @Test func launchArgumentsAreNeverRemoved() async {
        await #expect(processExitsWith: .success) {
            let number = DefaultKey<Int?>("number")
            try withDomain { name, defaults in
                defaults.set(5, forKey: "number")
                defaults.setVolatileDomain(["number": "7"], forName: UserDefaults.argumentDomain)
                let seen = Guarded<[String?]>([])
                let observer = KeyValueObserver { _ in seen.withLock { $0.append(defaults.string(forKey: "number")) } }
                defaults.addObserver(observer, forKeyPath: "number", options: [], context: nil)
                let named = UserDefault(number, in: DefaultsSuite(userDefaults: defaults, suiteName: name)).store
                try named.updateStored { $0 = ($0 ?? nil).map { $0 + 1 } }
                #expect(defaults.persistentDomain(forName: name)?["number"] as? Int == 6)
                #expect((named.get() ?? nil) == 7)

                // The stored value can only be found with the name of the suite.
                let layers = UserDefaultsBackend.layers(of: defaults)
                let unnamed = UserDefault(
                    number, in: DefaultsSuite(backend: UserDefaultsBackend(defaults), layers: layers)
                ).store
                #expect((unnamed.get() ?? nil) == 7)
                #expect(fails(with: .unavailable) { try unnamed.updateStored { $0 = 1 } })
                #expect(fails(with: .unavailable) { try unnamed.save(1) })
                #expect(defaults.persistentDomain(forName: name)?["number"] as? Int == 6)

                #expect(seen.now == ["7"])
                defaults.removeObserver(observer, forKeyPath: "number", context: nil)
            }
        }
    }

    @Test func aRegisteredValueHiddenByAnArgumentIsFound() async {
        await #expect(processExitsWith: .success) {
            let number = DefaultKey<Int?>("number")
            try withDomain { name, defaults in
                defaults.register(defaults: ["number": 5])
                defaults.setVolatileDomain(["number": "7"], forName: UserDefaults.argumentDomain)
                let suite = DefaultsSuite(userDefaults: defaults, suiteName: name)
                #expect(suite[number] == 7)
                #expect(!UserDefault(number, in: suite).isSet)
                try UserDefault(number, in: suite).store.updateStored { $0 = ($0 ?? nil).map { $0 + 1 } }
                #expect(defaults.persistentDomain(forName: name)?["number"] as? Int == 6)
            }
        }
    }

    // Values

    @Test func aNaNThatWouldLoseBitsIsRefused() throws {
        try withDomain { name, defaults in
            let suite = suite(name, defaults)
            let key = DefaultKey<PropertyList?>("ratio")
            let store = UserDefault(key, in: suite).store
            for double in [Double.nan, -0.0, .infinity, .leastNonzeroMagnitude] {
                try store.save(.double(double))
                guard case .double(let kept)?? = store.get() else {
                    Issue.record("no double")
                    continue
                }
                #expect(kept.bitPattern == double.bitPattern)
            }
            for double in [-Double.nan, .signalingNaN, Double(nan: 5, signaling: false)] {
                for value: PropertyList in [.double(double), [.double(double)], ["a": [1, .double(double)]]] {
                    #expect(fails(with: .refused) { try store.save(value) })
                }
            }
            #expect(store.get() == .some(.double(.leastNonzeroMagnitude)))
        }
    }

    @Test func anArchivedURLIsRead() throws {
        try withDomain { name, defaults in
            let suite = suite(name, defaults)
            let failures = Failures(of: suite)
            let page = DefaultKey<URL?>("page")
            for text in ["https://example.com/a?b=c#d", "file:///tmp/a%20b"] {
                let url = try #require(URL(string: text))
                defaults.set(url, forKey: "page")
                #expect(defaults.object(forKey: "page") is Data)
                #expect(suite[page] == url)
            }
            // A write stores the string. The archive was readable, so nothing is set aside.
            suite[page] = URL(string: "https://example.com/b")
            #expect(defaults.string(forKey: "page") == "https://example.com/b")
            let keys = try suite.keys()
            #expect(keys == ["page"])
            #expect(failures.kinds == [])
            defaults.set(Data("nothing".utf8), forKey: "page")
            #expect(fails(with: .unreadable) { _ = try UserDefault(page, in: suite).store.load() })
        }
    }

    // Suites

    @Test func twoObjectsOfOneNameAreOneSuite() throws {
        try withDomain { name, defaults in
            let other = try #require(UserDefaults(suiteName: name))
            let (one, two) = (suite(name, defaults), suite(name, other))
            #expect(one.core === two.core)
            let named = try DefaultsSuite.onUserDefaults(name: name)
            #expect(one.core === named.core)
            #expect(one.core !== DefaultsSuite(userDefaults: other).core)
            try UserDefault(number, in: one).store.updateStored { _ in
                let isNested = fails(with: .nestedWrite) { try UserDefault(number, in: two).store.save(6) }
                #expect(isNested)
            }
        }
    }

    @Test func aToolWithoutABundleListsItsKeysAndSavesAtExit() async throws {
        let result = try await #require(processExitsWith: .exitCode(7), observing: [\.standardErrorContent]) {
            Bundle.removeBundle()
            // This runs last, because the library registers its handler later.
            atexit(reportWhetherSaved)
            let suite = DefaultsSuite(userDefaults: .standard)
            UserDefaults.standard.set(1, forKey: "other")
            suite[DefaultKey("number", default: 0)] = 5
            let both = try suite.keys()
            #expect(both == ["number", "other"])
            try suite.removeAll()
            let none = try suite.keys()
            #expect(none == [])
            exit(7)
        }
        #expect(String(decoding: result.standardErrorContent, as: UTF8.self).hasSuffix("saved: true"))
    }
}

private func reportWhetherSaved() {
    FileHandle.standardError.write(Data("saved: \(CFPreferencesStub.synchronizations > 0)".utf8))
}
