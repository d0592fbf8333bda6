#if os(macOS)
    import AppKit
    import Observation
    import SwiftUI
    import TestSupport
    import Testing
    import TypedDefaults

    /// Prints an answer about this Mac. The issue template *Result on an Apple platform* takes
    /// these lines.
    private func answer(_ question: String, _ answer: String) {
        let system = ProcessInfo.processInfo.operatingSystemVersionString
        FileHandle.standardError.write(Data("ON A MAC | \(system) | \(question) | \(answer)\n".utf8))
    }

    /// Runs `/usr/bin/defaults`, another process.
    private func defaults(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/defaults")
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    private final class Observer: NSObject {
        private let onChange: () -> Void
        init(_ onChange: @escaping () -> Void) { self.onChange = onChange }
        override func observeValue(
            forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
            context: UnsafeMutableRawPointer?
        ) { onChange() }
    }

    /// What SwiftUI redraws without this library.
    // Safe: one thread at a time changes it.
    @Observable private final class Model: @unchecked Sendable { var number = -1 }

    private func withSuite(_ body: (_ name: String, UserDefaults, DefaultsSuite) throws -> Void) throws {
        let name = makeSuiteName()
        let userDefaults = try #require(UserDefaults(suiteName: name))
        defer {
            userDefaults.removePersistentDomain(forName: name)
            _ = userDefaults.synchronize()
        }
        try body(name, userDefaults, DefaultsSuite(userDefaults: userDefaults, suiteName: name))
    }

    /// Waits for a condition, but not longer than five seconds. Runs the main run loop if this is
    /// the main thread.
    ///
    /// - Returns: How long it took, in milliseconds, or “not within 5 s”.
    @discardableResult
    private func wait(until isSo: () -> Bool) -> String {
        let start = Date()
        while !isSo() {
            guard Date().timeIntervalSince(start) < 5 else { return "not within 5 s" }
            if Thread.isMainThread {
                RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.01))
            } else {
                Thread.sleep(forTimeInterval: 0.01)
            }
        }
        return "\(Int(Date().timeIntervalSince(start) * 1_000)) ms"
    }

    /// Tests on the real `UserDefaults`, SwiftUI and other processes. What the documentation of the
    /// library promises is expected; what is still unknown is only printed.
    @Suite(.serialized) struct OnAMacTests {
        @Test(arguments: ["number", "com/example/Config/number", "größe", "with space", "self", "camera.number"])
        func aChangeByAnotherProcessArrives(key: String) throws {
            try withSuite { name, userDefaults, suite in
                let number = DefaultKey(key, default: 0)
                let received = Guarded<[Int]>([])
                let isOnMain = Guarded<[Bool]>([])
                let token = suite.observe(number) { change in
                    isOnMain.withLock { $0.append(Thread.isMainThread) }
                    received.withLock { $0.append(change.newValue ?? -1) }
                }
                try defaults("write", name, key, "-int", "5")
                let time = wait { !received.withLock(\.isEmpty) }
                let read = suite[number]
                let before = received.withLock { $0 }
                suite[DefaultKey("another", default: 0)] = 1
                wait { !received.withLock(\.isEmpty) }
                token.cancel()
                answer(
                    "“\(key)” by another process",
                    "observed \(before) after \(time), on the main thread \(isOnMain.withLock { $0 }); read \(read); "
                        + "after a write of this process observed \(received.withLock { $0 })")
                // Whether key-value observing reports the other names is not known.
                if key == "number" || key.contains(".") { #expect(received.withLock { $0 } == [5]) }
            }
        }

        @MainActor @Test func aWriteOnTheMainThreadWhileAnotherThreadPostsToTheMainQueue() throws {
            try withSuite { _, userDefaults, suite in
                let posted = DispatchSemaphore(value: 0)
                let center = NotificationCenter.default
                let tokens = [nil, OperationQueue.main].map { queue in
                    center.addObserver(forName: UserDefaults.didChangeNotification, object: nil, queue: queue) { _ in
                        if queue == nil { posted.signal() }
                    }
                }
                let failures = Failures(of: suite)
                Thread.detachNewThread { suite[DefaultKey("background", default: 0)] = 1 }
                _ = posted.wait(timeout: .now() + 1)
                let start = Date()
                suite[DefaultKey("main", default: 0)] = 2
                let time = Int(Date().timeIntervalSince(start) * 1_000)
                answer("a write behind an observer on the main queue", "took \(time) ms")
                #expect(suite[DefaultKey("main", default: 0)] == 2)
                wait { userDefaults.integer(forKey: "main") == 2 && userDefaults.integer(forKey: "background") == 1 }
                #expect(userDefaults.integer(forKey: "main") == 2)
                #expect(userDefaults.integer(forKey: "background") == 1)
                #expect(failures.kinds.isEmpty)
                for token in tokens { center.removeObserver(token) }
            }
        }

        private struct Config: DefaultConfig {
            static let key = "config"
            var number = 0
        }
        private final class Log: Sendable {
            let drawn = Guarded<[Int]>([])
            /// The numbers that were drawn in a transaction with an animation.
            let animated = Guarded<[Int]>([])
            let children = Guarded(0)
        }
        private struct Grid: View {
            @ViewSetting(DefaultKey("grid", default: 0)) private var grid
            let model: Model
            let log: Log
            var body: some View {
                let number = grid
                log.drawn.withLock { $0 += [number, model.number] }
                return Text("\(number)").modifier(Frame(log: log)).transaction { [log] transaction in
                    if transaction.animation != nil { log.animated.withLock { $0.append(number) } }
                }
            }
        }
        private struct Frame: ViewModifier {
            @ViewSetting(DefaultKey("frame", default: 1_000)) private var frame
            let log: Log
            func body(content: Content) -> some View {
                log.drawn.withLock { $0.append(frame) }
                return content
            }
        }
        private struct Child: View {
            @ViewSetting private var config: Config
            let log: Log
            var body: some View {
                log.children.withLock { $0 += 1 }
                return Text("\(config.number)")
            }
        }
        private struct Parent: View {
            let model: Model
            let log: Log
            var body: some View {
                Text("\(model.number)")
                Grid(model: model, log: log)
                Child(log: log)
            }
        }

        @MainActor @Test func aViewUpdatesForEachSourceOfAChange() throws {
            try withSuite { name, userDefaults, suite in
                let log = Log()
                func waitUntilDrawn(_ number: Int) -> String { wait { log.drawn.withLock { $0.contains(number) } } }
                let model = Model()
                let grid = DefaultKey("grid", default: 0)
                let host = NSHostingView(rootView: Parent(model: model, log: log).environment(\.defaultsSuite, suite))
                host.frame = CGRect(x: 0, y: 0, width: 100, height: 100)
                let window = NSWindow(contentRect: host.frame, styleMask: [.titled], backing: .buffered, defer: false)
                window.contentView = host
                host.layoutSubtreeIfNeeded()
                _ = waitUntilDrawn(-1)
                model.number = -2
                let control = waitUntilDrawn(-2)
                Thread.detachNewThread { model.number = -3 }
                let backgroundControl = waitUntilDrawn(-3)
                suite[grid] = 1
                let own = waitUntilDrawn(1)
                // Safe: `UserDefaults` may be used on any thread.
                nonisolated(unsafe) let shared = userDefaults
                Thread.detachNewThread { shared.set(2, forKey: "grid") }
                let background = waitUntilDrawn(2)
                try defaults("write", name, "grid", "-int", "3")
                let other = waitUntilDrawn(3)
                withAnimation { suite[grid] = 4 }
                _ = waitUntilDrawn(4)
                suite.binding(grid).animation().wrappedValue = 5
                _ = waitUntilDrawn(5)
                withAnimation { userDefaults.set(6, forKey: "grid") }
                _ = waitUntilDrawn(6)
                suite[DefaultKey("frame", default: 1_000)] = 1_001
                let modifier = waitUntilDrawn(1_001)
                window.contentView = nil
                let all = log.drawn.withLock { $0 }
                answer(
                    "a view with @ViewSetting",
                    "drew \(all): a model \(control), on a background thread \(backgroundControl), own change \(own), "
                        + "background thread \(background), another process \(other), in a ViewModifier \(modifier)")
                answer(
                    "withAnimation 4, a binding with an animation 5, a raw write in withAnimation 6",
                    "animated \(log.animated.withLock { $0 })")
                answer("a child with @ViewSetting of a config", "drew \(log.children.withLock { $0 }) times")
                // Where a process cannot show windows, no view updates.
                if all.contains(-2) { #expect(Set(all).isSuperset(of: [0, 1, 2])) }
            }
        }

        // Run this one with `--sanitize=thread` as well.
        @Test func observationsBeginAndEndDuringWrites() async {
            await #expect(processExitsWith: .success) {
                try withSuite { _, userDefaults, suite in
                    nonisolated(unsafe) let shared = userDefaults
                    let isOver = Guarded(false)
                    let threads = (0..<3).map { index in
                        Thread {
                            var round = 0
                            while !isOver.withLock({ $0 }) {
                                round += 1
                                shared.set(index, forKey: "k\(round % 2_000)")
                            }
                        }
                    }
                    for thread in threads { thread.start() }
                    // Each new key is registered, and stays registered.
                    for round in 0..<2_000 { suite.observe(DefaultKey("k\(round)", default: 0)) { _ in }.cancel() }
                    isOver.withLock { $0 = true }
                    wait { threads.allSatisfy(\.isFinished) }
                }
            }
        }

        @Test func whatIsObservedAfterAReset() async {
            await #expect(processExitsWith: .success) {
                let suite = DefaultsSuite(userDefaults: .standard)
                let received = Guarded<[Int]>([])
                let token = suite.observe(DefaultKey("OnAMac", default: 0)) { change in
                    received.withLock { $0.append(change.newValue ?? -1) }
                }
                UserDefaults.resetStandardUserDefaults()
                UserDefaults.standard.set(1, forKey: "OnAMac")
                let own = wait { received.withLock { $0.contains(1) } }
                let domain = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
                try defaults("write", domain, "OnAMac", "-int", "2")
                let other = wait { received.withLock { $0.contains(2) } }
                token.cancel()
                UserDefaults.standard.removeObject(forKey: "OnAMac")
                answer("after resetStandardUserDefaults()", "raw write \(own), another process \(other)")
            }
        }

        @Test func aWriteThroughAnotherObjectIsObserved() throws {
            try withSuite { name, _, suite in
                let received = Guarded<[Int]>([])
                let number = DefaultKey("number", default: 0)
                let token = suite.observe(number) { change in received.withLock { $0.append(change.newValue ?? -1) } }
                try #require(UserDefaults(suiteName: name)).set(1, forKey: "number")
                let time = wait { !received.withLock(\.isEmpty) }
                answer("a write through another object of the suite", "observed after \(time); read \(suite[number])")
                token.cancel()
            }
        }

        @Test func valuesReadBackInAnotherProcess() async throws {
            let name = makeSuiteName()
            await #expect(processExitsWith: .success) { [name = name as String] in
                let suite = DefaultsSuite(userDefaults: try #require(UserDefaults(suiteName: name)), suiteName: name)
                for (key, value) in OnAMacTests.samples { suite[DefaultKey<PropertyList?>(key)] = value }
                try suite.synchronize()
            }
            let suite = DefaultsSuite(userDefaults: try #require(UserDefaults(suiteName: name)), suiteName: name)
            var others: [String] = []
            for (key, value) in Self.samples {
                let read = suite[DefaultKey<PropertyList?>(key)]
                if read != value { others.append("\(key): \(read.map { "\($0)" } ?? "nothing")") }
            }
            let keys = try suite.keys()
            try suite.removeAll()
            answer("\(Self.samples.count) values in another process", others.isEmpty ? "all equal" : "\(others)")
            #expect(others.isEmpty)
            #expect(Set(keys) == Set(Self.samples.map(\.key)))
        }
        private static let samples: [(key: String, value: PropertyList)] = [
            ("negative zero", .double(-0.0)), ("nan", .double(.nan)), ("infinity", .double(.infinity)),
            ("Int64.min", .integer(.min)), ("UInt64.max", .unsigned(.max)), ("true", .bool(true)),
            ("one", .integer(1)), ("one point zero", .double(1)), ("NUL", .string("a\0b")),
            ("emoji", .string("👩‍👩‍👧‍👦é")), ("far", .date(Date(timeIntervalSinceReferenceDate: 28_401_321_600))),
            ("fraction", .date(Date(timeIntervalSinceReferenceDate: 0.1 + 1e-10))),
            ("data", .data(Data(0...255))), ("nested", .dictionary(["a.b": .array([.bool(false), .integer(0)])])),
            ("größe", .integer(3)), ("@at", .integer(4)), ("a.b", .integer(5)),
        ]

        @Test func registeredValuesBelongToTheProcess() async {
            await #expect(processExitsWith: .success) {
                try withSuite { _, _, suite in
                    UserDefaults.standard.register(defaults: ["OnAMac registered": 7])
                    let setting = UserDefault(DefaultKey("OnAMac registered", default: 0), in: suite)
                    answer("registered in standard, read in a suite", "\(setting.value)")
                    #expect(!setting.isSet)
                }
            }
        }

        // Questions only.

        @MainActor @Test func howAResolvedColorIsStored() throws {
            try withSuite { _, userDefaults, suite in
                let key = DefaultKey("tint", default: Color.Resolved(red: 0, green: 0, blue: 0))
                let tint = Color.orange.resolve(in: EnvironmentValues())
                suite[key] = tint
                let stored = userDefaults.object(forKey: "tint").map { "\($0)" } ?? "nothing"
                answer("Color.Resolved", "stored as \(stored); reads back equal: \(suite[key] == tint)")
            }
        }

        @Test func whenKeyValueObservingIsCalled() throws {
            try withSuite { name, userDefaults, _ in
                let calls = Guarded(0)
                let readDepth = Guarded(0)
                let callsInReads = Guarded(0)
                let observer = Observer {
                    calls.withLock { $0 += 1 }
                    if readDepth.withLock({ $0 }) > 0 { callsInReads.withLock { $0 += 1 } }
                }
                func newCalls(_ body: () throws -> Void) rethrows -> Int {
                    let before = calls.withLock { $0 }
                    try body()
                    return calls.withLock { $0 } - before
                }
                userDefaults.addObserver(observer, forKeyPath: "k", options: [], context: nil)
                let own = newCalls { userDefaults.set(1, forKey: "k") }
                let equal = newCalls { userDefaults.set(1, forKey: "k") }
                let boolean = newCalls { userDefaults.set(true, forKey: "k") }
                let isBoolean =
                    userDefaults.object(forKey: "k").map {
                        CFGetTypeID($0 as CFTypeRef) == CFBooleanGetTypeID()
                    } ?? false
                let other = try newCalls {
                    try defaults("write", name, "k", "-int", "9")
                    let before = calls.withLock { $0 }
                    wait {
                        readDepth.withLock { $0 += 1 }
                        _ = userDefaults.object(forKey: "k")
                        readDepth.withLock { $0 -= 1 }
                        return calls.withLock { $0 } > before
                    }
                }
                userDefaults.removeObserver(observer, forKeyPath: "k", context: nil)
                answer(
                    "calls of key-value observing",
                    "set \(own), equal set \(equal), true over 1 \(boolean) (stored as a Boolean: \(isBoolean)), "
                        + "another process \(other), of which during a read \(callsInReads.withLock { $0 })")
            }
        }

        @Test func aValueAfterAKill() async throws {
            let name = makeSuiteName()
            var lost = 0
            for round in 1...20 {
                await #expect(processExitsWith: .signal(SIGKILL)) { [name = name as String, round = round as Int] in
                    let userDefaults = try #require(UserDefaults(suiteName: name))
                    DefaultsSuite(userDefaults: userDefaults, suiteName: name)[DefaultKey("count", default: 0)] = round
                    kill(getpid(), SIGKILL)
                }
                if UserDefaults(suiteName: name)?.integer(forKey: "count") != round { lost += 1 }
            }
            UserDefaults(suiteName: name)?.removePersistentDomain(forName: name)
            answer("a kill directly after a write", "lost \(lost) of 20")
        }

        @Test func updatesOfTwoProcesses() async throws {
            let name = makeSuiteName()
            let suite = DefaultsSuite(userDefaults: try #require(UserDefaults(suiteName: name)), suiteName: name)
            let count = DefaultKey("count", default: 0)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        await #expect(processExitsWith: .success) { [name = name as String] in
                            let userDefaults = try #require(UserDefaults(suiteName: name))
                            let suite = DefaultsSuite(userDefaults: userDefaults, suiteName: name)
                            for _ in 0..<1_000 { try suite.update(DefaultKey("count", default: 0)) { $0 += 1 } }
                            try suite.synchronize()
                        }
                    }
                }
            }
            answer("2,000 updates by two processes", "counted \(suite[count])")
            try suite.removeAll()
        }

        /// The system may ask the person at the Mac for access.
        @Test(.enabled(if: ProcessInfo.processInfo.environment["ON_A_MAC_GROUP"] != nil))
        func theDomainOfAGroup() throws {
            let name = "group.TypedDefaults.OnAMac"
            let userDefaults = try #require(UserDefaults(suiteName: name))
            userDefaults.set(1, forKey: "a")
            let domain = userDefaults.persistentDomain(forName: name).map { "\($0)" } ?? "nil"
            let container = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: name)
            answer("a group without its entitlement", "domain \(domain), container \(container?.path ?? "nil")")
            userDefaults.removePersistentDomain(forName: name)
        }

        @Test func theKeysOfAProcessWithoutABundle() async {
            await #expect(processExitsWith: .success) {
                let suite = DefaultsSuite(userDefaults: .standard)
                let setting = UserDefault(DefaultKey("OnAMac standard", default: 0), in: suite)
                setting.value = 1
                let isListed = try suite.keys().contains("OnAMac standard")
                setting.reset()
                answer(
                    "the standard suite of \(Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName)",
                    "lists its key \(isListed), still set after a reset \(setting.isSet)")
            }
        }

        @Test func aSuiteThatWasAdded() throws {
            try withSuite { name, userDefaults, suite in
                let other = makeSuiteName()
                let others = try #require(UserDefaults(suiteName: other))
                others.set(7, forKey: "n")
                userDefaults.addSuite(named: other)
                let setting = UserDefault(DefaultKey("n", default: 0), in: suite)
                answer("a value of addSuite(named:)", "read \(setting.value), isSet \(setting.isSet)")
                others.removePersistentDomain(forName: other)
            }
        }
    }
#endif
