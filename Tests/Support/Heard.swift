import Observation
package import TypedDefaults

/// Collects what an observer hears, until it is cancelled or released.
package final class Heard<Element: Sendable>: Sendable {
    private let elements = Guarded<[Element]>([])
    private let token: ObservationToken

    /// - Parameter observe: Begins the observation, whose handler notes what it hears.
    package init(_ observe: (_ note: @escaping @Sendable (Element) -> Void) -> ObservationToken) {
        token = observe { [elements] element in elements.withLock { $0.append(element) } }
    }

    package var all: [Element] { elements.withLock { $0 } }
    package func wait(until isSo: ([Element]) -> Bool) { elements.wait(until: isSo) }
    package func cancel() { token.cancel() }
}

extension Guarded<Int> {
    /// Adds one at the first change of what is read.
    package func track(_ read: () -> Void) { withObservationTracking(read) { self.withLock { $0 += 1 } } }
}
