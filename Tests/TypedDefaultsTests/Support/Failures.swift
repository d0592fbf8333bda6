import Foundation
import TypedDefaults

/// Collects what a suite's failure handler hears.
final class Failures: Sendable {
    private let errors = Guarded<[DefaultsError]>([])

    init(of suite: DefaultsSuite) {
        suite.onFailure = { [errors] error in errors.withLock { $0.append(error) } }
    }

    var kinds: [DefaultsError.Kind] { all.map(\.kind) }
    var all: [DefaultsError] { errors.withLock { $0 } }
}

/// A value behind a lock.
final class Guarded<Value: Sendable>: @unchecked Sendable {
    private var value: Value
    private let lock = NSLock()
    init(_ value: Value) { self.value = value }
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}

extension Guarded {
    /// Returns when the value is so: on a file the thread of the watch may be the one that tells.
    /// After ten seconds all the same, and the expectation that follows says what is wrong.
    func wait(until isSo: (Value) -> Bool) {
        let end = ContinuousClock.now + .seconds(10)
        while !withLock({ isSo($0) }), ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.000_1) }
    }
}

/// Runs `body` on that many threads of its own at once, and returns when all have ended.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for index in 0..<count {
        group.enter()
        Thread {
            body(index)
            group.leave()
        }.start()
    }
    group.wait()
}

/// Whether `body` throws a ``DefaultsError`` of that kind.
func fails(with kind: DefaultsError.Kind, _ body: () throws -> Void) -> Bool {
    do {
        try body()
        return false
    } catch {
        return (error as? DefaultsError)?.kind == kind
    }
}
