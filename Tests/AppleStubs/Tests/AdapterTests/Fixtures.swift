import AppleFoundation
import Testing
import TypedDefaults

/// A value protected by a lock.
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

/// Runs `body` with a new domain, and removes the domain afterward.
func withDomain(_ body: (_ name: String, UserDefaults) throws -> Void) throws {
    let name = "AdapterTests-\(UUID().uuidString)"
    let defaults = try #require(UserDefaults(suiteName: name))
    defer { defaults.removePersistentDomain(forName: name) }
    try body(name, defaults)
}

/// Calls a closure for each key-value observation.
final class KeyValueObserver: NSObject {
    private let onChange: (String) -> Void
    init(_ onChange: @escaping (String) -> Void) { self.onChange = onChange }
    override func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {
        onChange(keyPath ?? "")
    }
}

/// Returns whether `body` throws a ``DefaultsError`` of the given kind.
func fails(with kind: DefaultsError.Kind, _ body: () throws -> Void) -> Bool {
    do {
        try body()
        return false
    } catch {
        return (error as? DefaultsError)?.kind == kind
    }
}

/// Runs `body` on `count` threads at once, and waits for all of them.
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
