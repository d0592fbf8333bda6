import AppleFoundation
import Observation
import Testing
import TypedDefaults

/// What a store hears of writes by code that does not know it.
struct UserDefaultsNewsTests {
    /// Ways to observe a key: ours, and what comes to mind first.
    enum Adapter: Sendable {
        case store
        /// Hands on each call of key-value observing.
        case everyCall
        /// Listens to the notification of all changes.
        case notification
        /// Takes each key for a key path, and each thread but its own for nobody's business.
        case ownThread

        /// Calls `heard` at each change, as long as `body` runs.
        func observing(
            _ key: String, _ defaults: UserDefaults, heard: @escaping @Sendable () -> Void, _ body: () -> Void
        ) {
            let thread = Thread.current
            switch self {
            case .store:
                let store = UserDefault(DefaultKey<Int?>(key), in: DefaultsSuite(userDefaults: defaults)).store
                let token = store.observe { _ in heard() }
                body()
                token.cancel()
            case .everyCall, .ownThread:
                let isFiltered = self == .ownThread
                let ear = Ear { _ in if !isFiltered || Thread.current == thread { heard() } }
                defaults.addObserver(ear, forKeyPath: key, options: [], context: nil)
                body()
                defaults.removeObserver(ear, forKeyPath: key, context: nil)
            case .notification:
                let token = NotificationCenter.default.addObserver(
                    forName: UserDefaults.didChangeNotification, object: defaults, queue: nil
                ) { _ in heard() }
                body()
                NotificationCenter.default.removeObserver(token)
            }
        }
    }

    /// A change that is told in a way that is easy to get wrong, and the adapter that does.
    enum Check: String, CaseIterable, Sendable {
        case plain, toldTwice, keyWithADot, anotherProcess, anotherThread, another

        var wrong: Adapter? {
            switch self {
            case .plain: nil
            case .toldTwice, .keyWithADot: .everyCall
            case .anotherProcess, .another: .notification
            case .anotherThread: .ownThread
            }
        }

        /// How often the adapter hears of one change.
        func count(_ adapter: Adapter) throws -> Int {
            let count = Guarded(0)
            try withDomain { _, defaults in
                let key = self == .keyWithADot ? "camera.number" : "number"
                defaults.set(1, forKey: key)
                defaults.tellsTwice = self == .toldTwice
                adapter.observing(key, defaults) {
                    count.withLock { $0 += 1 }
                } _: {
                    switch self {
                    case .plain, .toldTwice, .keyWithADot: defaults.set(5, forKey: key)
                    case .anotherProcess, .anotherThread: defaults.setFromAnotherProcess(5, forKey: key)
                    // Another key, which is nobody's news here.
                    case .another:
                        defaults.set(5, forKey: key)
                        defaults.set(5, forKey: "another")
                    }
                }
            }
            return count.now
        }
    }

    // In processes of their own, here and below: where keys cannot be observed each change by another test counts, and when two threads
    // have news at once either may tell, a moment later.
    @Test(arguments: Check.allCases)
    func aRawWriteIsHeardOnceAndNotByTheWrongAdapter(check: Check) async {
        await #expect(processExitsWith: .success) { [name = check.rawValue as String] in
            let check = try #require(Check(rawValue: name))
            #expect(try check.count(.store) == 1)
            if let wrong = check.wrong { #expect(try check.count(wrong) != 1) }
        }
    }

