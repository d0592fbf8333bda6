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

    init(_ observe: @escaping @Sendable (_ element: @escaping @Sendable (Element) -> Void) -> ObservationToken) {
        self.observe = observe
    }

    /// One pass over the values.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var base: AsyncStream<Element>.Iterator
        /// Ends with the iterator.
        fileprivate let token: ObservationToken

        /// The next value, as soon as there is one; nil once the task is cancelled.
        public mutating func next() async -> Element? { await base.next() }
    }

    public func makeAsyncIterator() -> AsyncIterator {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(1))
        let token = observe { element in continuation.yield(element) }
        return AsyncIterator(base: stream.makeAsyncIterator(), token: token)
    }
}

extension DefaultStoreType {
    /// The values of the store from now on, the present one first; nil where nothing is stored, or nothing that can be read.
    public var values: DefaultValues<Default?> {
        DefaultValues { element in observe(.initial) { element($0.newValue) } }
    }

    /// The changes of the store from now on; the first one holds the present value.
    public var changes: DefaultValues<DefaultChange<Default>> {
        DefaultValues { element in observe(.initial, element) }
    }
}
