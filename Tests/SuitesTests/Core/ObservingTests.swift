import Dispatch
import Foundation
import Observation
import TestSupport
import Testing
import TypedDefaultsTesting

@testable import TypedDefaults

/// The laws of observation, on every backend.
struct ObservingTests {
    private let number = DefaultKey("number", default: 0)

    /// A key that a prefix covers is followed only once there is a slot for it.
    @Test func keysAreFollowedAsOftenAsThatEnds() throws {
        let backend = SpyBackend()
        let suite = DefaultsSuite(backend: backend)
        let (new, other) = (DefaultKey("a.new", default: 0), DefaultKey("a.other", default: 0))
        let all = suite.observeAll(prefix: "a.") { _ in }
        try suite.update { try $0.merge(["a.new": 1, "a.other": 1]) }
        let token = suite.observe(new) { _ in }
        #expect(backend.state.withLock { $0.followed } == ["a.new": 1])
        suite[other] = 2
        token.cancel()
        all.cancel()
        #expect(backend.state.withLock { $0.followed } == ["a.new": 0, "a.other": 0])
    }

    @Test func theWatchOfATrackedSuiteEndsWithTheSuite() {
        let backend = SpyBackend()
        do {
            let suite = DefaultsSuite(backend: backend)
            Guarded(0).track { _ = suite[number] }
            #expect(backend.state.withLock { $0.isWatched })
        }
        #expect(backend.state.withLock { !$0.isWatched && $0.followed == ["number": 0] })
    }

    private func record<Value: Equatable>(_ store: some DefaultStoreType<Value>) -> (
        received: Guarded<[Value?]>, token: ObservationToken
    ) {
        let received = Guarded<[Value?]>([])
        return (received, store.observe { change in received.withLock { $0.append(change.newValue) } })
    }

    @Test func aChangeThatCannotBeReadIsReceivedLater() {
        let backend = SpyBackend()
        let suite = DefaultsSuite(backend: backend).quiet
        let (received, token) = record(UserDefault(number, in: suite).store)
        backend.fail(with: DefaultsError(.unavailable, reason: "this call fails in a test"))
        backend.write(2, forKey: "number")
        suite.waitForHandlers()
        #expect(received.withLock { $0 } == [])
        backend.fail(with: nil)
        backend.write(3, forKey: "other")
        suite.waitForHandlers()
        #expect(received.withLock { $0 } == [2])
        token.cancel()
    }

    @Test func deallocatingATokenEndsTheObservation() {
        let store = InMemoryStore(CameraConfig())
        let (received, token) = record(store)
        withExtendedLifetime(token) { store.set(CameraConfig(size: .large)) }
        #expect(received.withLock { $0.count } == 1)
        var dropped: ObservationToken? = store.observe { _ in Issue.record("received after the end") }
        #expect(dropped != nil)
        dropped = nil
        store.set(CameraConfig(size: .small))
    }

    @Test func aCycleOfObserversEndsWithAnError() {
        let suite = DefaultsSuite.inMemory()
        let failures = Failures(of: suite)
        let (a, b) = (
            UserDefault(DefaultKey("a", default: 0), in: suite).store,
            UserDefault(DefaultKey("b", default: 0), in: suite).store
        )
        let first = a.observe { change in b.set((change.newValue ?? 0) + 1) }
        let second = b.observe { change in a.set((change.newValue ?? 0) + 1) }
        a.set(1)
        #expect(failures.kinds == [.nestedWrite])
        #expect(max(a.get() ?? 0, b.get() ?? 0) == 100)
        // The cycle is over, and writes work again.
        first.cancel()
        second.cancel()
        a.set(0)
        #expect(a.get() == 0)
    }

