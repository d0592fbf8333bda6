// The part of the unified log that this package uses. Tests/AppleCheck compiles this file for Apple
// platforms.
import Foundation

/// Writes to standard error what the unified log shows without a profile that reveals private data.
///
/// https://developer.apple.com/documentation/os/logger
public struct Logger: Sendable {
    private let subsystem: String
    private let category: String

    public init(subsystem: String, category: String) {
        self.subsystem = subsystem
        self.category = category
    }

    public func error(_ message: OSLogMessage) {
        FileHandle.standardError.write(Data("[\(subsystem):\(category)] error: \(message.text)\n".utf8))
    }
}

/// The compiler processes the real type, which accepts string interpolations only.
public struct OSLogMessage: ExpressibleByStringInterpolation {
    let text: String
    public init(stringLiteral text: String) { self.text = text }
    public init(stringInterpolation: OSLogInterpolation) { text = stringInterpolation.text }
}
public struct OSLogInterpolation: StringInterpolationProtocol {
    var text = ""
    public init(literalCapacity: Int, interpolationCount: Int) {}
    public mutating func appendLiteral(_ literal: String) { text += literal }

    // Strings and objects are redacted unless they are public:
    // https://developer.apple.com/documentation/os/generating-log-messages-from-your-code
    public mutating func appendInterpolation(
        _ value: @autoclosure @escaping () -> String, privacy: OSLogPrivacy = .auto
    ) {
        text += privacy == .public ? value() : "<private>"
    }
}

// https://developer.apple.com/documentation/os/oslogprivacy
public struct OSLogPrivacy: Equatable {
    private let name: String
    public static var auto: OSLogPrivacy { OSLogPrivacy(name: "auto") }
    public static var `public`: OSLogPrivacy { OSLogPrivacy(name: "public") }
    public static var `private`: OSLogPrivacy { OSLogPrivacy(name: "private") }
}
