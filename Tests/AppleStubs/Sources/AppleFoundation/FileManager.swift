extension FileManager {
    // Safe: accessed only while the lock is held.
    private nonisolated(unsafe) static var groups: Set<String> = []
    private static let lock = NSLock()

    /// Grants or revokes the entitlement for an app group. Call this before creating objects for
    /// the group.
    public static func entitle(toGroup group: String, _ isEntitled: Bool = true) {
        lock.withLock { if isEntitled { groups.insert(group) } else { groups.remove(group) } }
    }

    /// Returns whether the program shares a domain of that name with other programs. A group needs
    /// the entitlement.
    static func isEntitled(toGroup name: String) -> Bool {
        !name.hasPrefix("group.") || lock.withLock { groups.contains(name) }
    }

    // https://developer.apple.com/documentation/foundation/filemanager/containerurl(forsecurityapplicationgroupidentifier:):
    // on iOS, returns `nil` if the program lacks the entitlement for the group. A Mac always
    // returns a URL.
    public func containerURL(forSecurityApplicationGroupIdentifier group: String) -> URL? {
        guard group.hasPrefix("group."), Self.isEntitled(toGroup: group) else { return nil }
        return temporaryDirectory.appending(path: "AppleStubs-\(group)", directoryHint: .isDirectory)
    }
}
