package import Foundation
package import TypedDefaults

/// Collects the failures that a suite's failure handler receives.
package final class Failures: Sendable {
    private let errors = Guarded<[DefaultsError]>([])

    package init(of suite: DefaultsSuite) {
        suite.onFailure = { [errors] error in errors.withLock { $0.append(error) } }
    }

    package var kinds: [DefaultsError.Kind] { all.map(\.kind) }
    package var all: [DefaultsError] { errors.withLock { $0 } }
}

/// A value behind a lock.
package final class Guarded<Value: Sendable>: @unchecked Sendable {
    private var value: Value
    private let lock = NSCondition()
    package init(_ value: Value) { self.value = value }
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer {
            lock.broadcast()
            lock.unlock()
        }
        return try body(&value)
    }
}

extension Guarded {
    /// Returns when the value is as expected: on a file, the watch thread may be the one that
    /// notifies. Returns after a minute in any case, so that the following expectation fails.
    package func wait(until isSo: (Value) -> Bool) {
        lock.lock()
        defer { lock.unlock() }
        let end = Date(timeIntervalSinceNow: 60)
        while !isSo(value), lock.wait(until: end) {}
    }
}

/// Runs `body` on a new thread, whose end the group waits for.
package func onThread(_ body: @escaping @Sendable () -> Void) -> DispatchGroup {
    let group = DispatchGroup()
    group.enter()
    Thread.detachNewThread {
        body()
        group.leave()
    }
    return group
}

/// Runs `body` on several new threads at once, and returns when all have ended.
package func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    for thread in (0..<count).map({ index in onThread { body(index) } }) { thread.wait() }
}

/// Returns whether `body` throws a ``DefaultsError`` of a kind.
package func fails(with kind: DefaultsError.Kind, _ body: () throws -> Void) -> Bool {
    do {
        try body()
        return false
    } catch {
        return (error as? DefaultsError)?.kind == kind
    }
}
