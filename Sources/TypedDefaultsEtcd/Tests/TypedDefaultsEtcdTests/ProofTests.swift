import Dispatch
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing
import TypedDefaults

@testable import TypedDefaultsEtcd

/// What proves that the values are current: not that other calls are answered.
@Suite(.serialized, Member.isRunning) struct ProofTests {
    enum Change: CaseIterable { case put, remove, replace }
    let prefix = Member.prefix()

    func open(
        _ proxy: WatchProxy, onFailure: @escaping @Sendable (DefaultsError) -> Void = { _ in },
        _ change: (inout EtcdConfiguration) -> Void = { _ in }
    ) throws -> (backend: EtcdBackend, suite: DefaultsSuite) {
        var configuration = Member.configuration(prefix)
        configuration.endpoints = [proxy.endpoint]
        configuration.heartbeat = .milliseconds(300)
        change(&configuration)
        let backend = try EtcdBackend(configuration)
        let suite = DefaultsSuite(backend: backend)
        suite.onFailure = onFailure
        return (backend, suite)
    }

    /// After a change by another machine, the values are right within three heartbeats, or a
    /// failure is reported.
    @Test(arguments: WatchProxy.Fault.allCases, Change.allCases)
    func aWatchThatDeliversNothingIsNoticed(_ fault: WatchProxy.Fault, _ change: Change) throws {
        let proxy = try WatchProxy(fault, before: try #require(Member.endpoint))
        defer { proxy.close() }
        for key in ["a", "b"] { try Member.put(prefix + "v/\(key)", "1") }
        let failures = NIOLockedValueBox<[DefaultsError]>([])
        let (backend, suite) = try open(proxy) { error in failures.withLockedValue { $0.append(error) } }
        defer { backend.close() }
        func beats() -> Int { backend.state.withLockedValue { $0.statistics.beats } }
        let hasWatch = fault == .buffers || fault == .loses
        // The first beat may find changes of the preparation.
        if hasWatch { try eventually { beats() >= 2 } }
        #expect(try suite.contents() == ["a": 1, "b": 1])
        let before = beats()
        switch change {
        case .put: try Member.put(prefix + "v/a", "2")
        case .remove: try Member.delete(prefix + "v/a")
        case .replace:
            try Member.delete(prefix + "v/a")
            try Member.put(prefix + "v/c", "3")
        }
        let expected: SuiteContents =
            switch change {
            case .put: ["a": 2, "b": 1]
            case .remove: ["b": 1]
            case .replace: ["b": 1, "c": 3]
            }
        try eventually { try suite.contents() == expected || failures.withLockedValue { !$0.isEmpty } }
        #expect(beats() - before <= 3)
        // In the end it is right with each of them, and reported once.
        try eventually { try suite.contents() == expected }
        try eventually { failures.withLockedValue { !$0.isEmpty } }
        let reasons = failures.withLockedValue { $0.map(\.reason) }
        #expect(reasons.count == 1 && reasons[0].hasPrefix("changes by other machines do not arrive: "), "\(reasons)")
    }

    /// Behind a proxy that holds changes back, they arrive again and again.
    @Test func eachChangeBehindABufferArrives() throws {
        let proxy = try WatchProxy(.buffers, before: try #require(Member.endpoint))
        defer { proxy.close() }
        let (backend, suite) = try open(proxy)
        defer { backend.close() }
        for number in 1...3 {
            try Member.put(prefix + "v/a", "\(number)")
            try eventually { try suite.contents()["a"] == .integer(.init(number)) }
        }
    }

    /// The suite changes all the time, so each heartbeat asks before the watch has delivered the
    /// last change.
    @Test func aLateWatchProvesWhatItHasDelivered() throws {
        let transport = FaultyTransport()
        var configuration = Member.configuration(prefix)
        configuration.heartbeat = .seconds(3_600)
        let backend = try EtcdBackend(configuration, transport)
        defer { backend.close() }
        try eventually { backend.state.withLockedValue { $0.watch.stream != nil } }
        var asked: [ContinuousClock.Instant] = []
        for number in 1...3 {
            transport.holdLines()
            try Member.put(prefix + "v/a", "\(number)")
            asked.append(.now)
            guard case .behind = try backend.prove(at: 0, askedAt: asked.last!).wait() else {
                Issue.record("the watch is not late")
                return
            }
            try transport.releaseLines()
            try eventually { try backend.value(forKey: "a") == .integer(.init(number)) }
        }
        // The second change has a later revision than the first answer, whatever other suites do.
        #expect(asked.prefix(2).contains(backend.state.withLockedValue { $0.lastProof }))
    }

    /// The values are read at the end of a pause.
    @Test func pausesAreShorterThanTheMaximumStaleness() {
        var configuration = EtcdConfiguration(endpoints: [], prefix: "")
        for (limit, shortest, longest) in [(0.0, 1.0, 1.0), (10, 7, 9), (30, 21, 27), (3_600, 24, 30)] {
            configuration.maximumStaleness = .seconds(limit)
            for _ in 0..<100 {
                let pause = configuration.pause(failed: 9) / .seconds(1)
                #expect(pause >= shortest && pause <= longest)
            }
        }
    }

    /// Nothing is asked in the meantime.
    @Test func silenceIsReportedInTime() throws {
        let isReported = NIOLockedValueBox(false)
        var configuration = Member.configuration(prefix)
        (configuration.heartbeat, configuration.maximumStaleness) = (.seconds(3_600), .milliseconds(500))
        let backend = try EtcdBackend(configuration)
        // A proof that is newer than the first look at it.
        backend.change { $0.lastProof = .now + .seconds(1) }
        let suite = DefaultsSuite(backend: backend)
        suite.onFailure = { error in
            if error.reason.contains("may be outdated") { isReported.withLockedValue { $0 = true } }
        }
        try eventually { isReported.withLockedValue { $0 } }
        backend.close()
    }

    /// A refusal may take longer than a heartbeat.
    @Test(arguments: [(WatchProxy.Fault.cuts, 0), (.refuses, 0), (.refuses, 200)] as [(WatchProxy.Fault, Int64)])
    func failuresPause(_ fault: WatchProxy.Fault, _ delay: Int64) throws {
        let proxy = try WatchProxy(fault, after: .milliseconds(delay), before: try #require(Member.endpoint))
        defer { proxy.close() }
        let (backend, _) = try open(proxy) { _ in
        } _: { configuration in
            configuration.heartbeat = delay > 0 ? .milliseconds(20) : .seconds(60)
        }
        defer { backend.close() }
        try eventually { proxy.watches.count == 4 }
        // One read at the start. Before each watch one, and two others if the cluster has changed.
        if delay == 0 { #expect(proxy.calls(beforeWatch: 4) <= 16) }
        // A pause begins after the answer.
        for (time, (next, shortest)) in zip(proxy.watches, zip(proxy.watches.dropFirst(), [0.08, 0.4, 2])) {
            #expect(time.duration(to: next) >= .seconds(shortest))
        }
    }

    @Test func pausesGrowToHalfAMinute() {
        let limits: [Double] = [0, 0.1, 0.5, 2.5, 12.5, 30, 30]
        for (failed, limit) in limits.enumerated() {
            for _ in 0..<100 {
                let pause = EtcdBackend.delay(failed: failed) / .seconds(1)
                #expect(pause >= 0.8 * limit && pause <= limit)
            }
        }
        #expect(EtcdBackend.delay(failed: .max) >= .seconds(24))
        #expect(EtcdBackend.delay(silent: .max) <= .seconds(1))
    }

    /// Other suites of the cluster change its revision, and nothing is missing here.
    @Test func changesOfOtherSuitesProveNothingWrong() throws {
        var configuration = Member.configuration(prefix)
        configuration.heartbeat = .milliseconds(20)
        try Member.put(prefix + "v/a", "1")
        let backend = try EtcdBackend(configuration)
        defer { backend.close() }
        for number in 0..<20 {
            let beats = backend.state.withLockedValue { $0.statistics.beats }
            try Member.put("other-" + prefix + "v/a", "\(number)")
            try eventually { backend.state.withLockedValue { $0.statistics.beats > beats } }
        }
        #expect(backend.state.withLockedValue { $0.statistics.silentWatches } == 0)
        #expect(backend.state.withLockedValue { $0.statistics.watches } == 1)
        #expect(backend.state.withLockedValue { $0.provenRevision > $0.mirror.revision })
    }

    @Test func anyDurationIsAHeartbeat() throws {
        for heartbeat in [Duration.zero, .seconds(-5), .seconds(9_300_000_000), .seconds(Int64.max)] {
            var configuration = Member.configuration(prefix)
            (configuration.heartbeat, configuration.maximumStaleness) = (heartbeat, heartbeat)
            let backend = try EtcdBackend(configuration)
            try UserDefault(DefaultKey("a", default: 0), in: DefaultsSuite(backend: backend)).update { $0 += 1 }
            backend.close()
        }
    }
}

/// Code on an event loop, such as a handler of a server.
@Suite(Member.isRunning) struct EventLoopTests {
    let prefix = Member.prefix()
    let key = DefaultKey("count", default: 0)

    func onAnEventLoop<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
        try MultiThreadedEventLoopGroup.singleton.next().submit(body).wait()
    }

    @Test func aWriteThrows() async throws {
        let suite = DefaultsSuite(backend: try Member.backend(prefix))
        let failures = NIOLockedValueBox<[DefaultsError]>([])
        suite.onFailure = { error in failures.withLockedValue { $0.append(error) } }
        for write in [
            { try suite.update(key) { $0 += 1 } }, { try suite.update { $0[key] = 1 } },
            { try UserDefault(key, in: suite).store.save(1) }, { _ = try EtcdBackend(Member.configuration()) },
        ] as [@Sendable () throws -> Void] {
            let error = #expect(throws: DefaultsError.self) { try onAnEventLoop(write) }
            #expect(error?.kind == .refused)
            #expect(error?.reason.contains("awaiting") == true)
        }
        try onAnEventLoop { suite[key] = 1 }
        try eventually { failures.withLockedValue { $0.map(\.kind) } == [.refused] }
        #expect(try suite.keys().isEmpty)
        try await suite.awaiting.update { $0[key] = 1 }
        #expect(try onAnEventLoop { try suite.read(key) } == 1)
    }

    /// A handler of an observer may write, and would block the event loop.
    @Test func aReadRunsNoHandler() throws {
        let suite = DefaultsSuite(backend: try Member.backend(prefix))
        let (failures, places) = (NIOLockedValueBox<[DefaultsError]>([]), NIOLockedValueBox<[Bool]>([]))
        suite.onFailure = { error in failures.withLockedValue { $0.append(error) } }
        let copy = DefaultKey("copy", default: 0)
        let token = suite.observe(key) { change in
            places.withLockedValue { $0.append(MultiThreadedEventLoopGroup.currentEventLoop != nil) }
            try? suite.update(copy) { $0 = change.newValue ?? 0 }
        }
        let isEnded = NIOLockedValueBox(false)
        @Sendable func readAgain() {
            for _ in 0..<50 { _ = suite[key] }
            guard !isEnded.withLockedValue({ $0 }) else { return }
            MultiThreadedEventLoopGroup.currentEventLoop?.scheduleTask(in: .microseconds(100)) { readAgain() }
        }
        for loop in MultiThreadedEventLoopGroup.singleton.makeIterator() { loop.execute { readAgain() } }
        let other = DefaultsSuite(backend: try Member.backend(prefix))
        for number in 1...100 { try other.update(key) { $0 = number } }
        try eventually { suite[copy] == 100 }
        isEnded.withLockedValue { $0 = true }
        token.cancel()
        #expect(places.withLockedValue { !$0.isEmpty && !$0.contains(true) })
        #expect(failures.withLockedValue { $0 }.isEmpty)
    }

    /// The backend needs none of the program's event loops.
    @Test func aProgramThatKeepsItsLoopsBusyConnects() throws {
        let (mayEnd, count) = (DispatchSemaphore(value: 0), NIOLockedValueBox(0))
        for loop in MultiThreadedEventLoopGroup.singleton.makeIterator() {
            count.withLockedValue { $0 += 1 }
            loop.execute { mayEnd.wait() }
        }
        defer { for _ in 0..<count.withLockedValue({ $0 }) { mayEnd.signal() } }
        let suite = DefaultsSuite(backend: try Member.backend(prefix))
        try suite.update(key) { $0 = 1 }
        #expect(suite[key] == 1)
    }
}
