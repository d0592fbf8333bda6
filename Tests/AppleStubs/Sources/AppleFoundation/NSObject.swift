// The names shadow those of Foundation, which this module exports, so code compiles unchanged when
// it imports this module.
@_exported public import Foundation

/// https://developer.apple.com/documentation/objectivec/nsobject-swift.class
open class NSObject: Foundation.NSObject {
    // https://developer.apple.com/documentation/objectivec/nsobject-swift.class/observevalue(forkeypath:of:change:context:)
    open func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {
        // The real method throws NSInternalInconsistencyException: "an -observeValueForKeyPath:
        // message was received but not handled".
        fatalError("no observer handled the change of \(keyPath ?? "nothing")")
    }
}

/// https://developer.apple.com/documentation/foundation/nskeyvaluechangekey
public struct NSKeyValueChangeKey: Hashable, RawRepresentable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// https://developer.apple.com/documentation/foundation/nskeyvalueobservingoptions
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
}

/// https://developer.apple.com/documentation/foundation/bundle: the bundle of a program. Programs
/// on Linux have none.
public final class Bundle: Sendable {
    public static let main = Bundle()
    // Safe: accessed only while the lock is held.
    private nonisolated(unsafe) static var identifier: String? = "com.example.AppleStubs"
    private static let lock = NSLock()

    public var bundleIdentifier: String? { Self.lock.withLock { Self.identifier } }

    /// Turns the program into one without a bundle, such as a command-line tool. Call this before
    /// anything else.
    public static func removeBundle() { lock.withLock { identifier = nil } }
}
