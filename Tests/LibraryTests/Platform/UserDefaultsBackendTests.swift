#if canImport(Darwin) || canImport(AppleFoundation) || UserDefaults
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif
    import TestSupport
    import Testing
    import TypedDefaults

    /// Tests the protection of a program from Foundation's `UserDefaults`. Most tests are for
    /// losses that were measured on Linux.
    struct UserDefaultsBackendTests {
        private func withUserDefaults(_ body: (UserDefaults, DefaultsSuite) throws -> Void) throws {
            let name = makeSuiteName()
            let userDefaults = try #require(UserDefaults(suiteName: name))
            let suite = DefaultsSuite(backend: UserDefaultsBackend(userDefaults, suiteName: name))
            defer {
                userDefaults.removePersistentDomain(forName: name)
                _ = userDefaults.synchronize()
            }
            try body(userDefaults, suite)
        }

        private func raw(_ name: String) -> DefaultKey<PropertyList?> { DefaultKey(name) }

        @Test func existingKeysAreReadInPlace() throws {
            try withUserDefaults { userDefaults, suite in
                userDefaults.set(7, forKey: "launches")
                userDefaults.set(
                    ["savesToCameraRoll": false, "size": "large"] as [String: Any], forKey: "CameraConfig")
                #expect(suite[DefaultKey("launches", default: 0)] == 7)
                let store = PersistentStore<CameraConfig>(in: suite)
                #expect(store.get() == CameraConfig(savesToCameraRoll: false, size: .large))
                userDefaults.set(["savesToCameraRoll": true, "size": "small"] as [String: Any], forKey: "CameraConfig")
                #expect(store.get() == CameraConfig(size: .small))
                store.set(CameraConfig(size: .large))
                #expect(userDefaults.dictionary(forKey: "CameraConfig")?["size"] as? String == "large")
            }
        }

        #if os(macOS) || os(Linux)
            @Test func valuesAreSavedAtANormalExit() async throws {
                let name = makeSuiteName()
                await #expect(processExitsWith: .exitCode(7)) { [name = name as String] in
                    let suite = DefaultsSuite(userDefaultsNamed: name)
                    suite[DefaultKey("number", default: 0)] = 5
                    exit(7)
                }
                await #expect(processExitsWith: .success) { [name = name as String] in
                    let suite = DefaultsSuite(userDefaultsNamed: name)
                    #expect(suite[DefaultKey("number", default: 0)] == 5)
                    suite.removeAll()
                    try suite.synchronize()
                }
            }
        #endif

        @Test func aValueThatFoundationCallsEqualIsWritten() throws {
            try withUserDefaults { userDefaults, suite in
                for value: PropertyList in [
                    2, 2.0, 2, true, 1, "\u{E9}", "e\u{301}", "\u{E9}", [2], [2.0], ["a": 2], ["a": 2.0],
                ] {
                    suite[raw("k")] = value
                    #expect(suite[raw("k")] == value)
                    let object = try #require(userDefaults.object(forKey: "k"))
                    let reread = try PropertyList(object)
                    #expect(reread == value)
                }
            }
        }

        @Test func numbersOfFoundationKeepTheirTypes() throws {
            let object: [String: Any] = [
                "true": NSNumber(value: true), "one": NSNumber(value: 1), "ratio": NSNumber(value: 1.0),
                "largest": NSNumber(value: UInt64.max), "smallest": NSNumber(value: Int64.min),
                "string": NSString("s"), "data": NSData(data: Data([1])),
                "date": NSDate(timeIntervalSinceReferenceDate: 5),
                "array": NSArray(array: [NSNumber(value: false)]), "dictionary": NSDictionary(dictionary: ["a": 1]),
            ]
            let expected: PropertyList = [
                "true": true, "one": 1, "ratio": 1.0, "largest": 18_446_744_073_709_551_615,
                "smallest": -9_223_372_036_854_775_808, "string": "s", "data": .data(Data([1])),
                "date": .date(Date(timeIntervalSinceReferenceDate: 5)), "array": [false], "dictionary": ["a": 1],
            ]
            #expect(try PropertyList(object) == expected)
        }

        @Test func aLaunchArgumentTakesPrecedenceAndIsNotStored() throws {
            let name = makeSuiteName()
            let userDefaults = try #require(UserDefaults(suiteName: name))
            userDefaults.set(5, forKey: "number")
            userDefaults.setVolatileDomain(["number": "7", "flag": "YES"], forName: UserDefaults.argumentDomain)
            let suite = DefaultsSuite(userDefaults: userDefaults, suiteName: name)
            let number = DefaultKey("number", default: 0)
            #expect(suite[number] == 7)
            #expect(suite[DefaultKey("flag", default: false)])
            try UserDefault(number, in: suite).store.updateStored { $0? += 1 }
            #expect(userDefaults.persistentDomain(forName: name)?["number"] as? Int == 6)
            #expect(suite[number] == 7)
            #expect(userDefaults.string(forKey: "number") == "7")
            userDefaults.removePersistentDomain(forName: name)
            _ = userDefaults.synchronize()
        }

        @Test func keysAreTheSuitesOwn() throws {
            try withUserDefaults { userDefaults, suite in
                userDefaults.register(defaults: ["registered": 1])
                userDefaults.set(1, forKey: "own")
                let keys = try suite.keys()
                #expect(keys == ["own"])
            }
        }

        @Test func keysOfAnUnnamedObjectCannotBeListed() throws {
            let userDefaults = try #require(UserDefaults(suiteName: makeSuiteName()))
            #expect(fails(with: .unavailable) { _ = try DefaultsSuite(userDefaults: userDefaults).keys() })
        }

        #if !canImport(Darwin) && UserDefaults
            @Test func valuesThatFoundationWouldDamageAreRefused() throws {
                var deep: PropertyList = "leaf"
                for _ in 0..<33 { deep = ["a": deep] }
                let ruined: [PropertyList] = [
                    .date(Date(timeIntervalSinceReferenceDate: .nan)),
                    .date(Date(timeIntervalSinceReferenceDate: .infinity)),
                    .date(Date(timeIntervalSinceReferenceDate: 0.5)), .date(Date(timeIntervalSinceReferenceDate: 1e17)),
                    .date(Date(timeIntervalSinceReferenceDate: -0.0)), -0.0, .double(-.nan), .double(.signalingNaN),
                    "\u{FEFF}a",
                    ["\u{FEFF}": 1], ["CF$UID": 1], [["a": [["CF$UID": 1]]]], deep,
                ]
                try withUserDefaults { _, suite in
                    let failures = Failures(of: suite)
                    suite[raw("k")] = "before"
                    for value in ruined { suite[raw("k")] = value }
                    for name in ["CF$UID", "\u{FEFF}k", "e\u{301}"] { suite[raw(name)] = 1 }
                    #expect(failures.kinds == Array(repeating: .refused, count: ruined.count + 3))
                    try suite.synchronize()
                    #expect(suite[raw("k")] == "before")
                    let keys = try suite.keys()
                    #expect(keys == ["k"])
                }
            }

            struct Sloppy: DefaultConvertible {
                static let key = "sloppy"
                init() {}
                init?(_ object: Any) { return nil }
                func serialize() -> Any { ["width": CGFloat(1), "when": NSNull()] as [String: Any] }
            }

            @Test func valuesThatWouldTerminateTheProcessAreErrors() throws {
                try withUserDefaults { _, suite in
                    let isRefused = fails(with: .refused) { try PersistentStore<Sloppy>(in: suite).save(Sloppy()) }
                    #expect(isRefused)
                    suite[DefaultKey("width", default: CGFloat(0))] = 1.5
                    #expect(suite[DefaultKey("width", default: CGFloat(0))] == 1.5)
                }
            }

            /// Foundation leaves an empty file behind when it is killed during a write. There is
            /// nothing left to lose.
            @Test func anEmptyFileIsAnEmptySuite() throws {
                let name = makeSuiteName()
                let path = try #require(DefaultsSuite(userDefaultsNamed: name).location)
                try Data().write(to: URL(filePath: path))
                let suite = DefaultsSuite(userDefaultsNamed: name)
                suite[DefaultKey("n", default: 0)] = 5
                try suite.synchronize()
                let data = try #require(FileManager.default.contents(atPath: path))
                #expect(try PropertyListDecoder().decode([String: Int].self, from: data) == ["n": 5])
                suite.removeAll()
                try suite.synchronize()
            }

            /// Foundation would permanently use another file. The settings are those of the test
            /// runner, and the key is removed.
            @Test func theProgramsOwnKeysCanBeListedFirst() async throws {
                await #expect(processExitsWith: .success) {
                    DefaultsSuite(userDefaults: .standard)[DefaultKey("TypedDefaultsTests", default: 0)] = 5
                    try DefaultsSuite(userDefaults: .standard).synchronize()
                }
                await #expect(processExitsWith: .success) {
                    #expect(try DefaultsSuite(userDefaults: .standard).keys().contains("TypedDefaultsTests"))
                    #expect(DefaultsSuite(userDefaults: .standard)[DefaultKey("TypedDefaultsTests", default: 0)] == 5)
                    DefaultsSuite(userDefaults: .standard).remove(["TypedDefaultsTests"])
                    try DefaultsSuite(userDefaults: .standard).synchronize()
                }
                await #expect(processExitsWith: .success) {
                    let keys = try DefaultsSuite(userDefaults: .standard).keys()
                    #expect(!keys.contains("TypedDefaultsTests"))
                }
            }

            @Test(arguments: ["garbage", "<plist><dict><key>cut"])
            func aDamagedFileIsUnavailableAndUntouched(contents: String) throws {
                let name = makeSuiteName()
                let path = try #require(DefaultsSuite(userDefaultsNamed: name).location)
                try FileManager.default.createDirectory(
                    atPath: URL(filePath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
                try Data(contents.utf8).write(to: URL(filePath: path))
                defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: path) } }
                let suite = DefaultsSuite(userDefaultsNamed: name)
                let store = PersistentStore<CameraConfig>(in: suite)
                #expect(fails(with: .unavailable) { _ = try store.load() })
                #expect(fails(with: .unavailable) { try store.save(CameraConfig()) })
                #expect(fails(with: .unavailable) { try suite.synchronize() })
                let failures = Failures(of: suite)
                suite.remove(["CameraConfig"])
                #expect(failures.kinds == [.unavailable])
                #expect(FileManager.default.contents(atPath: path) == Data(contents.utf8))
            }

            @Test func aFileThatCannotBeReadIsUnavailable() throws {
                let name = makeSuiteName()
                let path = try #require(DefaultsSuite(userDefaultsNamed: name).location)
                // A folder, since tests may run as root, who can read any file.
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: path) } }
                let suite = DefaultsSuite(userDefaultsNamed: name)
                let store = PersistentStore<CameraConfig>(in: suite)
                #expect(fails(with: .unavailable) { try store.save(CameraConfig()) })
            }

            @Test func standardErrorNamesThePlace() async throws {
                let name = makeSuiteName()
                let path = try #require(DefaultsSuite(userDefaultsNamed: name).location)
                let result = try await #require(
                    processExitsWith: .success, observing: [\.standardErrorContent]
                ) { [name = name as String] in
                    let suite = DefaultsSuite(userDefaultsNamed: name)
                    suite[DefaultKey("CF$UID", default: 0)] = 1
                }
                #expect(String(decoding: result.standardErrorContent, as: UTF8.self).contains("(\(path))"))
            }

            @Test func aFileThatIsDamagedMeanwhileIsUnavailableAndUntouched() throws {
                let suite = DefaultsSuite(userDefaultsNamed: makeSuiteName())
                suite.onFailure = { _ in }
                let number = DefaultKey("number", default: 0)
                suite[number] = 5
                try suite.synchronize()
                let path = try #require(suite.location)
                try Data("garbage".utf8).write(to: URL(filePath: path))
                defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: path) } }
                suite[number] = 6
                #expect(fails(with: .unavailable) { try suite.synchronize() })
                #expect(FileManager.default.contents(atPath: path) == Data("garbage".utf8))
                #expect(suite[number] == 6)
            }

            @Test func halfACommitIsNeverSaved() throws {
                let name = makeSuiteName()
                let userDefaults = try #require(UserDefaults(suiteName: name))
                let backend = UserDefaultsBackend(userDefaults, suiteName: name)
                let path = try #require(backend.location)
                let keys = (0..<100).map { "k\($0)" }
                let rounds = 50
                onThreads(2) { index in
                    do {
                        for round in 0..<rounds {
                            if index == 0 {
                                try backend.commit(keys.map { ($0, .integer(.init(round))) })
                            } else {
                                try backend.synchronize()
                                guard let data = FileManager.default.contents(atPath: path) else { continue }
                                let root = try PropertyListSerialization.propertyList(from: data, format: nil)
                                let saved = root as? [String: Int] ?? [:]
                                if Set(keys.map { saved[$0] }).count > 1 { Issue.record("half a commit was saved") }
                            }
                        }
                    } catch {
                        Issue.record(error)
                    }
                }
                userDefaults.removePersistentDomain(forName: name)
                _ = userDefaults.synchronize()
            }

            @Test func pendingChangesAreSavedWhenAFailureHandlerExits() async throws {
                let name = makeSuiteName()
                await #expect(processExitsWith: .exitCode(7)) { [name = name as String] in
                    let suite = DefaultsSuite(userDefaultsNamed: name)
                    let failing = SpyBackend(synchronizationDelay: .milliseconds(10))
                    let other = DefaultsSuite(backend: failing)
                    other.onFailure = { _ in
                        suite[DefaultKey("number", default: 0)] = 5
                        exit(7)
                    }
                    failing.interrupt { call in
                        guard call == .commit else { return }
                        failing.fail(with: DefaultsError(.unavailable, reason: "a test"))
                    }
                    other[DefaultKey("n", default: 0)] = 1
                    _ = DispatchSemaphore(value: 0).wait(timeout: .now() + 10)
                }
                await #expect(processExitsWith: .success) { [name = name as String] in
                    let suite = DefaultsSuite(userDefaultsNamed: name)
                    #expect(suite[DefaultKey("number", default: 0)] == 5)
                    suite.removeAll()
                    try suite.synchronize()
                }
            }

            @Test func withoutAHomeSettingsAreUnavailable() async {
                await #expect(processExitsWith: .success) {
                    for variable in ["HOME", "XDG_CONFIG_HOME"] { unsetenv(variable) }
                    let store = PersistentStore<CameraConfig>(in: DefaultsSuite(userDefaultsNamed: makeSuiteName()))
                    #expect(fails(with: .unavailable) { _ = try store.load() })
                    #expect(fails(with: .unavailable) { try store.save(CameraConfig()) })
                }
            }
        #endif
    }
#endif
