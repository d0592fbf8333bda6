#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif
    import TestSupport
    import Testing
    import TypedDefaults

    /// Tests the protection of a program from Foundation's `UserDefaults`.
    @Suite(.ownThreads) struct UserDefaultsBackendTests {
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
                    try suite.removeAll()
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
            // Names that no other test uses, because arguments hide the values of every suite.
            let (number, flag) = (
                DefaultKey("number of \(name)", default: 0), DefaultKey("flag of \(name)", default: false)
            )
            userDefaults.set(5, forKey: number.name)
            volatileDomains.lock()
            let arguments = userDefaults.volatileDomain(forName: UserDefaults.argumentDomain)
            defer {
                userDefaults.setVolatileDomain(arguments, forName: UserDefaults.argumentDomain)
                volatileDomains.unlock()
            }
            userDefaults.setVolatileDomain(
                arguments.merging([number.name: "7", flag.name: "YES"]) { $1 }, forName: UserDefaults.argumentDomain)
            let suite = DefaultsSuite(userDefaults: userDefaults, suiteName: name)
            #expect(suite[number] == 7)
            #expect(suite[flag])
            try UserDefault(number, in: suite).store.updateStored { $0? += 1 }
            #expect(userDefaults.persistentDomain(forName: name)?[number.name] as? Int == 6)
            #expect(suite[number] == 7)
            #expect(userDefaults.string(forKey: number.name) == "7")
            userDefaults.removePersistentDomain(forName: name)
            _ = userDefaults.synchronize()
        }

        @Test func keysAreTheSuitesOwn() throws {
            try withUserDefaults { userDefaults, suite in
                volatileDomains.lock()
                let registered = userDefaults.volatileDomain(forName: UserDefaults.registrationDomain)
                defer {
                    userDefaults.setVolatileDomain(registered, forName: UserDefaults.registrationDomain)
                    volatileDomains.unlock()
                }
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
    }
#endif
