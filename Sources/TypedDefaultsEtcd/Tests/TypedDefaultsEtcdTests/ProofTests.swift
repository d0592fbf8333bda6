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
        _ proxy: WatchProxy, heartbeat: Duration = .milliseconds(300),
        onFailure: @escaping @Sendable (DefaultsError) -> Void = { _ in }
    ) throws -> (backend: EtcdBackend, suite: DefaultsSuite) {
        var configuration = Member.configuration(prefix)
        configuration.endpoints = [proxy.endpoint]
        configuration.heartbeat = heartbeat
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

    @Test(arguments: [WatchProxy.Fault.cuts, .refuses]) func failuresPause(_ fault: WatchProxy.Fault) throws {
        let proxy = try WatchProxy(fault, before: try #require(Member.endpoint))
        defer { proxy.close() }
        let backend = try open(proxy, heartbeat: .seconds(60)).backend
        defer { backend.close() }
        try eventually { proxy.watches.count == 4 }
        // One read at the start. Before each watch one, and two others if the cluster has changed.
        #expect(proxy.calls(beforeWatch: 4) <= 16)
        // A pause begins after the answer.
        for (time, (next, shortest)) in zip(proxy.watches, zip(proxy.watches.dropFirst(), [0.08, 0.4, 2])) {
            #expect(time.duration(to: next) >= .seconds(shortest))
        }
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
