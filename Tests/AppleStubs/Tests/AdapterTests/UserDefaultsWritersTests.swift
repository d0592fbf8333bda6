import AppleFoundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

/// Tests writers while `UserDefaults` calls observers of the program, which may wait for any
/// thread.
///
/// An observer of the notification on the main queue waits for the main thread
/// (RevenueCat/purchases-ios #2078), and one of SwiftUI for a lock that the main thread holds while
/// it draws and while it calls actions (kean/Pulse #376).
struct UserDefaultsWritersTests {
    private static let (background, main) = (DefaultKey("background", default: 0), DefaultKey("main", default: 0))

    /// A suite with the failures that it has reported.
    private struct Program: Sendable {
        let suite: DefaultsSuite
        let failures: Failures

        init(_ defaults: UserDefaults, _ name: String? = nil) {
            suite = DefaultsSuite(userDefaults: defaults, suiteName: name)
            failures = Failures(of: suite)
        }
    }

    /// Runs `body` with a gate that observes a key.
    private func withGate(
        of key: String, _ body: (Gate, Program, UserDefaults, _ domain: String) throws -> Void
    ) throws {
        try withDomain { name, defaults in
            let gate = Gate()
            let observer = KeyValueObserver { _ in gate.pass() }
            defaults.addObserver(observer, forKeyPath: key, options: [], context: nil)
            defer { defaults.removeObserver(observer, forKeyPath: key, context: nil) }
            try body(gate, Program(defaults, name), defaults, name)
        }
    }

