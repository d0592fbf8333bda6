import SettingsFile

#if canImport(Combine)
    import Combine

    /// A publisher for an observation. Each subscriber first receives the current value.
    struct DefaultPublisher<Output: Sendable>: Publisher {
        typealias Failure = Never
        let observe: @Sendable (_ output: @escaping @Sendable (Output) -> Void) -> ObservationToken

        func receive(subscriber: some Subscriber<Output, Never>) {
            subscriber.receive(subscription: ObservingSubscription(AnySubscriber(subscriber), observe))
        }
    }

    /// One observation for one subscriber, from its first demand until it cancels. The observation
    /// retains the subscription.
    private final class ObservingSubscription<Output: Sendable>: Subscription, Sendable {
        private struct State {
            var subscriber: AnySubscriber<Output, Never>?
            var demand = Subscribers.Demand.none
            /// The latest value that has not been sent, because there was no demand or the
            /// subscriber was busy. Like a `CurrentValueSubject`, this keeps only the last one.
            var pending: Output?
            var isSending = false
            var isObserving = false
            var token: ObservationToken?

            /// Returns the next output and its subscriber, or `nil` if nothing can be sent now.
            mutating func begin() -> (Output, AnySubscriber<Output, Never>)? {
                guard !isSending, demand > .none, let subscriber, let output = pending else { return nil }
                (isSending, pending) = (true, nil)
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
            // Safe: one thread at a time calls the subscriber, as Combine requires. Combine types
            // are not `Sendable`.
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
                // Release the replaced output after unlocking, because the deinit of a value may
                // use the suite.
                let replaced = self.state.withLock { state in
                    defer { state.pending = output }
                    return state.pending
                }
                withExtendedLifetime(replaced) { self.send() }
            }
            let isOver = state.withLock { state in
                state.token = token
                return state.subscriber == nil
            }
            // The first output canceled the subscription before there was a token.
            if isOver { cancel() }
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
            // Release the subscriber after unlocking, because its deinit may run code of the
            // program.
            let (ended, token) = state.withLock { state in
                defer { (state.subscriber, state.pending, state.token) = (nil, nil, nil) }
                return (state.subscriber, state.token)
            }
            withExtendedLifetime(ended) { token?.cancel() }
        }
    }
#endif
