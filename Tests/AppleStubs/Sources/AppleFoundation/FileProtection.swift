extension Data {
    /// Implements the options for a file's class, which Foundation accepts on Linux but ignores.
    ///
    /// https://developer.apple.com/documentation/foundation/nsdata/writingoptions/completefileprotectionuntilfirstuserauthentication
    public func write(to url: URL, options: WritingOptions = []) throws {
        try (self as NSData).write(to: url, options: options)
        guard options.contains(.completeFileProtectionUntilFirstUserAuthentication) else { return }
        FileProtectionType.completeUntilFirstUserAuthentication.set(ofItemAtPath: url.path)
    }
}

extension FileProtectionType {
    // Stores the class as an extended attribute, so that it moves with the file. Swift's C library
    // module lacks these two functions.
    private typealias Getxattr =
        @convention(c) (
            UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer, Int
        ) -> Int
    private typealias Setxattr =
        @convention(c) (
            UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer, Int, Int32
        ) -> Int32
    private static let getxattr = unsafeBitCast(dlsym(nil, "getxattr"), to: Getxattr.self)
    private static let setxattr = unsafeBitCast(dlsym(nil, "setxattr"), to: Setxattr.self)
    private static let attribute = "user.protection"

    fileprivate func set(ofItemAtPath path: String) {
        // An unusual `umask` may have withheld the right to set attributes, and another process may
        // have removed the file. The real system would have created it with its class.
        var status = stat()
        if stat(path, &status) == 0 { chmod(path, 0o600) }
        defer { if status.st_mode != 0 { chmod(path, status.st_mode & 0o777) } }
        let isSet = Self.setxattr(path, Self.attribute, rawValue, rawValue.utf8.count, 0) == 0 || errno == ENOENT
        precondition(
            isSet, "\(path): its file system keeps no attributes, so the stand-in cannot know classes of protection")
    }

    /// Returns the class that the file was given, or `nil` for the class of its folder, which is
    /// the default: https://developer.apple.com/documentation/uikit/encrypting-your-app-s-files
    public static func ofItem(atPath path: String) -> FileProtectionType? {
        var value = [UInt8](repeating: 0, count: 100)
        let count = getxattr(path, attribute, &value, value.count)
        return count < 0 ? nil : FileProtectionType(rawValue: String(decoding: value.prefix(count), as: UTF8.self))
    }
}
