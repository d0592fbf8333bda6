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
#endif