    @Test(.ownFile) func writesOfAnotherProcessAreReportedInOrder() throws {
        let file = URL(filePath: ownFile)
        let suite = try DefaultsSuite(file: file)
        // This suite shares nothing but the file.
        let other = DefaultsSuite(backend: FileBackend(path: file.path))
        let changes = Guarded<[DefaultChange<Int>]>([])
        let didChange = DispatchSemaphore(value: 0)
        let store = UserDefault(number, in: suite).store
        let token = store.observe { change in
            changes.withLock { $0.append(change) }
            didChange.signal()
        }
        for value in 1...20 {
            other[number] = value
            #expect(didChange.wait(timeout: .now() + 10) == .success)
        }
        // The writer detects this change before its own.
        other[number] = 21
        store.set(22)
        for _ in 21...22 { #expect(didChange.wait(timeout: .now() + 10) == .success) }
        let received = changes.withLock { $0 }
        #expect(received.map(\.newValue) == Array(1...22))
        #expect(received.map(\.oldValue) == [nil] + Array(1...21))
        #expect(received.map(\.origin) == Array(repeating: .external, count: 21) + [.local])
        token.cancel()
    }

    @Test func observersOnManyThreadsLoseNothing() throws {
        let suite = DefaultsSuite.inMemory()
        let store = UserDefault(number, in: suite).store
        let (received, token) = record(store)
        onThreads(8) { _ in
            for _ in 0..<500 {
                do {
                    try store.updateStored { $0 = ($0 ?? 0) + 1 }
                } catch {
                    Issue.record(error)
                }
                let inner = store.observe { _ in }
                inner.cancel()
            }
        }
        suite.waitForHandlers()
        #expect(received.withLock { $0 } == (1...4_000).map { $0 })
        token.cancel()
    }

    @Test @MainActor func theMainActorReceivesChangesInOrder() async {
        let store = UserDefault(number, in: .inMemory()).store
        var received: [Int?] = []
        let token = store.observeOnMainActor(initial: true) { change in received.append(change.newValue) }
        for value in 1...100 { store.set(value) }
        while received.count < 101 { await Task.yield() }
        #expect(received == [nil] + (1...100).map { $0 })
        store.set(101)
        token.cancel()
        for _ in 0..<100 { await Task.yield() }
        #expect(received.count == 101)
    }

    /// Also inside an update of another suite: an observer that writes to that suite would wait for
    /// itself.
    @Test func observersAreCalledAfterTheUpdate() throws {
        let (suite, other) = (DefaultsSuite.inMemory(), DefaultsSuite.inMemory())
        let failures = Failures(of: suite)
        let (store, observed) = (UserDefault(number, in: suite).store, UserDefault(number, in: other).store)
        let mirror = UserDefault(DefaultKey("mirror", default: 0), in: suite).store
        let token = observed.observe { change in mirror.set(change.newValue ?? 0) }
        try store.updateStored { value in
            value = 1
            observed.set(5)
        }
        #expect(mirror.get() == 5)
        #expect(failures.kinds == [])
        token.cancel()
    }

    @Test func failuresInsideAnUpdateAreReportedAfterIt() throws {
        let suite = DefaultsSuite.inMemory(["other": "no number"])
        let store = UserDefault(number, in: suite).store
        let other = UserDefault(DefaultKey("other", default: 0), in: suite).store
        let failures = Guarded<[DefaultsError]>([])
        suite.onFailure = { error in
            failures.withLock { $0.append(error) }
            suite[DefaultKey("failures", default: 0)] += 1
        }
        try store.updateStored { value in
            value = 1
            #expect(other.get() == nil)
            #expect(failures.withLock { $0 } == [])
        }
        #expect(failures.withLock { $0.map(\.kind) } == [.unreadable])
        #expect(suite[DefaultKey("failures", default: 0)] == 1)
    }

    /// For example, an observer that refreshes a token: each round is a separate change, so there
    /// is no limit.
    @Test(.timeLimit(.minutes(5))) func anObserverMayRefreshItsSettingFromATaskIndefinitely() async {
        let suite = DefaultsSuite.inMemory()
        let failures = Failures(of: suite)
        let store = UserDefault(number, in: suite).store
        let token = store.observe { change in
            guard let value = change.newValue, value < 300 else { return }
            Task { store.set(value + 1) }
        }
        let onMain = await MainActor.run {
            store.map(\.self, default: 0).observeOnMainActor { change in
                guard let value = change.newValue, value >= 300, value < 600 else { return }
                Task { store.set(value + 1) }
            }
        }
        store.set(1)
        for await value in store.values where value == 600 || !failures.all.isEmpty { break }
        #expect(failures.all == [])
        #expect(store.get() == 600)
        token.cancel()
        onMain.cancel()
    }

    @Test(.timeLimit(.minutes(5))) func cancelNeverWaitsAndPreventsFurtherCalls() {
        let suite = DefaultsSuite.inMemory()
        let store = UserDefault(number, in: suite).store
        let (began, mayEnd, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchGroup())
        let calls = Guarded(0)
        let token = store.observe { _ in
            calls.withLock { $0 += 1 }
            began.signal()
            mayEnd.wait()
        }
        ended.enter()
        Thread {
            store.set(1)
            ended.leave()
        }.start()
        began.wait()
        // This change waits for the handler. The cancellation does not wait.
        store.set(2)
        token.cancel()
        store.set(3)
        mayEnd.signal()
        ended.wait()
        #expect(calls.withLock { $0 } == 1)
    }

    @Test func changesOfASlowConsumerFormAChain() async {
        let store = UserDefault(number, in: .inMemory(["number": 1])).store
        // The sequence starts with the first change, not with the current value.
        var changes = store.changes.makeAsyncIterator()
        for value in 2...20 { store.set(value) }
        let first = await changes.next()
        #expect(first?.oldValue == 1)
        #expect(first?.newValue == 20)
        #expect(first?.kind == .set)
        store.remove()
        let second = await changes.next()
        #expect(second?.oldValue == 20)
        #expect(second?.kind == .removed)
    }

    @Test(arguments: Backend.allCases) func anUnreadableValueIsReportedOnceToReadersAndObservers(backend: Backend)
        throws
    {
        try backend.withSuite { suite in
            let date = PropertyList.date(Date(timeIntervalSinceReferenceDate: 1))
            suite[DefaultKey<PropertyList?>("number")] = date
            let failures = Failures(of: suite)
            let store = UserDefault(number, in: suite).store
            let tokens = [store.observe(initial: true) { _ in }, store.observe(initial: true) { _ in }]
            for _ in 0..<3 {
                #expect(store.get() == nil)
                #expect(suite[number] == 0)
                try suite.synchronize()
            }
            #expect(failures.kinds == [.unreadable])
            // The failure is reported again after the value was readable.
            suite[DefaultKey<PropertyList?>("number")] = 5
            #expect(store.get() == 5)
            suite[DefaultKey<PropertyList?>("number")] = date
            for _ in 0..<3 { #expect(store.get() == nil) }
            #expect(failures.kinds == [.unreadable, .unreadable])
            for token in tokens { token.cancel() }
        }
    }

    @Test func aCycleThroughTheMainActorEnds() async {
        let suite = DefaultsSuite.inMemory()
        let failures = Failures(of: suite)
        let store = UserDefault(number, in: suite).store
        let token = await MainActor.run {
            store.observeOnMainActor { change in store.set((change.newValue ?? 0) + 1) }
        }
        store.set(1)
        while failures.kinds.isEmpty { await Task.yield() }
        #expect(failures.kinds == [.nestedWrite])
        #expect(store.get() == 100)
        token.cancel()
    }

    /// An observer that registers while another thread finishes a write, and so cannot acquire the
    /// lock, must receive that write.
    @Test func theLastValueIsNotLostBetweenTwoWrites() {
        let spy = SpyBackend(hasGenerations: false)
        let backend = SlowBackend(spy)
        let suite = DefaultsSuite(backend: backend)
        let store = UserDefault(number, in: suite).store
        store.set(1)
        let received = Guarded<[Int?]>([])
        let (hasRead, mayContinue, observes) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let token = Guarded<ObservationToken?>(nil)
        spy.interrupt { call in
            guard call == .value else { return }
            spy.interrupt(nil)
            hasRead.signal()
            mayContinue.wait()
        }
        Thread.detachNewThread {
            let observation = store.observe(initial: true) { change in received.withLock { $0.append(change.newValue) }
            }
            token.withLock { $0 = observation }
            observes.signal()
        }
        hasRead.wait()
        backend.afterWrite.withLock {
            $0 = {
                mayContinue.signal()
                observes.wait()
            }
        }
        store.set(2)
        suite.waitForHandlers()
        #expect(received.withLock { $0.last } == 2)
    }

    private final class SlowBackend: BackendDecorator {
        let base: any DefaultsBackend
        /// Runs once, after the next write.
        let afterWrite = Guarded<(@Sendable () -> Void)?>(nil)
        init(_ base: any DefaultsBackend) { self.base = base }

        func write(_ body: () throws(DefaultsError) -> Void) throws(DefaultsError) {
            defer { afterWrite.withLock { $0.take() }?() }
            try base.write(body)
        }
    }

    // Sequences

    @Test(arguments: Backend.allCases) func valuesStartWithTheCurrentOneAndKeepTheLast(backend: Backend)
        async throws
    {
        let suite = try backend.makeSuite()
        let store = UserDefault(number, in: suite).store
        store.set(1)
        var iterator = store.values.makeAsyncIterator()
        #expect(await iterator.next() == 1)
        for value in 2...100 { store.set(value) }
        // The consumer is slower than the changes, so only the last one is guaranteed.
        var last: Int??
        while last != 100 { last = await iterator.next() }
        var changes = store.changes.makeAsyncIterator()
        store.remove()
        let change = await changes.next()
        #expect(change?.kind == .removed)
        #expect(change?.oldValue == 100)
        backend.clear(suite)
    }

    @Test func aLoopEndsWithItsTask() async {
        let store = UserDefault(number, in: .inMemory()).store
        let (began, wait) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            var count = 0
            for await _ in store.values {
                count += 1
                wait.yield()
            }
            return count
        }
        for await _ in began { break }
        task.cancel()
        #expect(await task.value == 1)
    }

    @Test func aChangeDuringAReadIsNotLost() {
        let backend = SpyBackend()
        let suite = DefaultsSuite(backend: backend)
        let number = DefaultKey<Int?>("number")
        let received = Heard { note in UserDefault(number, in: suite).store.observe { note($0.newValue ?? nil) } }
        backend.write(1, forKey: "number")
        backend.interrupt { call in
            guard call == .value else { return }
            backend.interrupt(nil)
            // The writer has read 1 but not reported it yet when another thread detects a further
            // change.
            backend.write(2, forKey: "number")
            onThreads(1) { _ in _ = suite[number] }
        }
        suite[DefaultKey("another", default: 0)] = 1
        suite.waitForHandlers()
        #expect(received.all == [1, 2])
    }
}
