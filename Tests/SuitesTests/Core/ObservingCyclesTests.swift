import Dispatch
import Foundation
import TestSupport
import Testing
import TypedDefaults

/// Tests thousands of observations that begin and end on many threads.
struct ObservingCyclesTests {
    private let number = DefaultKey("number", default: 0)
    private let other = DefaultKey("other", default: 0)

    /// An object that lives as long as the handler that retains it.
    private final class Held: Sendable {
        private static let count = Guarded(0)
        static var isAnyLeft: Bool { count.withLock { $0 > 0 } }
        init() { Self.count.withLock { $0 += 1 } }
        deinit { Self.count.withLock { $0 -= 1 } }
        func use() {}
    }

    @Test func tenThousandCyclesLeakNothing() {
        let backend = SpyBackend(["number": 1])
        let suite = DefaultsSuite(backend: backend)
        let received = Guarded(0)
        for round in 1...10_000 {
            let held = Held()
            let store = UserDefault(number, in: suite).store
            let token =
                switch round % 4 {
                case 0: store.observe { _ in held.use() }
                case 1: store.observe(initial: true) { _ in held.use() }
                case 2: AnyStore(store).observe { _ in received.withLock { $0 += 1 } }
                default: suite.observeAll(prefix: "") { _ in held.use() }
                }
            if round % 100 == 2 { store.set(round) }
            if round % 2 == 0 { token.cancel() }
        }
        #expect(received.withLock { $0 } == 100)
        #expect(!Held.isAnyLeft)
        #expect(!backend.isWatched)
    }

    /// Law 5 on eight threads at once: each handler calls any part of the API at random moments.
    @Test func handlersOnEightThreadsMayUseTheWholeAPI() {
        let suite = DefaultsSuite.inMemory()
        let failures = Failures(of: suite)
        let (number, other) = (number, other)
        let calls = Guarded(0)
        onThreads(8) { index in
            for round in 0..<200 {
                let token = Guarded<ObservationToken?>(nil)
                let called = DispatchSemaphore(value: 0)
                // The store is released at the end of the round; the token inside the handler or
                // together with it.
                let store = AnyStore(UserDefault(number, in: suite).store)
                let made = store.observe { change in
                    calls.withLock { $0 += 1 }
                    defer { called.signal() }
                    switch (index + round) % 5 {
                    case 0: token.withLock { $0 }?.cancel()
                    case 1: token.withLock { $0.take() }?.cancel()
                    case 2: _ = (store.get(), suite[other])
                    case 3: if change.newValue.map({ $0 % 16 == 0 }) == true { suite[other] += 1 }
                    default: store.observe(initial: true) { _ in }.cancel()
                    }
                }
                token.withLock { $0 = made }
                store.set(index * 1_000 + round)
                if called.wait(timeout: .now() + 30) == .timedOut { Issue.record("no observer was called") }
                token.withLock { $0 }?.cancel()
            }
        }
        #expect(calls.withLock { $0 } >= 1_600)
        #expect(failures.all == [])
    }
}
