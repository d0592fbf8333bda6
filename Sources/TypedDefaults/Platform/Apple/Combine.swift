import SettingsFile

#if canImport(Combine)
    public import Combine

    extension UserDefault: Publisher {
        public typealias Output = Value
        public typealias Failure = Never

        /// Publishes the current value, then each change, until the subscription is canceled.
        ///
        /// ```swift
        /// $launchCount.sink { count in print(count) }.store(in: &subscriptions)
        /// numbers.assign(to: \.value, on: $launchCount).store(in: &subscriptions)
        /// ```
        ///
        /// Values arrive on the same threads as calls of observers: the thread of the writer, or a
        /// background thread. Before updating the user interface, use `receive(on:
        /// DispatchQueue.main)`. A subscriber that requests fewer values than there are misses
        /// some, but never the last one; `buffer(size:prefetch:whenFull:)` keeps all.
        public func receive(subscriber: some Subscriber<Value, Never>) {
            let defaultValue = key.defaultValue
            DefaultPublisher { output in
                observe(initial: true) { output($0.newValue ?? defaultValue) }
            }.receive(subscriber: subscriber)
        }
    }

    extension DefaultStoreType {
        /// Publishes the current value, then each change; `nil` if no value is stored, or if it
        /// cannot be read. Values arrive as from a ``UserDefault``.
        ///
        /// ```swift
        /// store.publisher.map(\.?.size).sink { size in print(size as Any) }.store(in: &subscriptions)
        /// ```
        public var publisher: AnyPublisher<Default?, Never> {
            AnyPublisher(DefaultPublisher { output in observe(initial: true) { output($0.newValue) } })
        }
    }

    /// Lets you store tokens together with Combine subscriptions: `token.store(in:
    /// &subscriptions)`.
    extension ObservationToken: Cancellable {}

    /// A publisher for an observation. Each subscriber first receives the current value.
    private struct DefaultPublisher<Output: Sendable>: Publisher {
        typealias Failure = Never
        let observe: @Sendable (_ output: @escaping @Sendable (Output) -> Void) -> ObservationToken

        func receive(subscriber: some Subscriber<Output, Never>) {
            let subscription = ObservingSubscription(AnySubscriber(subscriber))
            subscriber.receive(subscription: subscription)
            subscription.begin(observe)
        }
    }

    /// One observation for one subscriber, until it cancels. The observation retains the
    /// subscription.
    private final class ObservingSubscription<Output: Sendable>: Subscription, Sendable {
        private struct State: Sendable {
            // Safe: one thread at a time calls the subscriber, as Combine requires. Combine types
            // are not `Sendable`.
            var subscriber: Unchecked<AnySubscriber<Output, Never>>?
            var demand = Subscribers.Demand.none
            /// The latest value that has not been sent, because there was no demand or the
            /// subscriber was busy. Like a `CurrentValueSubject`, this keeps only the last one.
            var pending: Output?
            var isSending = false
            var token: ObservationToken?

            /// Returns the next output and its subscriber, or `nil` if nothing can be sent now.
            mutating func begin() -> (Output, AnySubscriber<Output, Never>)? {
                guard !isSending, demand > .none, let subscriber, let output = pending else { return nil }
                (isSending, pending) = (true, nil)
                demand -= 1
                return (output, subscriber.value)
            }
        }
        private let state: Locked<State>

        init(_ subscriber: AnySubscriber<Output, Never>) { state = Locked(State(subscriber: Unchecked(subscriber))) }

        func begin(_ observe: (_ output: @escaping @Sendable (Output) -> Void) -> ObservationToken) {
            let token = observe { [self] output in
                // Release the replaced output after unlocking, because the deinit of a value may
                // use the suite.
                let replaced = state.withLock { state in
                    defer { state.pending = output }
                    return state.pending
                }
                withExtendedLifetime(replaced) { send() }
            }
            let isOver = state.withLock { state in
                state.token = token
                return state.subscriber == nil
            }
            // The first output canceled the subscription before there was a token.
            if isOver { cancel() }
        }

        func request(_ demand: Subscribers.Demand) {
            state.withLock { $0.demand += demand }
            send()
        }

        /// Sends the pending output as far as there is demand. Holds no lock.
        private func send() {
            while let (output, subscriber) = state.withLock({ $0.begin() }) {
                let demand = subscriber.receive(output)
                state.withLock { state in
                    state.demand += demand
                    state.isSending = false
                }
            }
        }

        func cancel() {
            // Release everything after unlocking, because the deinit of a subscriber or a value may
            // run code of the program.
            let ended = state.withLock { state in
                defer { state = State() }
                return state
            }
            withExtendedLifetime(ended) { ended.token?.cancel() }
        }
    }
#endif
