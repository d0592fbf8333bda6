import Foundation

/// Writes to standard error, and to ``shown``, what the unified log shows without a profile that
/// reveals private data.
///
/// https://developer.apple.com/documentation/os/logger
public struct Logger: Sendable {
    private let subsystem: String
    private let category: String

    public init(subsystem: String, category: String) {
        self.subsystem = subsystem
        self.category = category
    }

    public func error(_ message: OSLogMessage) { show("error", message) }
    public func warning(_ message: OSLogMessage) { show("warning", message) }

    private func show(_ level: String, _ message: OSLogMessage) {
        let line = "[\(subsystem):\(category)] \(level): \(message.text)"
        Self.lock.withLock { Self.lines.append(line) }
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }

    // Safe: accessed only while the lock is held.
    private nonisolated(unsafe) static var lines: [String] = []
    private static let lock = NSLock()
    public static var shown: [String] { lock.withLock { lines } }
}

/// The compiler processes the real type, which accepts string interpolations only.
public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
    let text: String
    public init(stringLiteral text: String) { self.text = text }
    public init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

    public struct Interpolation: StringInterpolationProtocol, Sendable {
        var text = ""
        public init(literalCapacity: Int, interpolationCount: Int) {}
        public mutating func appendLiteral(_ literal: String) { text += literal }

        // Strings and objects are redacted unless they are public; numbers are not:
        // https://developer.apple.com/documentation/os/generating-log-messages-from-your-code
        public mutating func appendInterpolation(
            _ value: @autoclosure () -> String, privacy: OSLogPrivacy = .auto
        ) {
            text += privacy == .public ? value() : "<private>"
        }
        public mutating func appendInterpolation(
            _ value: @autoclosure () -> Int, privacy: OSLogPrivacy = .auto
        ) {
            text += privacy == .private ? "<private>" : String(value())
        }
    }
}

// https://developer.apple.com/documentation/os/oslogprivacy
public enum OSLogPrivacy: Sendable { case auto, `public`, `private` }
