// Names here shadow those of Foundation, which this module exports: code that imports it instead compiles verbatim.
@_exported public import Foundation

/// https://developer.apple.com/documentation/objectivec/nsobject-swift.class
open class NSObject: Foundation.NSObject {
    // https://developer.apple.com/documentation/objectivec/nsobject-swift.class/observevalue(forkeypath:of:change:context:)
    open func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {
        // The real one throws NSInternalInconsistencyException: "an -observeValueForKeyPath: message was received but not handled".
        fatalError("nobody has handled a change of \(keyPath ?? "nothing")")
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
    public static let new = NSKeyValueObservingOptions(rawValue: 1)
    public static let old = NSKeyValueObservingOptions(rawValue: 2)
}

/// https://developer.apple.com/documentation/foundation/bundle: a program of a bundle, which no Linux program is.
public final class Bundle: Sendable {
    public static let main = Bundle()
    // Touched with the lock held only.
    private nonisolated(unsafe) static var identifier: String? = "com.example.AppleStubs"
    private static let lock = NSLock()

    public var bundleIdentifier: String? { Self.lock.withLock { Self.identifier } }

    /// Makes the program one without a bundle, as a command-line tool is. To be called before anything else.
    public static func removeBundle() { lock.withLock { identifier = nil } }
}
