import SettingsFile

/// The values of a store, or its changes, one after the other: the present one first.
///
/// ```swift
/// for await config in store.values { show(config) }
/// ```
///
/// A consumer that is slower than the changes misses some of them, never the last. The loop ends with its task; nothing is observed
/// before it begins or after it has ended. Several loops over one sequence each get everything.
public struct DefaultValues<Element: Sendable>: AsyncSequence, Sendable {
    private let observe: @Sendable (_ element: @escaping @Sendable (Element) -> Void) -> ObservationToken
    /// What becomes of two elements that nobody has taken in between.
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

extension DefaultStoreType {
    /// The values of the store from now on, the present one first; nil where nothing is stored, or nothing that can be read.
    public var values: DefaultValues<Default?> {
        DefaultValues { element in observe(.initial) { element($0.newValue) } }
    }

    /// The changes of the store from now on; the first one holds the present value.
    ///
    /// A consumer that is slower than the changes gets several as one, from the old value of the first to the new value of the last: each
    /// change begins with the value that the one before ended with.
    public var changes: DefaultValues<DefaultChange<Default>> {
        DefaultValues({ element in observe(.initial, element) }, merge: { $0.merged(with: $1) })
    }
}
