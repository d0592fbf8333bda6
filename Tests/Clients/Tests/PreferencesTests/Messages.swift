import Synchronization
import TypedDefaults

/// The failures that a suite reports.
final class Messages: Sendable {
    private let messages = Mutex<[String]>([])

    init(of suite: DefaultsSuite) {
        suite.onFailure = { [weak self] error in self?.messages.withLock { $0.append("\(error)") } }
    }

    nonisolated var all: [String] { messages.withLock { $0 } }
}
