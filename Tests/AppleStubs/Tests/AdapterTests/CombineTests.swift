import AppleFoundation
import Combine
import Observation
import TestSupport
import Testing
import TypedDefaultsTesting

@testable import TypedDefaults

struct CombineTests {
    /// Requests a given number of values, and records them.
    private final class Reader: Subscriber {
        private(set) var inputs: [Int] = []
        var subscription: (any Subscription)?
        var whileReceiving: (Int) -> Void = { _ in }
        func receive(subscription: any Subscription) { self.subscription = subscription }
        func receive(_ input: Int) -> Subscribers.Demand {
            inputs.append(input)
            whileReceiving(input)
            return .none
        }
        func receive(completion: Subscribers.Completion<Never>) {}
    }

    private struct Holder {
        @UserDefault var number: Int
        init(_ suite: DefaultsSuite) { _number = UserDefault("number", default: 10, in: suite) }
    }

    @Test func combineOperatorsWorkOnASetting() {
        let suite = DefaultsSuite.inMemory()
        let (first, second) = (Holder(suite), Holder(suite))
        var numbers: [Int] = []
        var subscriptions: Set<AnyCancellable> = []
        first.$number.sink { numbers.append($0) }.store(in: &subscriptions)
        #expect(numbers == [10])
        first.number = 20
        second.number = 30
        #expect(numbers == [10, 20, 30])
        [40, 50, 60].publisher.assign(to: \.value, on: first.$number).store(in: &subscriptions)
        #expect(numbers == [10, 20, 30, 40, 50, 60])
        let input = PassthroughSubject<Int, Never>()
        let output: AnyPublisher<Int, Never> = second.$number.eraseToAnyPublisher()
        var last: Int?
        output.sink { last = $0 }.store(in: &subscriptions)
        #expect(last == 60)
        input.assign(to: \.value, on: first.$number).store(in: &subscriptions)
        input.send(70)
        #expect(last == 70)
        #expect(numbers.last == 70)
        #expect(second.number == 70)
    }

    @Test func aResetPublishesTheDefault() {
        let setting = UserDefault("number", default: 10, in: .inMemory(["number": 1]))
        var numbers: [Int] = []
        let subscription = setting.sink { numbers.append($0) }
        setting.reset()
        #expect(numbers == [1, 10])
        subscription.cancel()
    }

    @Test func aStorePublishesNilIfNoValueIsStored() {
        let store = AnyStore(InMemoryStore<Int>())
        var values: [Int?] = []
        let subscription = store.publisher.sink { values.append($0) }
        store.set(1)
        store.set(1)
        store.remove()
        #expect(values == [nil, 1, nil])
        subscription.cancel()
    }

    // Demand

    @Test func aSubscriberReceivesOnlyWhatItRequestsAndTheLastValue() {
        let setting = UserDefault("number", default: 0, in: .inMemory())
        let reader = Reader()
        setting.subscribe(reader)
        #expect(reader.inputs == [])
        setting.value = 1
        reader.subscription?.request(.max(1))
        #expect(reader.inputs == [1])
        setting.value = 2
        setting.value = 3
        #expect(reader.inputs == [1])
        reader.subscription?.request(.max(2))
        #expect(reader.inputs == [1, 3])
        setting.value = 4
        setting.value = 5
        #expect(reader.inputs == [1, 3, 4])
        reader.subscription?.cancel()
    }

    @Test func aSubscriberThatWritesReceivesTheChangeAfterward() {
        let setting = UserDefault("number", default: 0, in: .inMemory())
        let reader = Reader()
        setting.subscribe(reader)
        reader.subscription?.request(.max(1))
        setting.value = 1
        // The request inside `receive` sends the pending value.
        var depth = 0
        reader.whileReceiving = { [unowned reader] number in
            depth += 1
            #expect(depth == 1)
            if number < 3 { setting.value = number + 1 }
            #expect(reader.inputs.last == number)
            depth -= 1
        }
        reader.subscription?.request(.max(4))
        #expect(reader.inputs == [0, 1, 2, 3])
        reader.subscription?.cancel()
    }

