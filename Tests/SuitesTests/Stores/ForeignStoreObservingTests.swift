import Dispatch
import TestSupport
import Testing
import TypedDefaults

/// Observing an `AnyStore` around a store that has only `get`, `set` and `remove`.
struct ForeignStoreObservingTests {
    /// Calls a hook in its next `get` or `set`.
    private final class HookedStore: DefaultStoreType {
        private let value = Guarded<Int?>(nil)
        let getHook = Guarded<(@Sendable () -> Void)?>(nil)
        let setHook = Guarded<(@Sendable () -> Void)?>(nil)

        func get() -> Int? {
            let present = value.withLock { $0 }
            run(getHook)
            return present
        }
        func set(_ new: Int) {
            run(setHook)
            value.withLock { $0 = new }
        }
        func remove() { value.withLock { $0 = nil } }

        private func run(_ hook: Guarded<(@Sendable () -> Void)?>) {
            let next = hook.withLock { hook in
                defer { hook = nil }
                return hook
            }
            next?()
        }
    }

    /// Forwards to a store of the library, and caches what its observer receives.
    private final class ForwardingStore: DefaultStoreType {
        let base: AnyStore<Int>
        private let cache = Guarded<Int?>(nil)
        private let token: ObservationToken

        init(_ suite: DefaultsSuite) {
            base = UserDefault(DefaultKey("number", default: 0), in: suite).store
            token = base.observe { [cache] change in cache.withLock { $0 = change.newValue } }
        }
        func get() -> Int? { cache.withLock { $0 } }
        func set(_ new: Int) { base.set(new) }
        func remove() { base.remove() }
    }

    /// If a write kept the lock of the writers, every other thread would wait two seconds for it.
    @Test(.timeLimit(.minutes(5))) func aWriteReleasesTheLock() {
        let (store, heard) = (AnyStore(HookedStore()), Guarded(0))
        let token = store.observe { _ in heard.withLock { $0 += 1 } }
        for number in 0..<400 { onThreads(1) { _ in store.set(number) } }
        #expect(heard.withLock { $0 } == 400)
        token.cancel()
    }

    @Test func aRemovalIsOfTheKindRemoved() {
        let box = AnyStore(ForeignStore<Int>())
        let kinds = Guarded<[ChangeKind]>([])
        let token = box.observe { change in kinds.withLock { $0.append(change.kind) } }
        box.set(1)
        box.set(2)
        box.remove()
        token.cancel()
        #expect(kinds.withLock { $0 } == [.set, .set, .removed])
    }

    /// Counts the observations that are cancelled.
    private final class ObservedStore: DefaultStoreType {
        let cancelled = Guarded(0)
        func get() -> Int? { nil }
        func set(_ value: Int) {}
        func remove() {}
        func observe(
            initial: Bool, _ handler: @escaping @Sendable (DefaultChange<Int>) -> Void
        ) -> ObservationToken {
            ObservationToken { [cancelled] in cancelled.withLock { $0 += 1 } }
        }
    }

    @Test func cancellingOnTheMainActorEndsTheObservationOfTheStore() {
        let store = ObservedStore()
        let token = store.observeOnMainActor { _ in }
        #expect(store.cancelled.withLock { $0 } == 0)
        token.cancel()
        #expect(store.cancelled.withLock { $0 } == 1)
        withExtendedLifetime(token) {}
    }

