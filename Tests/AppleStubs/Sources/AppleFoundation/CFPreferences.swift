// swift-format-ignore-file: AlwaysUseLowerCamelCase, because the names are Apple's.

// https://developer.apple.com/documentation/corefoundation/cfstring
public final class CFString: Sendable {
    fileprivate init() {}
}

// https://developer.apple.com/documentation/corefoundation/kcfpreferencescurrentapplication
public let kCFPreferencesCurrentApplication = CFString()

/// Saves the program's own domain:
/// https://developer.apple.com/documentation/corefoundation/cfpreferencesappsynchronize(_:)
@discardableResult public func CFPreferencesAppSynchronize(_ application: CFString) -> Bool {
    CFPreferencesStub.lock.withLock { CFPreferencesStub.count += 1 }
    return true
}

public enum CFPreferencesStub {
    fileprivate static let lock = NSLock()
    // Safe: accessed only while the lock is held.
    fileprivate nonisolated(unsafe) static var count = 0
    /// The number of times that the program's own domain was saved.
    public static var synchronizations: Int { lock.withLock { count } }
}