    /// Observes the notification as with `queue: .main`: a thread that posts it waits for the main
    /// queue, unless it is on it. On Linux, Foundation does not notice that if another thread than
    /// the main one runs the main queue.
    private func observeOnTheMainQueue(_ defaults: UserDefaults) -> any NSObjectProtocol {
        let isOnMain = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: isOnMain, value: true)
        return NotificationCenter.default.addObserver(
            forName: UserDefaults.didChangeNotification, object: defaults, queue: nil
        ) { _ in
            if DispatchQueue.getSpecific(key: isOnMain) == nil { DispatchQueue.main.sync {} }
        }
    }

    // Writers do not wait for observers

    @Test func aWriterDoesNotWaitWhileTheObserverOfAnotherOneWaitsForIt() throws {
        try withGate(of: "background") { gate, program, defaults, _ in
            let suite = program.suite
            gate.holding {
                suite[Self.background] = 1
            } _: {
                #expect(suite[Self.background] == 1)
                suite[Self.main] = 2
                #expect(defaults.integer(forKey: "main") == 2)
                // Of the same key: stores read it at once, and other code when the first is back.
                suite[Self.background] += 1
                #expect(suite[Self.background] == 2)
                #expect(defaults.integer(forKey: "background") == 1)
            }
            #expect(defaults.integer(forKey: "background") == 2)
            #expect(suite[Self.background] == 2)
            #expect(program.failures.kinds == [])
        }
    }

    @MainActor @Test func noUpdateIsLostWhileObserversWaitForTheMainThread() async throws {
        let name = "AdapterTests-\(UUID().uuidString)"
        let defaults = try #require(UserDefaults(suiteName: name))
        defer { defaults.removePersistentDomain(forName: name) }
        let program = Program(defaults)
        let suite = program.suite
        let keys = (0..<5).map { DefaultKey("key\($0)", default: 0) }
        let token = observeOnTheMainQueue(defaults)
        // Like that of SwiftUI.
        let lock = NSRecursiveLock()
        let observer = KeyValueObserver { _ in lock.withLock {} }
        for key in keys { defaults.addObserver(observer, forKeyPath: key.name, options: [], context: nil) }
        // On a busy machine, nine writers may wait too long for each other. Then nothing is stored.
        let count: @Sendable (DefaultKey<Int>) -> Bool = { key in
            do { try suite.update(key) { $0 += 1 } } catch {
                if (error as? DefaultsError)?.kind != .timedOut { Issue.record(error) }
                return false
            }
            return true
        }
        let running = Guarded(8)
        for _ in 0..<8 {
            Thread.detachNewThread {
                for _ in 0..<10 { for key in keys { while !count(key) {} } }
                running.withLock { $0 -= 1 }
            }
        }
        for _ in 0..<10 {
            for key in keys { while !lock.withLock({ count(key) }) { await Task.yield() } }
            await Task.yield()
        }
        while running.now > 0 { await Task.yield() }
        // A thread of the library may still set a value, and its observers wait for this thread.
        while await Task.detached(operation: { (try? suite.synchronize()) == nil }).value {}
        for key in keys {
            #expect(suite[key] == 90)
            #expect(defaults.integer(forKey: key.name) == 90)
            defaults.removeObserver(observer, forKeyPath: key.name, context: nil)
        }
        NotificationCenter.default.removeObserver(token)
        #expect(program.failures.kinds == [])
    }

    // What is read while an edit waits

    @Test func aRawWriteWhileAnObserverWaitsIsReadAndReported() throws {
        try withGate(of: "background") { gate, program, defaults, _ in
            let suite = program.suite
            let received = Guarded<[DefaultChange<Int>]>([])
            let token = suite.observe(Self.background) { change in received.withLock { $0.append(change) } }
            gate.holding {
                suite[Self.background] = 1
            } _: {
                defaults.set(7, forKey: "background")
                #expect(suite[Self.background] == 7)
                suite[Self.background] += 1
                #expect(suite[Self.background] == 8)
            }
            suite.waitForHandlers()
            #expect(defaults.integer(forKey: "background") == 8)
            #expect(received.now.map(\.newValue) == [1, 7, 8])
            #expect(received.now.map(\.origin) == [.local, .external, .local])
            token.cancel()
        }
    }

    /// A value that looks as if `UserDefaults` did not have the new one yet.
    @Test(arguments: ["background", "a.dotted"])
    func aRawWriteOfTheOldValueIsReportedInTheEnd(key: String) async {
        // A process of its own, because for a key with a dot, the changes by other tests count.
        await #expect(processExitsWith: .success) { [key = key as String] in
            try withDomain { name, defaults in
                // Safe: documented as thread-safe.
                nonisolated(unsafe) let other = try #require(UserDefaults(suiteName: name))
                let suite = DefaultsSuite(userDefaults: defaults)
                let setting = UserDefault(DefaultKey(key, default: 0), in: suite)
                defaults.set(5, forKey: key)
                let received = Guarded<[Int?]>([])
                let token = setting.observe { change in received.withLock { $0.append(change.newValue) } }
                let isRestored = Guarded(false)
                let restoring = NotificationCenter.default.addObserver(
                    forName: UserDefaults.didChangeNotification, object: defaults, queue: nil
                ) { _ in
                    guard !isRestored.now else { return }
                    isRestored.withLock { $0 = true }
                    other.set(5, forKey: key)
                }
                setting.value = 6
                suite.waitForHandlers()
                #expect(setting.value == 5)
                #expect(received.now == [6, 5])
                token.cancel()
                NotificationCenter.default.removeObserver(restoring)
            }
        }
    }

    @Test func aCommitOfSeveralKeysIsReadWholeWhileAnObserverWaits() throws {
        try withGate(of: "a") { gate, program, defaults, domain in
            let suite = program.suite
            defaults.set(1, forKey: "c")
            try gate.holding {
                do { try suite.replaceContents(with: ["a": 1, "b": 2]) } catch { Issue.record(error) }
            } _: {
                // Raw readers see a part of it.
                let raw = defaults.persistentDomain(forName: domain) ?? [:]
                #expect(raw.count < 4 && (raw["b"] == nil || raw["c"] != nil))
                let keys = try Set(suite.keys())
                #expect(keys == ["a", "b"])
                #expect(suite[DefaultKey("b", default: 0)] == 2)
                #expect(UserDefault(DefaultKey("b", default: 0), in: suite).isSet)
                #expect(suite[DefaultKey("c", default: 0)] == 0)
                #expect(!UserDefault(DefaultKey("c", default: 0), in: suite).isSet)
            }
            let raw = try #require(defaults.persistentDomain(forName: domain))
            #expect(Set(raw.keys) == ["a", "b"])
            #expect(program.failures.kinds == [])
        }
    }

    @Test func aRemovalThatWaitsReadsTheRegisteredValue() async {
        // A process of its own, because registered values belong to the process.
        await #expect(processExitsWith: .success) {
            try UserDefaultsWritersTests().withGate(of: "background") { gate, program, defaults, _ in
                let setting = UserDefault(DefaultKey<Int?>("background"), in: program.suite)
                defaults.register(defaults: ["background": 9])
                gate.holding {
                    setting.value = 1
                } _: {
                    setting.reset()
                    #expect(setting.value == 9)
                    #expect(!setting.isSet)
                }
                #expect(setting.value == 9)
                #expect(defaults.integer(forKey: "background") == 9)
                #expect(program.failures.kinds == [])
            }
        }
    }

    @Test func theKeysAreThoseOfWholeCommits() throws {
        try withDomain { name, defaults in
            let suite = DefaultsSuite(userDefaults: defaults, suiteName: name)
            let isDone = Guarded(false)
            let counts = Guarded<Set<Int>>([])
            let ended = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                while !isDone.now {
                    let count = (try? suite.keys())?.count ?? -1
                    counts.withLock { _ = $0.insert(count) }
                }
                ended.signal()
            }
            for _ in 0..<50 {
                try suite.replaceContents(with: ["a": 1, "b": 2])
                try suite.replaceContents(with: [:])
            }
            isDone.withLock { $0 = true }
            ended.wait()
            #expect(counts.now.isSubset(of: [0, 2]))
        }
    }

    // Observers that write

    @Test func anObserverMayWriteToTheSuiteThatCallsIt() throws {
        try withDomain { _, defaults in
            let program = Program(defaults)
            let suite = program.suite
            let received = Guarded<[Int?]>([])
            let token = suite.observe(Self.main) { change in received.withLock { $0.append(change.newValue) } }
            let observer = KeyValueObserver { _ in
                if suite[Self.main] > 5 { suite[Self.main] = 5 }
                suite[Self.background] = suite[Self.main]
            }
            defaults.addObserver(observer, forKeyPath: "main", options: [], context: nil)
            suite[Self.main] = 9
            #expect(defaults.integer(forKey: "main") == 5)
            #expect(defaults.integer(forKey: "background") == 5)
            suite.waitForHandlers()
            #expect(received.now == [9, 5])
            #expect(program.failures.kinds == [])
            defaults.removeObserver(observer, forKeyPath: "main", context: nil)
            token.cancel()
        }
    }

    @Test func anObserverThatCausesItselfEndsWithAnError() throws {
        try withDomain { _, defaults in
            let program = Program(defaults)
            let suite = program.suite
            let observer = KeyValueObserver { _ in suite[Self.main] += 1 }
            defaults.addObserver(observer, forKeyPath: "main", options: [], context: nil)
            suite[Self.main] = 1
            #expect(program.failures.kinds == [.nestedWrite])
            #expect(suite[Self.main] == 100)
            #expect(defaults.integer(forKey: "main") == 100)
            defaults.removeObserver(observer, forKeyPath: "main", context: nil)
        }
    }

    /// Otherwise a thread that writes without end would keep another one in its write.
    @Test func aWriterSetsOneValueOfAnotherWriterAndReturns() throws {
        try withDomain { _, defaults in
            let suite = DefaultsSuite(userDefaults: defaults)
            let threads = Guarded<[ObjectIdentifier]>([])
            let isDone = DispatchSemaphore(value: 0)
            let observer = KeyValueObserver { _ in
                let count = threads.withLock { threads in
                    threads.append(ObjectIdentifier(Thread.current))
                    return threads.count
                }
                if count < 5 { onThreads(1) { _ in suite[Self.main] = count } } else { isDone.signal() }
            }
            defaults.addObserver(observer, forKeyPath: "main", options: [], context: nil)
            suite[Self.main] = 9
            isDone.wait()
            #expect(defaults.integer(forKey: "main") == 4)
            let own = ObjectIdentifier(Thread.current)
            #expect(threads.now.map { $0 == own } == [true, true, false, false, false])
            defaults.removeObserver(observer, forKeyPath: "main", context: nil)
        }
    }

    // Saving

    @Test func synchronizingWaitsForAnEditThatWaits() throws {
        try withGate(of: "background") { gate, program, defaults, _ in
            let suite = program.suite
            gate.holding {
                suite[Self.background] = 1
            } _: {
                suite[Self.background] = 2
                #expect(fails(with: .timedOut) { try suite.synchronize() })
                #expect(defaults.integer(forKey: "background") == 1)
            }
            try suite.synchronize()
            #expect(defaults.integer(forKey: "background") == 2)
        }
    }

    @Test func aStuckObserverDoesNotKeepAProgramFromSaving() throws {
        let key = "stuck-\(UUID().uuidString)"
        defer { UserDefaults.standard.removeObject(forKey: key) }
        let suite = DefaultsSuite(userDefaults: .standard)
        let gate = Gate()
        let observer = KeyValueObserver { _ in gate.pass() }
        UserDefaults.standard.addObserver(observer, forKeyPath: key, options: [], context: nil)
        gate.holding {
            suite[DefaultKey(key, default: 0)] = 1
        } _: {
            let count = CFPreferencesStub.synchronizations
            #expect(fails(with: .timedOut) { try suite.synchronize() })
            #expect(CFPreferencesStub.synchronizations > count)
        }
        UserDefaults.standard.removeObserver(observer, forKeyPath: key, context: nil)
    }

    @Test func anObserverCannotSynchronizeTheWriteThatCallsIt() throws {
        try withDomain { _, defaults in
            let suite = DefaultsSuite(userDefaults: defaults)
            let isNested = Guarded(false)
            let observer = KeyValueObserver { _ in
                isNested.withLock { $0 = fails(with: .nestedWrite) { try suite.synchronize() } }
            }
            defaults.addObserver(observer, forKeyPath: "main", options: [], context: nil)
            suite[Self.main] = 1
            #expect(isNested.now)
            defaults.removeObserver(observer, forKeyPath: "main", context: nil)
        }
    }

    @Test func aWriteInsideAnUpdateOfAnotherSuiteIsSetAfterIt() throws {
        try withDomain { _, one in
            try withDomain { _, two in
                // Safe: documented as thread-safe.
                nonisolated(unsafe) let two = two
                let (outer, inner) = (DefaultsSuite(userDefaults: one), DefaultsSuite(userDefaults: two))
                try UserDefault(Self.main, in: outer).update { value in
                    inner[Self.main] = 1
                    #expect(inner[Self.main] == 1)
                    #expect(two.object(forKey: "main") == nil)
                    value = 2
                }
                #expect(two.integer(forKey: "main") == 1)
                #expect(one.integer(forKey: "main") == 2)
            }
        }
    }

    /// The suite that wrote lives until its edit is set: another one would not know the edit.
    @Test func updatesThroughTemporaryHandlesInsideAnUpdateAreAllCounted() throws {
        try withDomain { _, one in
            try withDomain { name, two in
                nonisolated(unsafe) let two = two
                @Sendable func suite() -> DefaultsSuite { DefaultsSuite(userDefaults: two, suiteName: name) }
                try DefaultsSuite(userDefaults: one).update(Self.main) { value in
                    suite()[Self.background] += 1
                    #expect(suite()[Self.background] == 1)
                    suite()[Self.background] += 1
                    #expect(suite()[Self.background] == 2)
                    value = 1
                }
                #expect(suite()[Self.background] == 2)
            }
        }
    }

    @Test func updatesThroughTemporaryHandlesInsideAnObserverAreAllCounted() throws {
        try withDomain { _, one in
            try withDomain { name, two in
                nonisolated(unsafe) let two = two
                @Sendable func suite() -> DefaultsSuite { DefaultsSuite(userDefaults: two, suiteName: name) }
                let read = Guarded<[Int]>([])
                let observer = KeyValueObserver { _ in
                    suite()[Self.background] += 1
                    read.withLock { $0.append(suite()[Self.background]) }
                    suite()[Self.background] += 1
                }
                one.addObserver(observer, forKeyPath: "main", options: [], context: nil)
                DefaultsSuite(userDefaults: one)[Self.main] = 1
                #expect(read.now == [1])
                #expect(suite()[Self.background] == 2)
                one.removeObserver(observer, forKeyPath: "main", context: nil)
            }
        }
    }
}
