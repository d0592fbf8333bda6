import SettingsFile

#if canImport(Combine)
    import Combine

    /// What an observation tells, as a publisher: the present value to each subscriber first.
    struct DefaultPublisher<Output: Sendable>: Publisher {
        typealias Failure = Never
        let observe: @Sendable (_ output: @escaping @Sendable (Output) -> Void) -> ObservationToken

        func receive(subscriber: some Subscriber<Output, Never>) {
            subscriber.receive(subscription: ObservingSubscription(AnySubscriber(subscriber), observe))
        }
    }

    /// One observation for one subscriber, from its first demand until it cancels. The observation keeps it, as long as that lasts.
    private final class ObservingSubscription<Output: Sendable>: Subscription, Sendable {
        private struct State {
            var subscriber: AnySubscriber<Output, Never>?
            var demand = Subscribers.Demand.none
            /// What came while nothing was asked for, or while the subscriber was busy: the last only, as of a `CurrentValueSubject`.
            var waiting: Output?
            var isSending = false
            var isObserving = false
            var token: ObservationToken?

            /// The next output, and whom it is for.
            mutating func begin() -> (Output, AnySubscriber<Output, Never>)? {
                guard !isSending, demand > .none, let subscriber, let output = waiting else { return nil }
                (isSending, waiting) = (true, nil)
                demand -= 1
                return (output, subscriber)
            }
        }
        private let state: Locked<State>
        private let observe: @Sendable (_ output: @escaping @Sendable (Output) -> Void) -> ObservationToken

        init(
            _ subscriber: AnySubscriber<Output, Never>,
            _ observe: @escaping @Sendable (_ output: @escaping @Sendable (Output) -> Void) -> ObservationToken
        ) {
            // Safe: called by one thread at a time, which is all that Combine asks for; it knows no `Sendable`.
            nonisolated(unsafe) let initial = State(subscriber: subscriber)
            state = Locked(initial)
            self.observe = observe
        }

        func request(_ demand: Subscribers.Demand) {
            let isFirst = state.withLock { state in
                state.demand += demand
                guard demand > .none, !state.isObserving, state.subscriber != nil else { return false }
                state.isObserving = true
                return true
            }
            if isFirst { begin() } else { send() }
        }

        private func begin() {
            let token = observe { output in
                // Release the replaced output after unlocking: the deinit of a value may use the suite.
                let replaced = self.state.withLock { state in
                    defer { state.waiting = output }
                    return state.waiting
                }
                withExtendedLifetime(replaced) { self.send() }
            }
            let isOver = state.withLock { state in
                state.token = token
                return state.subscriber == nil
            }
            // Cancelled by the first output, before there was a token.
            if isOver { cancel() }
        }

        /// Sends what waits, as far as it is asked for, under no lock.
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
            // The subscriber goes after the lock: its end may run code of others.
            let (ended, token) = state.withLock { state in
                defer { (state.subscriber, state.waiting, state.token) = (nil, nil, nil) }
                return (state.subscriber, state.token)
            }
            withExtendedLifetime(ended) { token?.cancel() }
        }
    }
#endif
