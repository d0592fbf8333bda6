#if canImport(Combine)
    public import Combine

    extension UserDefault: Publisher {
        public typealias Output = Value
        public typealias Failure = Never

        /// The value, then each change, until the subscription is cancelled.
        ///
        /// ```swift
        /// $launchCount.sink { count in print(count) }.store(in: &subscriptions)
        /// numbers.assign(to: \.value, on: $launchCount).store(in: &subscriptions)
        /// ```
        ///
        /// Outputs come as observers are called: on the thread of a writer, or on one that looks for news. In front of what draws, put
        /// `receive(on: DispatchQueue.main)`. A subscriber that asks for less than there is misses some values, never the last;
        /// `buffer(size:prefetch:whenFull:)` keeps them.
        public func receive(subscriber: some Subscriber<Value, Never>) {
            let defaultValue = key.defaultValue
            DefaultPublisher { output in
                observe(initial: true) { output($0.newValue ?? defaultValue) }
            }.receive(subscriber: subscriber)
        }
    }

    extension DefaultStoreType {
        /// The value, then each change; nil where nothing is stored, or nothing that can be read. It comes as from a ``UserDefault``.
        ///
        /// ```swift
        /// store.publisher.map(\.?.size).sink { size in print(size as Any) }.store(in: &subscriptions)
        /// ```
        public var publisher: AnyPublisher<Default?, Never> {
            AnyPublisher(DefaultPublisher { output in observe(initial: true) { output($0.newValue) } })
        }
    }

    /// So that tokens fit in one set with the subscriptions: `token.store(in: &subscriptions)`.
    extension ObservationToken: Cancellable {}
#endif
