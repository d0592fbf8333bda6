import AppleFoundation
import Testing
import TypedDefaults

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
    var now: Value { withLock { $0 } }
}

/// A domain of its own, emptied when `body` returns.
func withDomain(_ body: (_ name: String, UserDefaults) throws -> Void) throws {
    let name = "AdapterTests-\(UUID().uuidString)"
    let defaults = try #require(UserDefaults(suiteName: name))
    defer { defaults.removePersistentDomain(forName: name) }
    try body(name, defaults)
}

/// Hands each call of key-value observing on.
final class Ear: NSObject {
    private let heard: (String) -> Void
    init(_ heard: @escaping (String) -> Void) { self.heard = heard }
    override func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {
        heard(keyPath ?? "")
    }
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

/// Runs `body` on that many threads at once, and returns when all have ended.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for index in 0..<count {
        group.enter()
        Thread.detachNewThread {
            body(index)
            group.leave()
        }
    }
    group.wait()
}
