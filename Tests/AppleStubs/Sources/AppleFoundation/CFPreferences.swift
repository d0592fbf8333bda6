// The names are those of the real things.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// https://developer.apple.com/documentation/corefoundation/cfstring
public final class CFString: Sendable {
    fileprivate init() {}
}

// https://developer.apple.com/documentation/corefoundation/kcfpreferencescurrentapplication
public let kCFPreferencesCurrentApplication = CFString()

/// Returns when the program's own domain is saved: https://developer.apple.com/documentation/corefoundation/cfpreferencesappsynchronize(_:)
@discardableResult public func CFPreferencesAppSynchronize(_ application: CFString) -> Bool {
    CFPreferencesStub.lock.withLock { CFPreferencesStub.count += 1 }
    return true
}

public enum CFPreferencesStub {
    fileprivate static let lock = NSLock()
    // Touched with the lock held only.
    fileprivate nonisolated(unsafe) static var count = 0
    /// How often the program's own domain was saved.
    public static var synchronizations: Int { lock.withLock { count } }
}