    @Test(arguments: ["number", "camera.number", "a@b", "@count", ""])
    func observersHearEveryRawWriteWithItsValue(key: String) async {
        await #expect(processExitsWith: .success) { [key = key as String] in
            try withDomain { _, defaults in
                let store = UserDefault(DefaultKey<Int?>(key), in: DefaultsSuite(userDefaults: defaults)).store
                let heard = Guarded<[DefaultChange<Int?>]>([])
                let token = store.observe { change in heard.withLock { $0.append(change) } }
                defaults.set(1, forKey: key)
                defaults.set(1, forKey: key)
                store.set(2)
                defaults.removeObject(forKey: key)
                #expect(heard.now.map { $0.newValue ?? nil } == [1, 2, nil])
                #expect(heard.now.map { $0.oldValue ?? nil } == [nil, 1, 2])
                #expect(heard.now.map(\.kind) == [.set, .set, .removed])
                #expect(heard.now.map(\.origin) == [.external, .local, .external])
                token.cancel()
                defaults.set(3, forKey: key)
                #expect(heard.now.count == 3)
            }
        }
    }

    @Test func trackingHearsARawWriteOnceThoughNobodyObserves() throws {
        try withDomain { _, defaults in
            defaults.tellsTwice = true
            let store = UserDefault(DefaultKey<Int?>("number"), in: DefaultsSuite(userDefaults: defaults)).store
            let heard = Guarded(0)
            func track() -> Int? {
                withObservationTracking {
                    store.get() ?? nil
                } onChange: {
                    heard.withLock { $0 += 1 }
                    _ = store.get()
                }
            }
            #expect(track() == nil)
            for value in 1...3 {
                defaults.set(value, forKey: "number")
                defaults.set(0, forKey: "another")
                #expect(heard.now == value)
                #expect(track() == value)
            }
            defaults.setFromAnotherProcess(4, forKey: "number")
            #expect(heard.now == 4)
            #expect(track() == 4)
            store.set(5)
            #expect(heard.now == 5)
        }
    }

    /// The form of the keys of a config class.
    @Test func aKeyWithSlashesIsHeardOfFromAnotherProcess() throws {
        try withDomain { _, defaults in
            let key = "com/example/App/Config/number"
            let store = UserDefault(DefaultKey<Int?>(key), in: DefaultsSuite(userDefaults: defaults)).store
            let heard = Guarded<[Int?]>([])
            let token = store.observe { change in heard.withLock { $0.append(change.newValue ?? nil) } }
            defaults.setFromAnotherProcess(5, forKey: key)
            #expect(heard.now == [5])
            token.cancel()
        }
    }

    @Test func keysWithDotsShareOneObserverThatReportsWhatChanged() async {
        await #expect(processExitsWith: .success) {
            try withDomain { name, defaults in
                let backend = UserDefaultsBackend(defaults, suiteName: name)
                let keys = (0..<20).map { "camera.\($0)" }
                let news = Guarded<[[String]?]>([])
                backend.watch { keys in news.withLock { $0.append(keys) } }
                for key in keys { backend.follow(key, true) }
                #expect(news.now == [])
                // Another key, and another domain, as those of a web view.
                defaults.set(1, forKey: "another")
                UserDefaults.standard.set(1, forKey: "another")
                #expect(news.now == [])
                defaults.set(1, forKey: "camera.7")
                #expect(news.now == [["camera.7"]])
                // The same number in another form is another value.
                defaults.set(true, forKey: "camera.7")
                #expect(news.now.count == 2)
                defaults.setFromAnotherProcess(1, forKey: "camera.1")
                defaults.setFromAnotherProcess(1, forKey: "camera.2")
                #expect(news.now.count == 2)
                defaults.set(2, forKey: "another")
                #expect(news.now.last.map { $0.map(Set.init) } == ["camera.1", "camera.2"])
                #expect(news.now.count == 3)

                // The last one takes the observer with it.
                for key in keys { backend.follow(key, false) }
                defaults.set(2, forKey: "camera.7")
                #expect(news.now.count == 3)
                backend.follow("camera.7", true)
                defaults.set(3, forKey: "camera.7")
                #expect(news.now.count == 4)
                backend.follow("camera.7", false)
                UserDefaults.standard.removeObject(forKey: "another")
            }
        }
    }

    @Test func keysWithDotsAreFollowedByManyThreadsAtOnce() async {
        await #expect(processExitsWith: .success) {
            try withDomain { name, defaults in
                // Safe: documented as thread-safe.
                nonisolated(unsafe) let defaults = defaults
                let backend = UserDefaultsBackend(defaults, suiteName: name)
                let news = Guarded(Set<String>())
                backend.watch { keys in news.withLock { $0.formUnion(keys ?? []) } }
                onThreads(4) { index in
                    for round in 0..<200 {
                        backend.follow("a.\(index)", true)
                        defaults.set(round, forKey: "a.\(index)")
                        if round < 199 { backend.follow("a.\(index)", false) }
                    }
                }
                // Still one observer, for each of them.
                news.withLock { $0 = [] }
                for index in 0..<4 { defaults.set("last", forKey: "a.\(index)") }
                #expect(news.now == ["a.0", "a.1", "a.2", "a.3"])
            }
        }
    }

    /// What the documentation of `UserDefaultsBackend` says of such keys.
    @Test func ofAKeyWithADotAnotherProcessIsHeardAtTheNextChangeMadeHere() async {
        await #expect(processExitsWith: .success) {
            try withDomain { _, defaults in
                let store = UserDefault(DefaultKey<Int?>("a.b"), in: DefaultsSuite(userDefaults: defaults)).store
                let heard = Guarded<[Int?]>([])
                let token = store.observe { change in heard.withLock { $0.append(change.newValue ?? nil) } }
                defaults.setFromAnotherProcess(1, forKey: "a.b")
                #expect(heard.now == [])
                #expect(store.get() == 1)
                defaults.set(0, forKey: "another")
                #expect(heard.now == [1])
                token.cancel()
            }
        }
    }

    @Test func whatOthersWriteIsReadAtOnceThoughNobodyHearsOfIt() throws {
        try withDomain { name, defaults in
            let store = UserDefault(
                DefaultKey<Int?>("a.b"), in: DefaultsSuite(backend: UserDefaultsBackend(defaults, suiteName: name))
            ).store
            let wrong = UserDefault(
                DefaultKey<Int?>("a.b"), in: DefaultsSuite(backend: CachingBackend(defaults))
            ).store
            defaults.set(1, forKey: "a.b")
            #expect(store.get() == 1)
            #expect(wrong.get() == 1)
            defaults.setFromAnotherProcess(2, forKey: "a.b")
            #expect(store.get() == 2)
            #expect(wrong.get() == 1)
        }
    }

    /// A wrong adapter: its values are taken for right until it says otherwise, and it never does.
    private final class CachingBackend: DefaultsBackend {
        private let defaults: UserDefaultsBackend
        init(_ defaults: UserDefaults) { self.defaults = UserDefaultsBackend(defaults) }
        func value(forKey key: String) throws(DefaultsError) -> PropertyList? { try defaults.value(forKey: key) }
        func keys() throws(DefaultsError) -> [String] { try defaults.keys() }
        func commit(_ edits: [(key: String, value: PropertyList?)]) throws(DefaultsError) { try defaults.commit(edits) }
        var generation: UInt64? { 0 }
    }

    // Inside a write

    @Test func whoeverObservesUserDefaultsMayReadAStoreMeanwhile() throws {
        try withDomain { _, defaults in
            let store = UserDefault(DefaultKey<Int?>("number"), in: DefaultsSuite(userDefaults: defaults)).store
            let heard = Guarded<[Int?]>([])
            let ear = Ear { _ in
                heard.withLock { $0.append(store.get() ?? nil) }
                // As one that hops to the main thread and waits.
                onThreads(1) { _ in heard.withLock { $0.append(store.get() ?? nil) } }
            }
            defaults.addObserver(ear, forKeyPath: "number", options: [], context: nil)
            store.set(5)
            #expect(heard.now == [5, 5])
            defaults.removeObserver(ear, forKeyPath: "number", context: nil)
        }
    }

    @Test func aRawWriteInsideAStoresOwnIsHeardAfterIt() throws {
        try withDomain { _, defaults in
            let store = UserDefault(DefaultKey<Int?>("number"), in: DefaultsSuite(userDefaults: defaults)).store
            let heard = Guarded<[Int?]>([])
            let token = store.observe { change in heard.withLock { $0.append(change.newValue ?? nil) } }
            let ear = Ear { _ in if defaults.integer(forKey: "number") == 5 { defaults.set(7, forKey: "number") } }
            defaults.addObserver(ear, forKeyPath: "number", options: [], context: nil)
            store.set(5)
            #expect(heard.now == [5, 7])
            #expect(store.get() == 7)
            defaults.removeObserver(ear, forKeyPath: "number", context: nil)
            token.cancel()
        }
    }

    @Test func aRawWriteWhileAnotherThreadHasItsTurnDoesNotWaitAndIsHeard() throws {
        try withDomain { _, defaults in
            let suite = DefaultsSuite(userDefaults: defaults)
            let heard = Guarded<[Int?]>([])
            let token = UserDefault(DefaultKey<Int?>("number"), in: suite).store.observe { change in
                heard.withLock { $0.append(change.newValue ?? nil) }
            }
            try UserDefault(DefaultKey<Int?>("another"), in: suite).store.updateStored { _ in
                // Returns: the writer does not wait for this thread, which waits for it.
                defaults.setFromAnotherProcess(5, forKey: "number")
                #expect(heard.now == [])
            }
            #expect(heard.now == [5])
            token.cancel()
        }
    }

    @Test func aCommitOfTwoKeysIsSeenWholeByWhoeverObservesTheFirst() throws {
        try withDomain { name, defaults in
            let backend = UserDefaultsBackend(defaults, suiteName: name)
            let keys = ["a", "b"]
            let seen = Guarded<[[PropertyList?]]>([])
            let ear = Ear { _ in
                do {
                    let values = try keys.map { try backend.value(forKey: $0) }
                    seen.withLock { $0.append(values) }
                } catch {
                    Issue.record(error)
                }
            }
            for key in keys { defaults.addObserver(ear, forKeyPath: key, options: [], context: nil) }
            try backend.commit([("a", 1), ("b", 1)])
            try backend.commit([("a", 2), ("b", nil)])
            #expect(seen.now == [[1, 1], [1, 1], [2, nil], [2, nil]])
            for key in keys { defaults.removeObserver(ear, forKeyPath: key, context: nil) }
        }
    }

    // Ends

    @Test func aBackendThatOutlivesItsSuiteObservesNothing() throws {
        try withDomain { name, defaults in
            let backend = UserDefaultsBackend(defaults, suiteName: name)
            let fired = Guarded(0)
            for _ in 0..<3 {
                let suite = DefaultsSuite(backend: backend)
                withObservationTracking {
                    _ = suite[DefaultKey("number", default: 0)]
                } onChange: {
                    fired.withLock { $0 += 1 }
                }
                #expect(defaults.observationCount == 1)
            }
            #expect(defaults.observationCount == 0)
            defaults.set(5, forKey: "number")
            #expect(fired.now == 0)
        }
    }

    @Test func backendsThatGoWhileOthersWriteDoNoHarm() async {
        // In a process of its own, since the harm would be its end.
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
        // The wrong adapter: an observer of its own for each, which nobody else holds.
        await #expect(processExitsWith: .failure) {
            try withDomain { _, defaults in
                do {
                    let ear = Ear { _ in }
                    defaults.addObserver(ear, forKeyPath: "number", options: [], context: nil)
                }
                defaults.setFromAnotherProcess(5, forKey: "number")
            }
        }
    }
}
