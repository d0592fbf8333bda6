import Dispatch
import Foundation
import SettingsFile
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

nonisolated extension DefaultKey<Int> {
    fileprivate static let progress = DefaultKey("progress", default: 0)
    fileprivate static let volume = DefaultKey("volume", default: 0)
}
nonisolated extension DefaultKey<String> {
    fileprivate static let theme = DefaultKey("theme", default: "light")
}

/// Tests which thread runs a handler, and in which order.
struct DeliveryTests {
    /// Handlers that record their thread, the first of which waits.
    private final class Calls: Sendable {
        private let threads = Guarded<[(name: String, thread: UInt)]>([])
        private let hasWaited = Guarded(false)
        private let isOpen = DispatchSemaphore(value: 0)
        let hasBegun = DispatchSemaphore(value: 0)
        static var thread: UInt { CurrentThread.id }
        func add(_ name: String) { threads.withLock { $0.append((name, Self.thread)) } }
        func addAndWait(_ name: String) {
            add(name)
            guard hasWaited.withLock({ exchange(&$0, with: true) }) == false else { return }
            hasBegun.signal()
            isOpen.wait()
        }
        func open() { isOpen.signal() }
        var names: [String] { threads.withLock { $0.map(\.name) } }
        func names(on thread: UInt) -> [String] { threads.withLock { $0.filter { $0.thread == thread }.map(\.name) } }
    }

    @Test(arguments: Backend.allCases) func aWriterRunsItsOwnHandlersOnly(backend: Backend) throws {
        try backend.withSuite { suite in
            let calls = Calls()
            let tokens = [
                suite.observe(.progress) { _ in calls.addAndWait("progress") },
                suite.observe(.volume) { _ in calls.add("volume") },
            ]
            suite[.volume] = 1
            #expect(calls.names(on: Calls.thread) == ["volume"], "no other writer")
            // The stand-in for `UserDefaults` is slow.
            let count = [.memory, .file].contains(backend) ? 10_000 : 1_000
            let first = Calls()
            let token = suite.observe(.theme) { _ in first.addAndWait("theme") }
            let ended = onThread { suite[.theme] = "dark" }
            first.hasBegun.wait()
            // Another thread delivers now.
            for value in 1...count { suite[.progress] = value }
            onThreads(1) { _ in
                suite[.volume] = 2
                _ = suite[.progress]
                #expect(calls.names(on: Calls.thread) == [])
            }
            #expect(calls.names == ["volume"])
            first.open()
            calls.hasBegun.wait()
            // The library's thread delivers now.
            suite[.volume] = 3
            #expect(calls.names(on: Calls.thread) == ["volume"])
            calls.open()
            #expect(suite.waitForHandlers(timeout: .seconds(60)))
            ended.wait()
            #expect(calls.names == ["volume"] + Array(repeating: "progress", count: count) + ["volume", "volume"])
            #expect(calls.names(on: Calls.thread) == ["volume"])
            for token in tokens + [token] { token.cancel() }
        }
    }

    @Test func aReaderRunsNoHandler() throws {
        let backend = SharedBackend(["volume": 1])
        let suite = DefaultsSuite(backend: backend)
        let calls = Calls()
        let token = suite.observe(.volume) { _ in calls.add("volume") }
        try backend.updateFromOutside { $0[.volume] = 2 }
        #expect(suite[.volume] == 2)
        suite.waitForHandlers()
        #expect(calls.names == ["volume"])
        #expect(calls.names(on: Calls.thread) == [])
        token.cancel()
    }

    @Test func aHandlerThatWritesRunsTheHandlersOfItsWrite() {
        let suite = DefaultsSuite.inMemory()
        let calls = Calls()
        let tokens = [
            suite.observe(.volume) { _ in
                suite[.progress] += 1
                calls.add("volume")
            },
            suite.observe(.progress) { _ in calls.add("progress") },
        ]
        suite[.volume] = 1
        #expect(calls.names(on: Calls.thread) == ["volume", "progress"])
        for token in tokens { token.cancel() }
    }

