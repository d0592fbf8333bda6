import SettingsFile

/// The values of a store, beginning with the present one, or the changes of a store or a suite.
///
/// ```swift
/// for await config in store.values { show(config) }
/// ```
///
/// A slow consumer misses some elements, but never the last. The loop ends with its task. Nothing
/// is observed before the loop begins or after it has ended. Each of several loops over one
/// sequence receives everything.
public struct DefaultUpdates<Element: Sendable>: AsyncSequence, Sendable {
    private let observe: @Sendable (_ element: @escaping @Sendable (Element) -> Void) -> ObservationToken
    /// Combines two elements if the consumer has not taken the first one.
    private let merge: @Sendable (Element, Element) -> Element

    init(
        _ observe: @escaping @Sendable (_ element: @escaping @Sendable (Element) -> Void) -> ObservationToken,
        merge: @escaping @Sendable (Element, Element) -> Element = { $1 }
    ) {
        self.merge = merge
        self.observe = observe
    }

    /// One pass over the values.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let waiting: Locked<Element?>
        fileprivate var news: AsyncStream<Void>.Iterator
        /// Ends with the iterator.
        fileprivate let token: ObservationToken

        /// The next value, as soon as there is one; nil once the task is cancelled.
        public mutating func next() async -> Element? {
            while await news.next() != nil {
                if let element = waiting.withLock({ $0.take() }) { return element }
            }
            return nil
        }
    }

    /// Begins an observation, which ends with the iterator.
    public func makeAsyncIterator() -> AsyncIterator {
        let (news, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let waiting = Locked<Element?>(nil)
        let token = observe { [merge] element in
            var element = element
            // Merge and release elements outside the lock: the deinit of a value may use the suite.
            while let earlier = waiting.withLock({ waiting -> Element? in
                guard waiting == nil else { return waiting.take() }
                waiting = element
                return nil
            }) {
                element = merge(earlier, element)
            }
            continuation.yield()
        }
        return AsyncIterator(waiting: waiting, news: news.makeAsyncIterator(), token: token)
    }
}
