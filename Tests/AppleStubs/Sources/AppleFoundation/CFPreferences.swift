// swift-format-ignore-file: AlwaysUseLowerCamelCase, because the names are Apple's.

// https://developer.apple.com/documentation/corefoundation/cfstring: the same objects as of
// `NSString`.
public typealias CFString = NSString

// https://developer.apple.com/documentation/corefoundation/kcfpreferencescurrentapplication,
// …/kcfpreferencescurrentuser, …/kcfpreferencesanyhost
// Safe: they never change.
public nonisolated(unsafe) let kCFPreferencesCurrentApplication = CFString(string: "kCFPreferencesCurrentApplication")
public nonisolated(unsafe) let kCFPreferencesCurrentUser = CFString(string: "kCFPreferencesCurrentUser")
public nonisolated(unsafe) let kCFPreferencesAnyHost = CFString(string: "kCFPreferencesAnyHost")

// https://developer.apple.com/documentation/corefoundation/cfpreferencescopyvalue(_:_:_:_:):
// "searches only the exact domain specified".
public func CFPreferencesCopyValue(
    _ key: CFString, _ application: CFString, _ user: CFString, _ host: CFString
) -> Any? {
    precondition(user === kCFPreferencesCurrentUser && host === kCFPreferencesAnyHost, "the stub has no other domain")
    return UserDefaults.storedValue(forKey: key as String, inDomain: application as String)
}

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
