// The part of the unified log that this package uses. Tests/AppleCheck compiles this file for Apple
// platforms.
import Foundation

/// Writes to standard error, and to ``shown``, what the unified log shows without a profile that
/// reveals private data.
///
/// https://developer.apple.com/documentation/os/logger
@available(macOS 11.0, iOS 14.0, watchOS 7.0, tvOS 14.0, *)
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
@available(macOS 11.0, iOS 14.0, watchOS 7.0, tvOS 14.0, *)
public struct OSLogMessage: ExpressibleByStringInterpolation {
    let text: String
    public init(stringLiteral text: String) { self.text = text }
    public init(stringInterpolation: OSLogInterpolation) { text = stringInterpolation.text }
}
@available(macOS 11.0, iOS 14.0, watchOS 7.0, tvOS 14.0, *)
public struct OSLogInterpolation: StringInterpolationProtocol {
    var text = ""
    public init(literalCapacity: Int, interpolationCount: Int) {}
    public mutating func appendLiteral(_ literal: String) { text += literal }

    // Strings and objects are redacted unless they are public; numbers are not:
    // https://developer.apple.com/documentation/os/generating-log-messages-from-your-code
    public mutating func appendInterpolation(
        _ value: @autoclosure @escaping () -> String, privacy: OSLogPrivacy = .auto
    ) {
        text += privacy == .public ? value() : "<private>"
    }
    public mutating func appendInterpolation(
        _ value: @autoclosure @escaping () -> Int, privacy: OSLogPrivacy = .auto
    ) {
        text += privacy == .private ? "<private>" : String(value())
    }
}

// https://developer.apple.com/documentation/os/oslogprivacy
@available(macOS 11.0, iOS 14.0, watchOS 7.0, tvOS 14.0, *)
public struct OSLogPrivacy: Equatable {
    private let name: String
    public static var auto: OSLogPrivacy { OSLogPrivacy(name: "auto") }
    public static var `public`: OSLogPrivacy { OSLogPrivacy(name: "public") }
    public static var `private`: OSLogPrivacy { OSLogPrivacy(name: "private") }
}
