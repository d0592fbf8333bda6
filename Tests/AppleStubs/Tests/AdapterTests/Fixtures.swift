import AppleFoundation
import TestSupport
import Testing

extension Guarded { var now: Value { withLock { $0 } } }

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

/// An observer that waits in its first call.
final class Gate: Sendable {
    private let (entered, opened) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    private let isFirst = Guarded(true)

    func pass() {
        let isFirst = isFirst.withLock { isFirst in
            defer { isFirst = false }
            return isFirst
        }
        guard isFirst else { return }
        entered.signal()
        opened.wait()
    }

    /// Calls `write` on a thread, calls `body` while the observer waits in it, and lets it end.
    func holding(_ write: @escaping @Sendable () -> Void, _ body: () throws -> Void) rethrows {
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            write()
            ended.signal()
        }
        entered.wait()
        defer {
            opened.signal()
            ended.wait()
        }
        try body()
    }
}
