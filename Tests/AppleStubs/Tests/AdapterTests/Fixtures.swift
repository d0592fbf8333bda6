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
