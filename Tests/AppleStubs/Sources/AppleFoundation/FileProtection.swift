extension Data {
    /// As Foundation's, which takes the options for a file's class on Linux as well, and does nothing with them.
    ///
    /// https://developer.apple.com/documentation/foundation/nsdata/writingoptions/completefileprotectionuntilfirstuserauthentication
    public func write(to url: URL, options: WritingOptions = []) throws {
        try (self as NSData).write(to: url, options: options)
        guard options.contains(.completeFileProtectionUntilFirstUserAuthentication) else { return }
        FileProtectionType.completeUntilFirstUserAuthentication.set(ofItemAtPath: url.path)
    }
}

extension FileProtectionType {
    // As an attribute of the file, so that it goes where the file goes. Swift's module of the C library leaves these two out.
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
        // A file that another process has removed meanwhile needs no class; the system's would have had it from the start.
        let isSet = Self.setxattr(path, Self.attribute, rawValue, rawValue.utf8.count, 0) == 0 || errno == ENOENT
        precondition(
            isSet, "\(path): its file system keeps no attributes, so the stand-in cannot know classes of protection")
    }

    /// The class that a file was given; nil for that of its folder, which a file gets that was made in any other way:
    /// https://developer.apple.com/documentation/uikit/encrypting-your-app-s-files
    public static func ofItem(atPath path: String) -> FileProtectionType? {
        var value = [UInt8](repeating: 0, count: 100)
        let count = getxattr(path, attribute, &value, value.count)
        return count < 0 ? nil : FileProtectionType(rawValue: String(decoding: value.prefix(count), as: UTF8.self))
    }
}
