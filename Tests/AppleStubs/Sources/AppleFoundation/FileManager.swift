extension FileManager {
    // Touched with the lock held only.
    private nonisolated(unsafe) static var groups: Set<String> = []
    private static let lock = NSLock()

    /// Gives the program the entitlement for an app group, or takes it away. To be called before objects on the group are made.
    public static func entitle(toGroup group: String, _ isEntitled: Bool = true) {
        lock.withLock { if isEntitled { groups.insert(group) } else { groups.remove(group) } }
    }

    /// Whether the program may use a domain of that name together with other programs: a group only with its entitlement.
    static func isEntitled(toGroup name: String) -> Bool {
        !name.hasPrefix("group.") || lock.withLock { groups.contains(name) }
    }

    // https://developer.apple.com/documentation/foundation/filemanager/containerurl(forsecurityapplicationgroupidentifier:): nil on
    // iOS where the program has no entitlement for the group. On a Mac there is always a URL.
    public func containerURL(forSecurityApplicationGroupIdentifier group: String) -> URL? {
        guard group.hasPrefix("group."), Self.isEntitled(toGroup: group) else { return nil }
        return temporaryDirectory.appending(path: "AppleStubs-\(group)", directoryHint: .isDirectory)
    }
}