    /// It has run when `observe` returns, before every change, and never beside another call.
    @Test func anInitialCallComesFirst() {
        let suite = DefaultsSuite.inMemory()
        suite[.volume] = 0
        // The first observer of a key may miss what is committed while it is added.
        let other = suite.observe(.volume) { _ in }
        let writes = Guarded(true)
        let ended = DispatchSemaphore(value: 0)
        for _ in 0..<2 {
            Thread.detachNewThread {
                while writes.withLock({ $0 }) { try? suite.update(.volume) { $0 += 1 } }
                ended.signal()
            }
        }
        for _ in 0..<200 {
            let (heard, isInside) = (Guarded<[DefaultChange<Int>]>([]), Guarded(false))
            let token = suite.observe(.volume, initial: true) { change in
                let isAlone = isInside.withLock { exchange(&$0, with: true) == false }
                if !isAlone { Issue.record("two calls at once") }
                heard.withLock { $0.append(change) }
                usleep(50)
                isInside.withLock { $0 = false }
            }
            let first = heard.withLock { $0.first }
            #expect(first?.kind == .initial)
            suite.waitForHandlers(timeout: .milliseconds(2))
            token.cancel()
            let changes = heard.withLock { $0 }
            let values = changes.compactMap(\.newValue)
            #expect(values == Array(values[0]..<(values[0] + values.count)))
            #expect(changes.filter { $0.kind == .initial }.count == 1)
        }
        writes.withLock { $0 = false }
        for _ in 0..<2 { ended.wait() }
        other.cancel()
    }

    /// Another thread writes during the call, and has returned when it ends.
    @Test(arguments: [false, true]) func aChangeDuringAnInitialCallIsNotLost(isInUpdate: Bool) throws {
        let (suite, outer) = (DefaultsSuite.inMemory(), DefaultsSuite.inMemory())
        let heard = Guarded<[Int?]>([])
        @Sendable func write() {
            onThreads(1) { _ in suite[.volume] = 1 }
        }
        func observe() -> ObservationToken {
            suite.observe(.volume, initial: true) { change in
                if change.kind == .initial, !isInUpdate { write() }
                heard.withLock { $0.append(change.newValue) }
            }
        }
        var token: ObservationToken?
        if isInUpdate {
            try outer.update { _ in
                token = observe()
                write()
            }
        } else {
            token = observe()
        }
        #expect(suite.waitForHandlers())
        #expect(heard.withLock { $0 } == [0, 1])
        token?.cancel()
    }

    // MARK: Several keys

    // The torture program runs this in release.
    @Test func listsOfKeysHaveTheValuesOfEachKey() async throws {
        #expect(try await wrongCallsWithSeveralKeys() == [])
    }

    @Test @MainActor func aKeyIsObservedOnTheMainActor() async {
        let suite = DefaultsSuite.inMemory()
        let values = Heard { note in suite.observeOnMainActor(.volume, initial: true) { note($0.newValue) } }
        suite[.volume] = 1
        while values.all.count < 2 { await Task.yield() }
        #expect(values.all == [0, 1])
    }

    // MARK: Reports

    @Test func anOutageIsReportedOnce() throws {
        let backend = UnavailableBackend(base: SharedBackend(["volume": 3]))
        let suite = DefaultsSuite(backend: backend)
        let failures = Failures(of: suite)
        for _ in 0..<2 {
            backend.isAvailable = false
            for _ in 0..<100 { #expect(suite[.volume] == 0 && suite[.theme] == "light" && !suite.contains(.volume)) }
            backend.isAvailable = true
            #expect(suite[.volume] == 3)
        }
        #expect(failures.kinds == [.unavailable, .unavailable])
        // Each write that is lost is reported.
        backend.isAvailable = false
        for value in 1...3 { suite[.volume] = value }
        #expect(failures.kinds.count == 5)
    }
}