    @Test func changesOfSeveralWritersAreAllPublished() {
        let suite = DefaultsSuite.inMemory()
        let setting = UserDefault("number", default: 0, in: suite)
        let numbers = Guarded<[Int]>([])
        let subscription = setting.sink { number in numbers.withLock { $0.append(number) } }
        let failures = Guarded(0)
        onThreads(4) { _ in
            for _ in 0..<500 {
                do { try setting.update { $0 += 1 } } catch { failures.withLock { $0 += 1 } }
            }
        }
        #expect(failures.now == 0)
        suite.waitForHandlers()
        #expect(numbers.now == Array(0...2_000))
        subscription.cancel()
    }

    // End of subscriptions

    @Test func cancelingEndsTheObservationAndReleasesTheSubscriber() {
        let setting = UserDefault("number", default: 0, in: .inMemory())
        weak var weakReader: Reader?
        do {
            let reader = Reader()
            weakReader = reader
            setting.subscribe(reader)
            reader.subscription?.request(.unlimited)
            setting.value = 1
            reader.subscription?.cancel()
            setting.value = 2
            reader.subscription?.request(.unlimited)
            #expect(reader.inputs == [0, 1])
            reader.subscription = nil
        }
        #expect(weakReader == nil)
    }

    @Test func aSubscriptionCanBeCanceledDuringItsFirstOutput() {
        weak var weakBackend: MemoryBackend?
        let reader = Reader()
        do {
            let backend = MemoryBackend()
            weakBackend = backend
            let setting = UserDefault("number", default: 0, in: DefaultsSuite(backend: backend))
            setting.subscribe(reader)
            reader.whileReceiving = { [unowned reader] _ in
                reader.subscription?.cancel()
                reader.subscription = nil
            }
            reader.subscription?.request(.unlimited)
            setting.value = 1
        }
        #expect(reader.inputs == [0])
        // An observation would retain it.
        #expect(weakBackend == nil)
    }

    @Test func aTokenIsStoredWithSubscriptions() {
        let setting = UserDefault("number", default: 0, in: .inMemory())
        let count = Guarded(0)
        var subscriptions: Set<AnyCancellable> = []
        setting.observe { _ in count.withLock { $0 += 1 } }.store(in: &subscriptions)
        setting.value = 1
        subscriptions = []
        setting.value = 2
        #expect(count.now == 1)
    }

    // Writes by other code

    /// Observes with the wrapper, the store, both publishers and the Observation framework, and
    /// expects each to be called once.
    private func expectOneChangeToFive(on defaults: UserDefaults, _ write: (UserDefaults) -> Void) {
        let suite = DefaultsSuite(userDefaults: defaults)
        let holder = Holder(suite)
        let store = AnyStore(UserDefault(DefaultKey("number", default: 10), in: suite).store)
        let received = Guarded<[String]>([])
        func note(_ name: String) -> @Sendable (Int) -> Void {
            { number in received.withLock { $0.append("\(name) \(number)") } }
        }
        let (wrapper, observer, publisher, storePublisher) =
            (note("wrapper"), note("store"), note("publisher"), note("store's publisher"))
        var subscriptions: Set<AnyCancellable> = []
        holder.$number.observe { wrapper($0.newValue ?? -1) }.store(in: &subscriptions)
        store.observe { observer($0.newValue ?? -1) }.store(in: &subscriptions)
        holder.$number.dropFirst().sink { publisher($0) }.store(in: &subscriptions)
        store.publisher.dropFirst().sink { storePublisher($0 ?? -1) }.store(in: &subscriptions)
        withObservationTracking {
            #expect(holder.number == 10)
        } onChange: {
            received.withLock { $0.append("Observation") }
        }
        write(defaults)
        suite.waitForHandlers()
        #expect(received.now.sorted() == ["Observation", "publisher 5", "store 5", "store's publisher 5", "wrapper 5"])
        #expect(holder.number == 5)
    }

    @Test func allObserversReceiveADuplicateOrForeignNotificationOnce() throws {
        try withDomain { _, defaults in
            defaults.notifiesTwice = true
            expectOneChangeToFive(on: defaults) { $0.set(5, forKey: "number") }
        }
        try withDomain { _, defaults in
            expectOneChangeToFive(on: defaults) { $0.setFromAnotherProcess(5, forKey: "number") }
        }
    }
}
