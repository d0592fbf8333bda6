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
            let count = [.memory, .file].contains(backend) ? 100_000 : 1_000
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

    /// What a writer finds inside its own write belongs to others.
    @Test func aWriterRunsNoHandlerOfAnExternalChange() throws {
        let backend = SharedBackend(["volume": 1])
        let suite = DefaultsSuite(backend: backend)
        let (calls, heard) = (Calls(), Guarded<[Int]>([]))
        let tokens = [
            suite.observe(.volume) { change in heard.withLock { $0.append(change.newValue ?? -1) } },
            suite.observe(.volume) { _ in calls.add("volume") },
        ]
        try backend.updateFromOutside { $0[.volume] = 2 }
        suite[.volume] = 3
        suite.waitForHandlers()
        #expect(heard.withLock { $0 } == [2, 3])
        #expect(!calls.names(on: Calls.thread).contains("volume") || calls.names.count == 2)
        for token in tokens { token.cancel() }
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

    @Test func anInitialCallDoesNotWaitForOtherHandlers() {
        let suite = DefaultsSuite.inMemory()
        let calls = Calls()
        let first = suite.observe(.progress) { _ in calls.addAndWait("progress") }
        Thread.detachNewThread { suite[.progress] = 1 }
        calls.hasBegun.wait()
        let heard = Guarded<[Int]>([])
        let token = suite.observe(.volume, initial: true) { change in
            heard.withLock { $0.append(change.newValue ?? -1) }
            if change.kind == .initial { suite[.volume] = 7 }
        }
        #expect(heard.withLock { $0 } == [0])
        calls.open()
        suite.waitForHandlers()
        #expect(heard.withLock { $0 } == [0, 7])
        for token in [first, token] { token.cancel() }
    }

    @Test func aCancelledLoopGetsNoElementThatWaits() async {
        let suite = DefaultsSuite.inMemory()
        let (begun, count) = (DispatchSemaphore(value: 0), Guarded(0))
        let loop = Task {
            for await _ in suite.values(.volume) {
                count.withLock { $0 += 1 }
                begun.signal()
                // Cancelled while the next element waits.
                while !Task.isCancelled { await Task.yield() }
            }
        }
        await Task.detached { Self.wait(for: begun) }.value
        suite[.volume] = 1
        suite.waitForHandlers()
        loop.cancel()
        await loop.value
        #expect(count.withLock { $0 } == 1)
    }
    private static func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }

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

    /// The handlers of a thread inside an update of another suite do not hold up those of others.
    @Test func aThreadInAnotherUpdateHoldsNobodyUp() throws {
        let (suite, outer) = (DefaultsSuite.inMemory(), DefaultsSuite.inMemory())
        let heard = Heard { note in suite.observe(.volume) { note($0.newValue) } }
        try outer.update { _ in
            suite[.volume] = 1
            let (hasWritten, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            Thread.detachNewThread {
                try? DefaultsSuite.inMemory().update { _ in
                    suite[.volume] = 2
                    hasWritten.signal()
                    mayEnd.wait()
                }
            }
            hasWritten.wait()
            suite[.volume] = 3
            mayEnd.signal()
            heard.wait { $0.count == 3 }
        }
        #expect(heard.all == [1, 2, 3])
    }

    /// The second one must not return before the first one has ended the observation.
    @Test func noCallBeginsAfterTwoThreadsHaveCancelled() {
        let suite = DefaultsSuite.inMemory()
        let isWriting = Guarded(true)
        let ended = onThread {
            var number = 0
            while isWriting.withLock({ $0 }) {
                number += 1
                suite[.volume] = number
            }
        }
        for _ in 0..<300 {
            let (calls, counts) = (Guarded(0), Guarded<[Int]>([]))
            let token = suite.observe(.volume) { _ in calls.withLock { $0 += 1 } }
            onThreads(2) { _ in
                token.cancel()
                let count = calls.withLock { $0 }
                counts.withLock { $0.append(count) }
            }
            usleep(200)
            // One call may have begun.
            #expect(calls.withLock { $0 } <= (counts.withLock { $0.min() } ?? 0) + 1)
        }
        isWriting.withLock { $0 = false }
        ended.wait()
    }

    // MARK: Several keys

    @Test(arguments: Backend.allCases) func severalKeysAreOneChangeOfACommit(backend: Backend) throws {
        try backend.withSuite { suite in
            let heard = Guarded<[String]>([])
            let token = suite.observe(.volume, .theme, .progress, initial: true) { volume, theme, progress in
                heard.withLock { $0.append("\(volume) \(theme) \(progress)") }
            }
            suite[.volume] = 1
            suite[DefaultKey("other", default: 0)] = 1
            try suite.update { contents in
                contents[.volume] = 2
                contents[.theme] = "dark"
            }
            suite.remove(.theme)
            #expect(heard.withLock { $0 } == ["0 light 0", "1 light 0", "2 dark 0", "2 light 0"])
            token.cancel()
            suite[.volume] = 9
            #expect(heard.withLock { $0.count } == 4)
        }
    }

    @Test func valuesOfALayerAndUnreadableOnesAreObserved() throws {
        let suite = DefaultsSuite.inMemory(["theme": 5])
        suite.onFailure = { _ in }
        suite.layers = [.values(["progress": 7]), .stored]
        let heard = Guarded<[String]>([])
        let token = suite.observe(.volume, .theme, .progress, initial: true) { volume, theme, progress in
            heard.withLock { $0.append("\(volume) \(theme) \(progress)") }
        }
        try suite.update { contents in
            contents[.volume] = 1
            contents[.progress] = 1
        }
        suite.layers = [.values(["progress": 8, "volume": 9]), .stored]
        #expect(heard.withLock { $0 } == ["0 light 7", "1 light 7", "9 light 8"])
        token.cancel()
    }

    // The torture program runs this in release.
    @Test func listsOfKeysHaveTheValuesOfEachKey() async throws {
        #expect(try await wrongCallsWithSeveralKeys() == [])
    }

    /// Both keys are always written together.
    @Test func valuesOfSeveralKeysAreFromOneMoment() async {
        let suite = DefaultsSuite.inMemory()
        let writer = Task.detached {
            for value in 1...2_000 {
                try? suite.update { contents in
                    contents[.volume] = value
                    contents[.progress] = value
                }
            }
        }
        for await (volume, progress) in suite.values(.volume, .progress) {
            #expect(volume == progress)
            if volume == 2_000 { break }
        }
        await writer.value
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
