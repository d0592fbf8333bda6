import AppleFoundation
import Observation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

/// Tests which changes by other code a store reports.
struct UserDefaultsChangesTests {
    // The tests of keys that cannot be observed run in processes of their own: changes by other
    // tests count too, and when two threads detect changes at the same time, either one may report
    // them, a moment later.
    @Test(arguments: ["number", "com/example/App/Config/number", "camera.number", "a@b", "@count", ""])
    func observersReceiveEveryRawWriteWithItsValue(key: String) async {
        await #expect(processExitsWith: .success) { [key = key as String] in
            try withDomain { _, defaults in
                let suite = DefaultsSuite(userDefaults: defaults)
                let store = UserDefault(DefaultKey<Int?>(key), in: suite).store
                let received = Guarded<[DefaultChange<Int?>]>([])
                let token = store.observe { change in received.withLock { $0.append(change) } }
                defaults.set(1, forKey: key)
                defaults.set(1, forKey: key)
                defaults.set(1, forKey: "another")
                store.set(2)
                defaults.removeObject(forKey: key)
                suite.waitForHandlers()
                #expect(received.now.map { $0.newValue ?? nil } == [1, 2, nil])
                #expect(received.now.map { $0.oldValue ?? nil } == [nil, 1, 2])
                #expect(received.now.map(\.kind) == [.set, .set, .removed])
                #expect(received.now.map(\.origin) == [.external, .local, .external])
                token.cancel()
                defaults.set(3, forKey: key)
                #expect(received.now.count == 3)
            }
        }
    }

    @Test func trackingReceivesARawWriteOnceWithoutObservers() throws {
        try withDomain { _, defaults in
            defaults.notifiesTwice = true
            let suite = DefaultsSuite(userDefaults: defaults)
            let store = UserDefault(DefaultKey<Int?>("number"), in: suite).store
            let received = Guarded(0)
            func track() -> Int? {
                withObservationTracking {
                    store.get() ?? nil
                } onChange: {
                    received.withLock { $0 += 1 }
                    _ = store.get()
                }
            }
            #expect(track() == nil)
            for value in 1...3 {
                defaults.set(value, forKey: "number")
                defaults.set(0, forKey: "another")
                suite.waitForHandlers()
                #expect(received.now == value)
                #expect(track() == value)
            }
            defaults.setFromAnotherProcess(4, forKey: "number")
            suite.waitForHandlers()
            #expect(received.now == 4)
            #expect(track() == 4)
            store.set(5)
            #expect(received.now == 5)
        }
    }

    /// Changes by other processes are found at the next local change.
    @Test func keysWithDotsAreReadAgainAfterEachLocalChange() async {
        await #expect(processExitsWith: .success) {
            try withDomain { name, defaults in
                let suite = DefaultsSuite(userDefaults: defaults, suiteName: name)
                let reported = Guarded<[String]>([])
                let tokens = (0..<20).map { index in
                    suite.observe(DefaultKey<Int?>("camera.\(index)")) { _ in
                        reported.withLock { $0.append("camera.\(index)") }
                    }
                }
                // Change another key and another domain, such as that of a web view.
                defaults.set(1, forKey: "another")
                UserDefaults.standard.set(1, forKey: "another")
                suite.waitForHandlers()
                #expect(reported.now == [])
                defaults.set(1, forKey: "camera.7")
                suite.waitForHandlers()
                #expect(reported.now == ["camera.7"])
                // The same number in another form is a different value.
                defaults.set(true, forKey: "camera.7")
                suite.waitForHandlers()
                #expect(reported.now == ["camera.7", "camera.7"])
                defaults.setFromAnotherProcess(1, forKey: "camera.1")
                defaults.setFromAnotherProcess(1, forKey: "camera.2")
                suite.waitForHandlers()
                #expect(reported.now.count == 2)
                defaults.set(2, forKey: "another")
                suite.waitForHandlers()
                #expect(Set(reported.now) == ["camera.1", "camera.2", "camera.7"])
                #expect(reported.now.count == 4)
                for token in tokens { token.cancel() }
                defaults.set(2, forKey: "camera.7")
                suite.waitForHandlers()
                #expect(reported.now.count == 4)
                UserDefaults.standard.removeObject(forKey: "another")
            }
        }
    }

    @Test(arguments: ["UIApplicationWillEnterForegroundNotification", "NSApplicationDidBecomeActiveNotification"])
    func changesToAKeyWithADotArriveWhenTheAppComesToTheForeground(notification: String) async {
        await #expect(processExitsWith: .success) { [notification = notification as String] in
            try withDomain { _, defaults in
                let suite = DefaultsSuite(userDefaults: defaults)
                let store = UserDefault(DefaultKey<Int?>("a.b"), in: suite).store
                let received = Guarded<[DefaultChange<Int?>]>([])
                let token = store.observe { change in received.withLock { $0.append(change) } }
                // A widget changes the value while the app is suspended.
                defaults.setFromAnotherProcess(1, forKey: "a.b")
                suite.waitForHandlers()
                #expect(received.now.isEmpty)
                for _ in 0..<2 {
                    NotificationCenter.default.post(name: Notification.Name(notification), object: nil)
                    suite.waitForHandlers()
                    #expect(received.now.map { $0.newValue ?? nil } == [1])
                    #expect(received.now.map(\.origin) == [.external])
                }
                token.cancel()
                defaults.setFromAnotherProcess(2, forKey: "a.b")
                NotificationCenter.default.post(name: Notification.Name(notification), object: nil)
                suite.waitForHandlers()
                #expect(received.now.count == 1)
            }
        }
    }

    // During a write

    @Test func anObserverOfUserDefaultsMayReadAStore() throws {
        try withDomain { _, defaults in
            let store = UserDefault(DefaultKey<Int?>("number"), in: DefaultsSuite(userDefaults: defaults)).store
            let received = Guarded<[Int?]>([])
            let observer = KeyValueObserver { _ in
                received.withLock { $0.append(store.get() ?? nil) }
                // Also read from another thread while this one waits, as when it hops to the main
                // thread.
                onThreads(1) { _ in received.withLock { $0.append(store.get() ?? nil) } }
            }
            defaults.addObserver(observer, forKeyPath: "number", options: [], context: nil)
            store.set(5)
            #expect(received.now == [5, 5])
            defaults.removeObserver(observer, forKeyPath: "number", context: nil)
        }
    }

    @Test func aRawWriteDuringAStoresWriteIsReportedAfterIt() throws {
        try withDomain { _, defaults in
            let suite = DefaultsSuite(userDefaults: defaults)
            let store = UserDefault(DefaultKey<Int?>("number"), in: suite).store
            let received = Guarded<[Int?]>([])
            let token = store.observe { change in received.withLock { $0.append(change.newValue ?? nil) } }
            let observer = KeyValueObserver { _ in
                if defaults.integer(forKey: "number") == 5 { defaults.set(7, forKey: "number") }
            }
            defaults.addObserver(observer, forKeyPath: "number", options: [], context: nil)
            store.set(5)
            suite.waitForHandlers()
            #expect(received.now == [5, 7])
            #expect(store.get() == 7)
            defaults.removeObserver(observer, forKeyPath: "number", context: nil)
            token.cancel()
        }
    }

    @Test func aRawWriteDuringAnUpdateDoesNotWaitAndIsReported() throws {
        try withDomain { _, defaults in
            let suite = DefaultsSuite(userDefaults: defaults)
            let received = Guarded<[Int?]>([])
            let token = UserDefault(DefaultKey<Int?>("number"), in: suite).store.observe { change in
                received.withLock { $0.append(change.newValue ?? nil) }
            }
            try UserDefault(DefaultKey<Int?>("another"), in: suite).store.updateStored { _ in
                // This returns, because the writer does not wait for this thread, which waits for
                // the writer. The change may be reported at once.
                defaults.setFromAnotherProcess(5, forKey: "number")
            }
            suite.waitForHandlers()
            #expect(received.now == [5])
            token.cancel()
        }
    }

    @Test func anObserverOfTheFirstKeySeesTheWholeCommit() throws {
        try withDomain { name, defaults in
            let backend = UserDefaultsBackend(defaults, suiteName: name)
            let keys = ["a", "b"]
            let seen = Guarded<[[PropertyList?]]>([])
            let observer = KeyValueObserver { _ in
                do {
                    let values = try keys.map { try backend.value(forKey: $0) }
                    seen.withLock { $0.append(values) }
                } catch {
                    Issue.record(error)
                }
            }
            for key in keys { defaults.addObserver(observer, forKeyPath: key, options: [], context: nil) }
            _ = try backend.commit([("a", 1), ("b", 1)], over: backend.generation)
            _ = try backend.commit([("a", 2), ("b", nil)], over: backend.generation)
            #expect(seen.now == [[1, 1], [1, 1], [2, nil], [2, nil]])
            for key in keys { defaults.removeObserver(observer, forKeyPath: key, context: nil) }
        }
    }

    // End of observations

    @Test func aBackendThatOutlivesItsSuiteCallsNoHandler() throws {
        try withDomain { name, defaults in
            let backend = UserDefaultsBackend(defaults, suiteName: name)
            let (fired, reported) = (Guarded(0), Guarded(0))
            for _ in 0..<3 {
                let suite = DefaultsSuite(backend: backend)
                withObservationTracking {
                    _ = suite[DefaultKey("number", default: 0)]
                } onChange: {
                    fired.withLock { $0 += 1 }
                }
            }
            backend.watch(.failures) { _ in reported.withLock { $0 += 1 } }
            defaults.set(5, forKey: "number")
            #expect(fired.now == 0)
            #expect(reported.now == 0)
        }
    }

    /// Programs have crashed because a registration was removed during a change.
    @Test func aKeyIsRegisteredOnceAndStaysRegistered() throws {
        try withDomain { name, defaults in
            let received = Guarded<[Int?]>([])
            for value in 1...3 {
                // A new suite, and two observers of it.
                let suite = DefaultsSuite(backend: UserDefaultsBackend(defaults, suiteName: name))
                let setting = UserDefault(DefaultKey<Int?>("number"), in: suite)
                let tokens = (0..<2).map { _ in
                    setting.observe { change in received.withLock { $0.append(change.newValue ?? nil) } }
                }
                #expect(defaults.observationCount == 1)
                defaults.set(value, forKey: "number")
                suite.waitForHandlers()
                for token in tokens { token.cancel() }
                #expect(defaults.observationCount == 1)
            }
            #expect(received.now == [1, 1, 2, 2, 3, 3])
        }
    }

    @Test func backendsCanBeDeallocatedDuringWrites() async {
        // A process of its own, because a failure crashes it.
        await #expect(processExitsWith: .success) {
            try withDomain { name, defaults in
                // Safe: documented as thread-safe.
                nonisolated(unsafe) let defaults = defaults
                let isOver = Guarded(false)
                onThreads(3) { index in
                    if index == 0 {
                        for _ in 0..<300 {
                            let backend = UserDefaultsBackend(UserDefaults(suiteName: name)!, suiteName: name)
                            let store = UserDefault(
                                DefaultKey<Int?>("number"), in: DefaultsSuite(backend: backend)
                            ).store
                            let token = store.observe { _ in }
                            _ = store.get()
                            token.cancel()
                        }
                        isOver.withLock { $0 = true }
                    }
                    while !isOver.now { defaults.set(index, forKey: "number") }
                }
            }
        }
    }
}