    #if os(macOS) || os(Linux)
        @Test func aCycleOfObserversIsLogged() async throws {
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                let box = AnyStore(ForeignStore<Int>())
                box.set(0)
                let token = box.observe { change in box.set((change.newValue ?? 0) + 1) }
                box.set(1)
                token.cancel()
            }
            let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
            // On Apple platforms, the log shows only the kind.
            let isLogged = ["observers of a store triggered each other", "nested write"].contains { text.contains($0) }
            #expect(isLogged, "\(text)")
        }
    #endif

    private let received = Guarded<[[Int?]]>([])

    private func note(_ change: DefaultChange<Int>) {
        received.withLock { $0.append([change.oldValue, change.newValue]) }
    }

    @Test func aWriteOfAnotherThreadDuringTheInitialReadIsReported() {
        let store = HookedStore()
        let box = AnyStore(store)
        box.set(1)
        let isWritten = DispatchSemaphore(value: 0)
        store.getHook.withLock { hook in
            hook = {
                DispatchQueue.global().async {
                    box.set(2)
                    isWritten.signal()
                }
                // The write may have to wait until the observation has begun.
                if isWritten.wait(timeout: .now() + .milliseconds(100)) == .success { isWritten.signal() }
            }
        }
        let token = box.observe(initial: true) { change in note(change) }
        isWritten.wait()
        received.wait { $0.last == [1, 2] }
        #expect(received.withLock { $0 } == [[nil, 1], [1, 2]])
        token.cancel()
    }

    @Test func aWriteInsideTheInitialReadIsReported() {
        let store = HookedStore()
        let box = AnyStore(store)
        box.set(1)
        store.getHook.withLock { $0 = { box.set(2) } }
        let token = box.observe(initial: true) { change in note(change) }
        #expect(received.withLock { $0 } == [[nil, 1], [1, 2]])
        token.cancel()
    }

    @Test func aWriteInProgressWhenAnObservationBeginsIsReported() {
        let store = HookedStore()
        let box = AnyStore(store)
        let (isWriting, isObserved, isDone) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        store.setHook.withLock { hook in
            hook = {
                isWriting.signal()
                // The observation may have to wait for this write.
                _ = isObserved.wait(timeout: .now() + .milliseconds(100))
            }
        }
        DispatchQueue.global().async {
            box.set(1)
            isDone.signal()
        }
        isWriting.wait()
        let token = box.observe(initial: true) { change in note(change) }
        isObserved.signal()
        isDone.wait()
        #expect(received.withLock { $0.last?.last } == 1)
        token.cancel()
    }

    @Test func anObservationThatBeginsInsideAnUpdateReceivesTheUpdate() throws {
        let box = AnyStore(HookedStore())
        box.set(0)
        let tokens = Guarded<[ObservationToken]>([])
        try box.updateStored { value in
            let token = box.observe(initial: true) { change in note(change) }
            tokens.withLock { $0.append(token) }
            value = 1
        }
        #expect(received.withLock { $0 } == [[nil, 0], [0, 1]])
        for token in tokens.withLock({ $0 }) { token.cancel() }
    }

    @Test func aBoxOfABoxSharesItsObservers() {
        let box = AnyStore(HookedStore())
        let token = AnyStore(box).observe { change in note(change) }
        box.set(1)
        AnyStore(AnyStore(box)).set(2)
        #expect(received.withLock { $0 } == [[nil, 1], [1, 2]])
        token.cancel()
    }

    @Test func anObservationThatBeginsInAHandlerReceivesNoEarlierWrites() {
        let box = AnyStore(HookedStore())
        let tokens = Guarded<[ObservationToken]>([])
        let token = box.observe { change in
            guard change.newValue == 1 else { return }
            box.set(2)
            let token = box.observe(initial: true) { change in note(change) }
            tokens.withLock { $0.append(token) }
        }
        box.set(1)
        #expect(received.withLock { $0 } == [[nil, 2]])
        box.set(3)
        #expect(received.withLock { $0 } == [[nil, 2], [2, 3]])
        token.cancel()
        for token in tokens.withLock({ $0 }) { token.cancel() }
    }

    @Test func aWriteOfAnObserverInsideTheStoreKeepsTheChangesInOrder() {
        let store = ForwardingStore(.inMemory())
        let box = AnyStore(store)
        let inner = store.base.observe { change in
            if change.newValue == 1 { box.set(2) }
        }
        let token = box.observe(initial: true) { change in note(change) }
        box.set(1)
        box.set(3)
        let changes = received.withLock { $0 }
        #expect(changes.first == [nil, nil])
        #expect(changes.last?.last == 3)
        for (change, next) in zip(changes, changes.dropFirst()) { #expect(change.last == next.first) }
        inner.cancel()
        token.cancel()
    }

    @Test func handlersRunAfterTheUpdateThatWritesTheBox() throws {
        let suite = DefaultsSuite.inMemory()
        let failures = Failures(of: suite)
        let number = DefaultKey("number", default: 0)
        let box = AnyStore(HookedStore())
        let token = box.observe { change in suite[number] += change.newValue ?? 0 }
        try UserDefault(number, in: suite).store.updateStored { value in
            box.set(5)
            value = 10
        }
        #expect(suite[number] == 15)
        #expect(failures.kinds == [])
        token.cancel()
    }

    /// Reports its changes itself.
    private final class ReportingStore: DefaultStoreType {
        let base = AnyStore<Int>.inMemory()
        let observations = Guarded(0)

        func get() -> Int? { base.get() }
        func set(_ new: Int) { base.set(new) }
        func remove() { base.remove() }
        func observe(
            initial: Bool, _ handler: @escaping @Sendable (DefaultChange<Int>) -> Void
        ) -> ObservationToken {
            observations.withLock { $0 += 1 }
            return base.observe(initial: initial, handler)
        }
    }

    @Test func aStoreThatReportsItsChangesIsObservedOnce() {
        let store = ReportingStore()
        let box = AnyStore(AnyStore(store))
        let token = box.observe { change in note(change) }
        #expect(store.observations.withLock { $0 } == 1)
        let tokens = (0..<3).map { _ in box.observe(initial: true) { _ in } }
        #expect(store.observations.withLock { $0 } == 4)
        box.set(1)
        store.set(2)
        #expect(received.withLock { $0 } == [[nil, 1], [1, 2]])
        for token in tokens + [token] { token.cancel() }
    }
}
